import type pg from "pg";
import { inTransaction } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { runIdOfRequest } from "#server/platform/rpc/idempotency.ts";
import type { ExecuteResult } from "#server/runs/schema.ts";
import { createExecution, isTakenId, type NewExecution, type Started } from "#server/runs/store/create.ts";
import type { EarlierResults } from "#server/runs/store/earlier-results.ts";
import { hasStarted } from "#server/runs/store/executions.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { startRefusedRun } from "#server/runs/store/refused-runs.ts";
import { type Accepted, acceptRun } from "#server/runs/use-cases/inline-run.ts";
import { dispatchRuns } from "#server/runs/worker/dispatch.ts";

/** What a caller is told whose project has used up its hour. */
export const hourUsedUp = ({ retryAfter, limit }: { retryAfter: number; limit: number }): AppError =>
  new AppError(
    "RATE_LIMIT_EXCEEDED",
    `This project has started ${limit} executions within an hour, which is its limit. Try again in ${retryAfter} seconds, or have an admin raise it under Settings, Limits (executions_per_hour).`,
    { retryAfter, limit },
  );

/**
 * Starts a run under an id that stands for the request. Finds the run that an earlier attempt of the request wrote before its
 * process died; starts one that an earlier attempt was refused.
 * @param id undefined for a request without an Idempotency-Key
 */
async function startOnce(id: string | undefined, run: NewExecution, start: () => Promise<Accepted>): Promise<Accepted> {
  if (id === undefined) return start();
  const found: Started = { kind: "started", execution_id: id, isBegun: false };
  const started = await start().catch(async (error: unknown) => {
    if (isTakenId(error)) return (await startRefusedRun(run, { id })) ?? found;
    throw error;
  });
  // The earlier attempt may have used up the hour itself.
  return started.kind === "limited" && (await hasStarted(id)) ? found : started;
}

interface FromResults extends EarlierResults {
  /** Writes something with the run or not at all, e.g. the audit's record. */
  also?(client: pg.PoolClient, execution_id: string): Promise<void>;
}

/** Writes a run that has results before it begins, which takes several statements. */
const createFrom = (execution: NewExecution, { also, ...results }: FromResults): Promise<Started> =>
  inTransaction(async (client) => {
    const started = await createExecution(execution, { on: client, results });
    if (started.kind === "started") await also?.(client, started.execution_id);
    return started;
  });

/**
 * Accepts a run: once this returns it is in the database and will end, whatever happens to this process.
 * @param from results that it has before it begins
 * @throws AppError RATE_LIMIT_EXCEEDED when the project has used up its hour; CONFLICT when it holds as much as it may, or ran for this `due_at` before
 */
export async function startExecution(execution: NewExecution, from?: FromResults): Promise<ExecuteResult> {
  const { execution_id, status } = await startRun(execution, from);
  return { execution_id, status };
}

/**
 * Like `startExecution`.
 * @returns with how the run ends when this process runs it at once; that resolves with nothing when another goes on with it.
 *   `dispatched`: when another executes it, whether the request for that has been taken
 * @throws AppError as `startExecution`
 */
export async function startRun(
  execution: NewExecution,
  from?: FromResults,
): Promise<ExecuteResult & Pick<Accepted, "ending" | "dispatched">> {
  await assertRoom(execution.project_id);
  const id = execution.id ?? runIdOfRequest();
  const run = { ...execution, ...(id !== undefined && { id }) };
  const started = await startOnce(id, run, () => (from ? createFrom(run, from) : acceptRun(run)));
  if (started.kind === "limited") throw hourUsedUp(started);
  if (started.kind === "repeated") throw new AppError("CONFLICT", "This run has been started before. Look for it among the executions.");
  const { execution_id, ending, dispatched } = started;
  // Found, not written: whoever wrote it may have died before asking for it.
  if (!ending && !dispatched) await dispatchRuns([{ execution_id, project_id: execution.project_id, dispatch: 0 }]);
  return { execution_id, status: execution.status ?? "pending", ...(ending && { ending }), ...(dispatched && { dispatched }) };
}
