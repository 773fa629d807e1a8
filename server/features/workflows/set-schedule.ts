import { triggerKind } from "#server/features/workflows/checks.ts";
import { assertSchedule, withSchedule } from "#server/features/workflows/schedule.ts";
import type { SetScheduleInput, Workflow } from "#server/features/workflows/schema.ts";
import { updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { invalidField } from "#server/platform/errors.ts";

/**
 * Switches a workflow's schedule on or off and may change its times: writes into the trigger node and saves, so the
 * version counts up. A draft keeps everything else that it holds.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when the trigger is of another kind, or for times that cannot be kept
 */
export function setSchedule(
  principal: ProjectPrincipal,
  { workflow_id, enabled, cron_expression, timezone, default_input }: SetScheduleInput,
): Promise<Workflow> {
  const change = { enabled, cron_expression, timezone, default_input };
  return updateWorkflow(principal, { workflow_id }, (graph, which) => {
    if (which === "draft") return withSchedule(graph, change);
    if (triggerKind(graph) !== "schedule")
      throw invalidField(
        "workflow_id",
        "has a trigger of another kind",
        "This workflow's trigger is no schedule. Choose Schedule in its trigger node and save first.",
      );
    const changed = withSchedule(graph, change);
    assertSchedule(changed);
    return changed;
  });
}
