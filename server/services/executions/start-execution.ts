import type pg from "pg";
import { v7 as uuid } from "uuid";
import { cleanText } from "#server/clean-text.ts";
import { pool } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { type ExecuteResult, type ExecutionTrigger, PREVIEW_CHARACTERS } from "#server/schemas/execution.ts";
import { requestRun } from "#server/services/executions/request-run.ts";
import { runIdOfRequest } from "#server/services/idempotency/run-id.ts";
import { settings } from "#server/settings.ts";

export interface NewExecution {
  /** Left out, it gets one; a caller that follows the run from its beginning brings its own. */
  id?: string;
  project_id: string;
  workflow_id: string;
  workflow_version: number | null;
  snapshot_id: string;
  trigger: ExecutionTrigger;
  started_by_id: string | null;
  input: string;
  params: Record<string, unknown> | null;
  /** `queued` for webhooks; `pending` unless given. */
  status?: "pending" | "queued";
  /** Of a schedule: the time that it was due. A workflow runs once for each. */
  due_at?: Date;
}

/** What is written with an execution or not at all: the webhook's delivery, which also lets a repeated one in only once. */
export interface DeliveryOfExecution {
  id: string;
  delivery_key: string | null;
  body: string;
}

/** How it went: started, or nothing was written because the hour is used up or the same was started before. */
export type Started = { kind: "started"; execution_id: string } | { kind: "limited"; retryAfter: number } | { kind: "repeated" };

/**
 * One statement, and so one round trip: the project's lock, the count (a function with a snapshot of its own, taken once
 * the lock is there), the delivery, the execution. Nothing is written when the count says to wait, or when the delivery or
 * the fire is there already.
 */
const statement = (name: string, delivery: string) => ({
  name,
  text: `
    WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended('executions-per-hour:' || $2::uuid, 0)) WHERE $12::int > 0),
    room AS MATERIALIZED (SELECT coalesce((SELECT seconds_until_execution($2::uuid, $12::int) FROM locked), 0) AS wait),
    ${delivery}
    execution AS (
      INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, trigger, started_by_id, input_preview, status, due_at, overdue_at)
      SELECT $1::uuid, $2::uuid, $3::uuid, $4::int, $5::uuid, $6, $7::uuid, left($8, ${PREVIEW_CHARACTERS}), $10::"ExecutionStatus", $11::timestamptz, now() + interval '10 seconds'
      FROM ${delivery ? "delivery" : "room WHERE wait = 0"}
      ON CONFLICT (workflow_id, due_at) DO NOTHING RETURNING id
    ),
    kept AS (INSERT INTO execution_values (execution_id, input, params) SELECT id, $8, $9::jsonb FROM execution)
    SELECT wait, (SELECT id FROM execution) AS execution_id FROM room`,
});

const ALONE = statement("execution-insert", "");
const WITH_DELIVERY = statement(
  "execution-insert-delivery",
  `delivery AS (
      INSERT INTO webhook_deliveries (id, workflow_id, status, execution_id, delivery_key, body)
      SELECT $13::uuid, $3::uuid, 202, $1::uuid, $14, $15 FROM room WHERE wait = 0
      ON CONFLICT (workflow_id, delivery_key) DO NOTHING RETURNING id
    ),`,
);

/**
 * Writes a new execution if the project's hour has room, without asking anybody to run it yet. Requests of one project
 * queue up on a lock, so that together they never get past the limit.
 * @param on the pool, or a client within a transaction: then the lock is held until that ends
 */
export async function insertExecution(
  execution: NewExecution,
  { on = pool(), delivery }: { on?: Pick<pg.Pool, "query">; delivery?: DeliveryOfExecution } = {},
): Promise<Started> {
  const values = [
    execution.id ?? uuid(),
    execution.project_id,
    execution.workflow_id,
    execution.workflow_version,
    execution.snapshot_id,
    execution.trigger,
    execution.started_by_id,
    cleanText(execution.input),
    execution.params && JSON.stringify(execution.params),
    execution.status ?? "pending",
    execution.due_at ?? null,
    settings().EXECUTIONS_PER_HOUR,
    ...(delivery ? [delivery.id, delivery.delivery_key, delivery.body] : []),
  ];
  const { rows } = await on.query<{ wait: number; execution_id: string | null }>({ ...(delivery ? WITH_DELIVERY : ALONE), values });
  const [row] = rows;
  if (row?.execution_id) return { kind: "started", execution_id: row.execution_id };
  return row?.wait ? { kind: "limited", retryAfter: row.wait } : { kind: "repeated" };
}

/** What a caller is told whose project has used up its hour. */
export const hourUsedUp = (retryAfter: number): AppError =>
  new AppError(
    "RATE_LIMIT_EXCEEDED",
    `This project has started ${settings().EXECUTIONS_PER_HOUR} executions within an hour, which is its limit. Try again in ${retryAfter} seconds.`,
    { retryAfter },
  );

const isTakenId = (error: unknown): boolean => error instanceof Error && "constraint" in error && error.constraint === "executions_pkey";

async function isThere(id: string): Promise<boolean> {
  const { rows } = await pool().query("SELECT FROM executions WHERE id = $1", [id]);
  return rows.length > 0;
}

/**
 * Starts a run under an id that stands for the request, or finds the one that an earlier try of the same request wrote
 * before it died and could not answer.
 * @param id undefined for a request that does not name itself
 */
export async function startOnce(id: string | undefined, start: () => Promise<Started>): Promise<Started> {
  if (id === undefined) return start();
  const started = await start().catch((error: unknown): Started => {
    if (isTakenId(error)) return { kind: "started", execution_id: id };
    throw error;
  });
  // The earlier try may have used up the hour itself.
  return started.kind === "limited" && (await isThere(id)) ? { kind: "started", execution_id: id } : started;
}

/**
 * Accepts a run: once this returns it is in the database and will end, whatever happens to this process.
 * @throws AppError RATE_LIMIT_EXCEEDED when the project has used up its hour; CONFLICT when it ran for this `due_at` before
 */
export async function startExecution(execution: NewExecution): Promise<ExecuteResult> {
  const id = execution.id ?? runIdOfRequest();
  const started = await startOnce(id, () => insertExecution({ ...execution, ...(id !== undefined && { id }) }));
  if (started.kind === "limited") throw hourUsedUp(started.retryAfter);
  if (started.kind === "repeated") throw new AppError("CONFLICT", "This run has been started before. Look for it among the executions.");
  const { execution_id } = started;
  await requestRun({ execution_id, project_id: execution.project_id, dispatch: 0 });
  return { execution_id, status: execution.status ?? "pending" };
}
