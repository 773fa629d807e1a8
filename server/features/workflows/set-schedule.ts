import { triggerKind } from "#server/features/workflows/checks.ts";
import { scheduleOf } from "#server/features/workflows/schedule.ts";
import type { SetScheduleInput, Workflow } from "#server/features/workflows/schema.ts";
import { updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { invalidField } from "#server/platform/errors.ts";
import { CronError, checkCron } from "#server/workflow/cron.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** The graph with other values in its schedule trigger, or as it is when that is of another kind. */
function withSchedule(graph: Graph, { enabled, cron_expression, timezone, default_input }: SetScheduleInput): Graph {
  if (triggerKind(graph) !== "schedule") return graph;
  const values = {
    active: enabled,
    ...(cron_expression !== undefined && { cron_expression }),
    ...(timezone !== undefined && { timezone }),
    ...(default_input !== undefined && { default_input }),
  };
  const nodes = graph.nodes.map((node) => (node.type === "triggerNode" ? { ...node, data: { ...node.data, ...values } } : node));
  return { ...graph, nodes };
}

/** @throws AppError VALIDATION_ERROR that names the field of the request, where a save would name the one of the graph */
function assertKept(graph: Graph): void {
  const schedule = scheduleOf(graph);
  if (!schedule) return;
  if (schedule.cron_expression === "") {
    if (schedule.enabled) throw invalidField("cron_expression", "Say when it runs: send a cron_expression, for example 0 9 * * 1-5.");
    return;
  }
  try {
    checkCron(schedule, new Date());
  } catch (error) {
    if (error instanceof CronError) throw invalidField(error.field, error.message);
    throw error;
  }
}

/**
 * Switches a workflow's schedule on or off and may change its times: writes into the trigger node and saves, so the
 * version counts up. A draft keeps everything else that it holds.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when the trigger is of another kind, or for times that cannot be kept
 */
export function setSchedule(principal: ProjectPrincipal, input: SetScheduleInput): Promise<Workflow> {
  return updateWorkflow(principal, { workflow_id: input.workflow_id }, (graph, which) => {
    if (which === "draft") return withSchedule(graph, input);
    if (triggerKind(graph) !== "schedule")
      throw invalidField(
        "workflow_id",
        "has a trigger of another kind",
        "This workflow's trigger is no schedule. Choose Schedule in its trigger node and save first.",
      );
    const changed = withSchedule(graph, input);
    assertKept(changed);
    return changed;
  });
}
