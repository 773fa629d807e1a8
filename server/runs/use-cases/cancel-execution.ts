import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import type { Execution } from "#server/runs/schema.ts";
import { cancelRun } from "#server/runs/store/end.ts";
import { findExecution } from "#server/runs/store/executions.ts";
import { cancelChildren, tellParent } from "#server/runs/use-cases/end-children.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { runScopeOf } from "#server/runs/use-cases/run-scope.ts";
import { dispatchCancels } from "#server/runs/worker/dispatch.ts";
import { isFinal } from "#server/shared/execution-status.ts";

/**
 * Ends a run that has not ended. The row decides: its lease is taken away, so that whatever process executes the run can
 * write nothing more; that process is told, and aborts the model calls under way.
 * @param texts takes the long texts out of the result
 * @throws AppError NOT_FOUND; CONFLICT when the run has ended already
 */
export async function cancelExecution(
  principal: ProjectPrincipal,
  { execution_id }: { execution_id: string },
  texts?: DeferredTexts,
): Promise<Execution> {
  await findExecution({ ...runScopeOf(principal), execution_id }, { id: true });
  await db().$transaction(async (tx) => {
    const run = await cancelRun(tx, { project_id: principal.project.id, execution_id });
    if (!run) throw notFound("execution");
    const { was, workflow_name } = run;
    if (isFinal(was)) throw new AppError("CONFLICT", `This execution has already ended: it is ${was}.`);
    const resource = { resource_type: "execution", resource_id: execution_id, resource_name: workflow_name } as const;
    await recordAudit(tx, principal, { action: "execution.cancel", ...resource, detail: { was } });
  });
  dispatchCancels([execution_id]);
  await tellParent(execution_id);
  await cancelChildren(execution_id);
  return getExecution(principal, { execution_id }, texts);
}
