import { executionCancelled } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { type Execution, isFinal } from "#server/runs/schema.ts";
import { cancelRun } from "#server/runs/store/end.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";

/** How many events go out together. */
const AT_ONCE = 100;

/** Tells the executor of runs that have been cancelled; those that it is not told of find themselves ended. */
export async function publishCancelled(execution_ids: readonly string[]): Promise<void> {
  for (let from = 0; from < execution_ids.length; from += AT_ONCE) {
    const events = execution_ids
      .slice(from, from + AT_ONCE)
      .map((execution_id) => executionCancelled.create({ execution_id }, { id: `${execution_id}-cancelled` }));
    await publishEvents(events);
  }
}

/**
 * Ends a run that has not ended. The row decides: its lease is taken away, so that whatever process executes the run can
 * write nothing more; that process is told, and aborts the model calls under way.
 * @throws AppError NOT_FOUND; CONFLICT when the run has ended already
 */
export async function cancelExecution(principal: ProjectPrincipal, { execution_id }: { execution_id: string }): Promise<Execution> {
  if (!isUuid(execution_id)) throw notFound("execution");
  await db().$transaction(async (tx) => {
    const run = await cancelRun(tx, { project_id: principal.project.id, execution_id });
    if (!run) throw notFound("execution");
    const { was, workflow_name } = run;
    if (isFinal(was)) throw new AppError("CONFLICT", `This execution has already ended: it is ${was}.`);
    const resource = { resource_type: "execution", resource_id: execution_id, resource_name: workflow_name };
    await recordAudit(principal, { action: "execution.cancel", ...resource, detail: { was } }, tx);
  });
  await publishCancelled([execution_id]);
  return getExecution(principal, { execution_id });
}
