import type pg from "pg";
import type { WaitReason, WaitStatus } from "#prisma/generated/enums.ts";
import { pool } from "#server/platform/db/client.ts";
import { finds } from "#server/platform/db/sweep.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import type { RunState, WaitState } from "#server/runs/ports.ts";
import { becomesDue, dueValues } from "#server/runs/store/queue.ts";
import { FINAL, IS_UNTAKEN, query, TELL_DUE } from "#server/runs/store/sql.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { LARGE_OUTPUT } from "#server/workflow/output-size.ts";

// How waits end, beside the end of their run: resolved by somebody, or expired. Either is one conditional update, so of any that
// come at once one counts, and makes the run due in the same statement. The run's row is locked before the wait's, as whoever ends
// or commits a run does: so none of them waits for another in a circle.

/** Who decided a review, and which way they came; nobody in particular resolves another wait. */
interface Resolver {
  via: string;
  id: string | null;
  email: string | null;
  name: string | null;
  role: Role | null;
}

export interface Resolution {
  id: string;
  reason: WaitReason;
  /** What it is resolved with, as JSON can tell it. */
  outcome: unknown;
  /** Of a callback, in hexadecimal. */
  token_hash?: string;
  by?: Resolver;
}

export interface ResolvedWait {
  id: string;
  project_id: string;
  execution_id: string;
  node_id: string;
  iteration: string;
  label: string;
}

const SEEN = (ended: string) => `seen AS (
    UPDATE notifications SET read_at = now() WHERE kind = 'review' AND subject_id IN (SELECT id FROM ${ended}) AND read_at IS NULL
  )`;

const IS_MEANT = `w.id = $1::uuid AND w.reason = $2::"WaitReason" AND w.status = 'waiting' AND (w.deadline IS NULL OR w.deadline > now())
      AND w.token_hash IS NOT DISTINCT FROM decode($3, 'hex')`;

const RESOLVE = `
  WITH run AS MATERIALIZED (
    SELECT id FROM executions WHERE id = (SELECT execution_id FROM waits w WHERE ${IS_MEANT}) AND status NOT IN ${FINAL} FOR UPDATE
  ), resolved AS (
    UPDATE waits w SET status = 'resolved', outcome = $4::jsonb, resolved_at = now(), via = $5, reviewer_id = $6::uuid, reviewer_email = $7,
      reviewer_name = $8, reviewer_role = $9::"Role"
    FROM run WHERE w.execution_id = run.id AND ${IS_MEANT}
    RETURNING w.id, w.project_id, w.execution_id, w.node_id, w.iteration, w.label
  ), ${SEEN("resolved")}, enqueued AS (
    UPDATE executions e SET ${becomesDue("$10")} FROM resolved WHERE e.id = resolved.execution_id
  )
  SELECT *, pg_notify('treadle_control', execution_id::text), CASE WHEN $11::boolean THEN ${TELL_DUE} END FROM resolved`;

/**
 * Resolves a wait, marks what people were told of it as read, and makes its run due; call `wakeEnded` once it is committed.
 * @returns undefined when it has ended already, its run is over, or there is no such wait
 */
export async function resolveWait(
  { id, reason, outcome, token_hash = undefined, by }: Resolution,
  on: Pick<pg.Pool, "query"> = pool(),
): Promise<ResolvedWait | undefined> {
  const whose = [by?.via, by?.id, by?.email, by?.name, by?.role].map((value) => value ?? null);
  const values = [id, reason, token_hash ?? null, JSON.stringify(outcome), ...whose, ...dueValues()];
  return (await on.query<ResolvedWait>({ name: "wait-resolve", text: RESOLVE, values })).rows[0];
}

/**
 * Ends waits whose deadline has passed, of whatever reason.
 * @param which says which of `waits w`
 * @param some how many at most, and which first; each with whatever else of its run is due
 */
const expiring = (which: string, some = "", locking = "FOR UPDATE"): string => `
  WITH run AS MATERIALIZED (
    SELECT id FROM executions WHERE id IN (SELECT execution_id FROM waits w WHERE w.status = 'waiting' AND ${which} ${some}) ORDER BY id ${locking}
  ), expired AS (
    UPDATE waits w SET status = 'expired', resolved_at = now() FROM run WHERE w.execution_id = run.id AND w.status = 'waiting' AND ${which}
    RETURNING w.id, w.execution_id
  ), ${SEEN("expired")}`;

const ENQUEUED = `, enqueued AS (
    UPDATE executions e SET ${becomesDue("$1")} WHERE id IN (SELECT execution_id FROM expired) AND status NOT IN ${FINAL}
  )
  SELECT id, execution_id, pg_notify('treadle_control', execution_id::text), CASE WHEN $2::boolean THEN ${TELL_DUE} END FROM expired`;

/** How many waits each part of a sweep takes on. */
const BATCH = 200;

const IS_OVER = "w.deadline <= now()";
const EXPIRE_DUE = expiring(IS_OVER, `ORDER BY w.deadline LIMIT ${BATCH}`, "FOR UPDATE SKIP LOCKED") + ENQUEUED;
const EXPIRE_ONE = expiring(`${IS_OVER} AND w.id = $3`) + ENQUEUED;
/** Its own run needs no telling: it is the one that looks. */
const EXPIRE_OF_RUN = `${expiring(
  "w.execution_id = $1 AND w.deadline <= greatest($2::timestamptz, now()) + interval '1 second'",
)} SELECT FROM expired`;

const WAIT_STATES = `
  -- Viewers are told again of one that is open, and of a larger text no more than its beginning: of others nothing is read.
  SELECT id, node_id, iteration, reason, status, outcome, deadline,
    CASE WHEN is_told THEN left(CASE reason WHEN 'review' THEN title ELSE label END, ${LARGE_OUTPUT + 1}) END AS title,
    CASE WHEN is_told THEN left(display_value, ${LARGE_OUTPUT + 1}) END AS display_value,
    CASE WHEN status <> 'waiting' THEN text END AS text
  FROM (SELECT *, status = 'waiting' AND row_number() OVER (PARTITION BY status ORDER BY id) = 1 AS is_told FROM waits
  WHERE execution_id = $1 AND (status = 'waiting' OR (status IN ('resolved', 'expired') AND taken_at IS NULL))) AS open
  ORDER BY resolved_at NULLS LAST, id`;

/** The waits of a run that are open or not taken, after those that are due have expired. */
export async function waitsOf(run: RunState, now: Date): Promise<WaitState[]> {
  await query("run-waits-expire", EXPIRE_OF_RUN, [run.id, now]);
  return query<WaitState>("run-waits", WAIT_STATES, [run.id]);
}

/**
 * Ends waits whose deadline has passed, and makes their runs due; call `wakeEnded` afterwards.
 * @param wait_id only this one; left out, a batch of those that are due
 */
export async function expireDue(wait_id?: string): Promise<{ id: string; execution_id: string }[]> {
  const values = wait_id ? [...dueValues(), wait_id] : dueValues();
  return (await pool().query<{ id: string; execution_id: string }>(wait_id ? EXPIRE_ONE : EXPIRE_DUE, values)).rows;
}

/** When a run that has not acted on the end of a wait is woken again for the first time, in seconds: an Inngest server may be behind. */
const wakeAfterSeconds = (): number => (isEmbeddedExecutor() ? 3 : 30);

// Repeated at doubling intervals: each time when as long again has passed as until the last time.
// What the run can no longer take, because it is over, is closed here, so that the next sweep need not look at it.
const UNTAKEN = `
  WITH untaken AS (
    SELECT w.id, e.status IN ${FINAL} AS is_over
    FROM waits w JOIN executions e ON e.id = w.execution_id
    WHERE ${IS_UNTAKEN} AND w.resolved_at < now() - make_interval(secs => $1)
      AND (w.woken_at IS NULL OR now() - w.woken_at > w.woken_at - w.resolved_at)
      AND (e.status IN ${FINAL} OR e.lease_until IS NULL OR e.lease_until < now())
    ORDER BY w.resolved_at LIMIT ${BATCH} FOR UPDATE OF w SKIP LOCKED
  )
  UPDATE waits w SET woken_at = now(), taken_at = CASE WHEN untaken.is_over THEN now() END
  FROM untaken WHERE w.id = untaken.id
  RETURNING w.id, w.execution_id, untaken.is_over`;

/** Returns waits whose end their runs have not acted on, one of each run, and marks them as woken now. */
export async function untakenWaits(): Promise<{ id: string; execution_id: string }[]> {
  const { rows } = await pool().query<{ id: string; execution_id: string; is_over: boolean }>(UNTAKEN, [wakeAfterSeconds()]);
  const open = rows.filter((row) => !row.is_over).toSorted((one, other) => (one.id < other.id ? 1 : -1));
  return [...new Map(open.map(({ id, execution_id }) => [execution_id, { id, execution_id }])).values()];
}

/** Tells if `expireDue` or `untakenWaits` may find any; see `Sweep`. */
export const MAY_BE_OVER = finds(
  `SELECT FROM waits w WHERE w.status = 'waiting' AND ${IS_OVER}`,
  `SELECT FROM waits w WHERE ${IS_UNTAKEN}`,
);

/** True when a wait of the run has ended and the run has not taken that. */
export async function hasUntaken(execution_id: string): Promise<boolean> {
  const { rowCount } = await pool().query({
    name: "waits-untaken",
    text: `SELECT FROM waits w WHERE execution_id = $1 AND ${IS_UNTAKEN} LIMIT 1`,
    values: [execution_id],
  });
  return rowCount === 1;
}

/** What has become of a callback; undefined when there is none with this token. */
export async function callbackStatus(id: string, token_hash: string): Promise<WaitStatus | undefined> {
  const { rows } = await pool().query<{ status: WaitStatus }>(
    "SELECT status FROM waits WHERE id = $1 AND reason = 'callback' AND token_hash = decode($2, 'hex')",
    [id, token_hash],
  );
  return rows[0]?.status;
}
