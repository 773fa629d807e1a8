import type pg from "pg";
import { tellMissed } from "#server/features/notifications/not-started.ts";
import { assertRunnable } from "#server/features/workflows/execute.ts";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { isAppError, isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { createExecution } from "#server/runs/store/create.ts";
import { reasonWithoutRoom } from "#server/runs/store/limits.ts";
import { refuseRun } from "#server/runs/store/refused-runs.ts";
import { hourUsedUp } from "#server/runs/use-cases/start-execution.ts";
import { dispatchRuns } from "#server/runs/worker/dispatch.ts";
import { nextFire } from "#server/workflow/cron.ts";
import { Graph } from "#server/workflow/schema.ts";

interface DueRow {
  workflow_id: string;
  workflow_name: string;
  project_id: string;
  version: number;
  snapshot_id: string;
  cron_expression: string;
  timezone: string;
  default_input: string;
  next_fire_at: Date;
}

type Due = Pick<DueRow, "workflow_id" | "project_id" | "snapshot_id"> & { graph: unknown };

const IS_DUE = "s.active AND s.next_fire_at <= $1 AND w.enabled AND w.deleted_at IS NULL";

const NEXT = `
  SELECT s.workflow_id, w.project_id, w.snapshot_id, g.graph
  FROM schedules s JOIN workflows w ON w.id = s.workflow_id JOIN workflow_snapshots g ON g.id = w.snapshot_id
  WHERE ${IS_DUE} AND s.workflow_id <> ALL ($2::uuid[])
  ORDER BY s.next_fire_at LIMIT 1`;

// Skips a schedule that another process is firing, and one whose workflow is being deleted: that locks both rows in the other order.
const CLAIM = `
  SELECT s.workflow_id, w.name AS workflow_name, w.project_id, w.version, w.snapshot_id, s.cron_expression, s.timezone, s.default_input, s.next_fire_at
  FROM schedules s JOIN workflows w ON w.id = s.workflow_id
  WHERE ${IS_DUE} AND s.workflow_id = $2 AND w.snapshot_id = $3
  FOR UPDATE OF s SKIP LOCKED FOR KEY SHARE OF w SKIP LOCKED`;

/** The reason why a graph cannot run, or undefined. */
async function reasonAgainst(project_id: string, graph: unknown): Promise<string | undefined> {
  try {
    await assertRunnable(project_id, Graph.parse(graph));
    return undefined;
  } catch (error) {
    if (isAppError(error)) return error.message;
    throw error;
  }
}

/**
 * Fires one schedule within the transaction that advances it.
 * @param fault reason why its graph cannot run
 * @returns the execution to ask for, if one was started
 */
async function fire(client: pg.PoolClient, row: DueRow, now: Date, fault: string | undefined): Promise<string | undefined> {
  const { workflow_id, workflow_name, project_id, snapshot_id, next_fire_at: due_at } = row;
  const execution = { project_id, workflow_id, snapshot_id, workflow_version: row.version, started_by_id: null, params: null } as const;
  const run = { ...execution, trigger: "schedule", input: row.default_input, due_at } as const;
  // From now on, not from the time that was due: of fires missed in a row, one is made up for.
  const values = [workflow_id, due_at, nextFire(row, now)];
  await client.query("UPDATE schedules SET last_fire_at = $2, next_fire_at = $3 WHERE workflow_id = $1", values);
  const isRepeated = (nextFire(row, due_at) ?? now) < now;
  await tellMissed(client, { project_id, workflow_id, workflow_name, due_at, now, isRepeated });
  const reason = fault ?? (await reasonWithoutRoom(project_id, client));
  const started = reason === undefined ? await createExecution(run, { on: client }) : undefined;
  if (started?.kind === "started") return started.execution_id;
  const limited = started?.kind === "limited" ? hourUsedUp(started).message : undefined;
  const refusal = reason ?? limited;
  if (refusal !== undefined) await refuseRun(client, run, refusal);
  return undefined;
}

/**
 * Claims and fires a due schedule.
 * @returns false when another process has fired it, it was changed meanwhile, or it could not be fired: the next sweep tries again
 */
async function fireOne({ workflow_id, project_id, snapshot_id, graph }: Due, now: Date): Promise<boolean> {
  // Before the transaction: the check asks the database and other processes.
  const fault = await reasonAgainst(project_id, graph);

  const fired = await inTransaction(async (client) => {
    const { rows } = await client.query<DueRow>(CLAIM, [now, workflow_id, snapshot_id]);
    return rows[0] && { execution_id: await fire(client, rows[0], now, fault) };
  }).catch((error) => {
    if (isDatabaseAway(error)) throw error;
    log.error({ err: error, workflow_id }, "a schedule could not be fired, the next minute tries again");
    return undefined;
  });
  if (fired?.execution_id) await dispatchRuns([{ execution_id: fired.execution_id, project_id, dispatch: 0 }]);

  return fired !== undefined;
}

/**
 * Starts a run for every schedule whose time has come, in as many processes at once as there are: the row is locked
 * while it is fired, and an execution is unique by workflow and due time. Each fire leaves an execution: one that the
 * hourly limit or a problem of the graph forbids is `failed` with the reason.
 * @returns how many were fired
 */
export async function fireDueSchedules(now = new Date()): Promise<number> {
  const seen: string[] = [];
  let count = 0;
  for (;;) {
    const [due] = (await pool().query<Due>(NEXT, [now, seen])).rows;
    if (!due) return count;
    seen.push(due.workflow_id);
    if (await fireOne(due, now)) count += 1;
  }
}
