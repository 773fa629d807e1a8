import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor, processId, settings } from "#server/platform/settings.ts";
import { memoryAccount } from "#server/runs/memory-account.ts";
import { type Claim, MAX_CRASHES, type NextClaim, type Past, type RunState, type RunStore } from "#server/runs/ports.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { bytesOf, type GivenValues, givenValues, readPast } from "#server/runs/store/past.ts";
import { FINAL, LEASE_SECONDS, NOW, projectLock, query, retryDuringOutage } from "#server/runs/store/sql.ts";
import { withPins } from "#server/workflow/pins.ts";

// Whose a run is for the moment. Of runs that are due, each is taken under a lease, by a name that no other ever has.

/** Bytes that a run may have written to be read together with its lease. */
const SMALL = 64 * 1024;

/** A run that the next death under it ends: `isSuspect` of `DueRuns`, before its lease is taken. */
const SUSPECT = `(crashes > 0 AND crashes + (lease_until IS NOT NULL)::int = ${MAX_CRASHES - 1})`;

/** Of a run that is under way, the lease and what follows from it. */
const LEASE = `lease_until = now() + interval '${LEASE_SECONDS} seconds', run_at = now() + interval '${LEASE_SECONDS} seconds'`;

/**
 * Takes the leases of runs. $1 begins the name of a lease, $2 is how many runs of one project may be under way at once.
 * @param project the projects of the runs, as a query: their locks are taken, so that no other claim comes in between
 * @param dispatch number of the request of an Inngest server, as an expression
 * @param server_run id of the function run there, as an expression
 * @param chosen the ids of the runs, as a query; it locks their rows. `room` has the places of the projects
 */
const claiming = (project: string, chosen: string, dispatch = "NULL", server_run = "NULL") => `
  -- Not waited for on the disk: losing it only means that the lease is taken again.
  WITH quiet AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)
  ), project AS MATERIALIZED (${project}
  ), locked AS MATERIALIZED (SELECT id, ${projectLock("id")} FROM (SELECT id FROM project ORDER BY id) AS p
  ), room AS MATERIALIZED (SELECT id, free_run_places(id, $2::int) AS places FROM locked
  ), ${chosen}
  ), claimed AS (
    UPDATE executions e SET
      -- A database that crashed may hand out an epoch again that somebody still holds; a name it never does.
      claimed_dispatch = greatest(claimed_dispatch, ${dispatch}::int), inngest_run_id = coalesce(${server_run}::text, inngest_run_id),
      lease_owner = $1::text || '-' || e.id, lease_epoch = lease_epoch + 1, ${LEASE}, wake = false, is_asleep = false, commit_no = 0,
      -- Whoever had it before has not given it back.
      crashes = crashes + (lease_until IS NOT NULL)::int,
      -- A paused run stays so until somebody has decided: looking at it changes nothing.
      status = CASE WHEN status = 'paused' THEN status ELSE 'running' END, started_at = coalesce(started_at, now())
    FROM chosen, execution_values v, quiet WHERE e.id = chosen.id AND v.execution_id = e.id
    RETURNING e.id, e.project_id, e.status, e.lease_owner AS holder, e.lease_epoch, e.created_at, e.started_at, e.parent_id, e.assistant_message_id AS message_id, e.rerun_of_id, e.snapshot_id,
      e.workflow_version, e.crashes, e.bytes::float8 AS bytes,
      -- Large values are read once there is memory for them.
      CASE WHEN e.bytes <= ${SMALL} THEN v.input END AS input, CASE WHEN e.bytes <= ${SMALL} THEN v.params END AS params
  )`;

/**
 * One run: $3, for the request $4 of an Inngest server and its function run $5. A request is superseded once a newer one has claimed the run. One that was
 * only counted may never be delivered.
 */
const CLAIM = `${claiming(
  "SELECT project_id AS id FROM executions WHERE id = $3",
  `chosen AS MATERIALIZED (
    SELECT e.id FROM room, executions e
    WHERE e.id = $3 AND room.places > 0 AND (lease_until IS NULL OR lease_until <= now()) AND status NOT IN ${FINAL}
      AND ($4::int IS NULL OR $4 >= claimed_dispatch)
    FOR UPDATE OF e`,
  "$4",
  "$5",
)}
  SELECT * FROM claimed`;

/** What it is with a run that could not be claimed. Whoever executes it is told to look again before it rests. */
const BUSY = `
  -- One whose lease has run out since is looked for again soon.
  UPDATE executions SET wake = wake OR coalesce(lease_until > now(), false)
  WHERE id = $1 AND ($2::int IS NULL OR $2 >= claimed_dispatch) AND status NOT IN ${FINAL}
  RETURNING greatest(extract(epoch FROM lease_until - now()), 0)::float8 AS seconds`;

const DUE = "project_id = room.id AND run_at <= now() AND (lease_owner IS NULL OR lease_owner <> ALL($3::text[]))";

/**
 * Up to $4 runs that are due, those of projects that have fewest under way first, without those that this process executes as
 * $3; among them one suspect if $5. The projects are found by hops over the index, however many runs of one are due. `more`:
 * there may be others.
 */
const CLAIM_DUE = `${claiming(
  `
    WITH RECURSIVE hop AS (
      (SELECT project_id AS id FROM executions WHERE run_at <= now() ORDER BY project_id LIMIT 1)
      UNION ALL
      SELECT (SELECT project_id FROM executions WHERE run_at <= now() AND project_id > hop.id ORDER BY project_id LIMIT 1)
      FROM hop WHERE hop.id IS NOT NULL
    ) SELECT id FROM hop WHERE id IS NOT NULL`,
  `due AS MATERIALIZED (
    SELECT d.id, d.run_at, room.id AS project_id, row_number() OVER (PARTITION BY room.id ORDER BY d.run_at) - room.places AS turn,
      d.is_suspect AND row_number() OVER (PARTITION BY d.is_suspect ORDER BY d.run_at) > 1 AS waits
    FROM room CROSS JOIN LATERAL (
      (SELECT id, run_at, false AS is_suspect FROM executions WHERE ${DUE} AND NOT ${SUSPECT} ORDER BY run_at LIMIT greatest(room.places, 0))
      UNION ALL
      (SELECT id, run_at, true FROM executions WHERE $5::boolean AND ${DUE} AND ${SUSPECT} ORDER BY run_at LIMIT least(greatest(room.places, 0), 1))
    ) AS d
  ), chosen AS MATERIALIZED (
    SELECT e.id FROM due JOIN executions e ON e.id = due.id WHERE e.run_at <= now() AND NOT due.waits AND due.turn <= 0
    ORDER BY due.turn, due.run_at LIMIT $4 FOR UPDATE OF e SKIP LOCKED`,
)}
  SELECT claimed.*, (SELECT count(*) FROM due) > (SELECT count(*) FROM chosen)
    OR EXISTS (SELECT FROM room WHERE places <= (SELECT count(*) FROM due WHERE due.project_id = room.id)) AS more
  FROM (VALUES (1)) AS one LEFT JOIN claimed ON true`;

const RENEW = `
  UPDATE executions SET ${LEASE} WHERE id = $1 AND lease_owner = $2 AND lease_until IS NOT NULL AND status NOT IN ${FINAL} RETURNING 1`;

/**
 * $5: whether it only waits, until $3; else it is looked at again in $4 seconds. $6: how many faults of ours to count. A lease
 * that was given back stays so: when the answer got lost and this is said again, the run may have become due meanwhile.
 */
const RELEASE = `
  UPDATE executions SET lease_until = NULL, wake = false, is_asleep = $5::boolean AND NOT wake, crashes = crashes + $6::int,
    run_at = CASE WHEN wake THEN ${NOW} WHEN $5::boolean THEN $3::timestamptz ELSE ${NOW} + make_interval(secs => $4) END
  WHERE id = $1 AND lease_owner = $2 AND lease_until IS NOT NULL AND status NOT IN ${FINAL} RETURNING coalesce(run_at <= now(), false) AS is_due`;

/** When to ask again for a run whose project has no place, in seconds. */
const PLACE_SECONDS = 2;
/** How soon to try a run again that met a fault of the host, in seconds. */
const LATER_SECONDS = 10;
/** How long an Inngest server may take to go on with a run that was given back, before it is asked for again, in seconds. */
const SERVER_GOES_ON_SECONDS = 120;

/** A row of the queue whose lease has just been taken. */
type ClaimedRow = Omit<RunState, "epoch" | "commits" | keyof Past | "input" | "params" | "deltaFloors" | "graph"> & {
  lease_epoch: number;
  bytes: number;
  snapshot_id: string;
  rerun_of_id: string | null;
  workflow_version: number | null;
} & GivenValues;

let claims = 0;
/** Begins the name of a lease: no other ever has it. */
const claimName = () => `${processId()}-${++claims}`;

/**
 * Reads a claimed run: its graph and what has happened in it so far. Releases its lease for a while when this process has no memory
 * for it.
 */
async function stateOf(row: ClaimedRow): Promise<Exclude<Claim, { kind: "over" }>> {
  try {
    const run = await readState(row);
    if (run) return { kind: "claimed", run };
    const seconds = memoryAccount.retrySeconds;
    await release(row, { kind: "delayed", seconds });
    return { kind: "busy", seconds };
  } catch (error) {
    memoryAccount.release(row, false);
    await release(row, { kind: "retry" }).catch(() => undefined);
    throw error;
  }
}

async function readState({ lease_epoch, snapshot_id, workflow_version, bytes, ...row }: ClaimedRow): Promise<RunState | undefined> {
  const isTest = workflow_version === null;
  const snapshot = await retryDuringOutage(() => snapshotGraph(snapshot_id));
  const graph = isTest ? withPins(snapshot) : snapshot;
  const isSmall = bytes <= SMALL;
  if (!memoryAccount.reserve(row, isSmall ? bytes : await bytesOf(row.id, graph))) return undefined;
  const { input, params } = isSmall ? row : await givenValues(row.id);
  const isNew = lease_epoch === 1 && !row.rerun_of_id && !isTest;
  const past = isNew ? { ledger: [], items: [], kept: 0 } : await readPast(row.id, graph);
  return { ...row, input, params: params ?? {}, graph, epoch: lease_epoch, commits: 0, ...past, deltaFloors: new Map() };
}

/** Takes the lease of one run; see `RunStore`. */
export async function claim(execution_id: string, dispatch: number | null = null, inngest_run_id: string | null = null): Promise<Claim> {
  const values = [claimName(), settings().PROJECT_CONCURRENCY, execution_id, dispatch, inngest_run_id];
  const [row] = await query<ClaimedRow>("run-claim", CLAIM, values);
  if (row) return stateOf(row);
  const [held] = await query<{ seconds: number | null }>("run-busy", BUSY, [execution_id, dispatch]);
  return held ? { kind: "busy", seconds: held.seconds ?? PLACE_SECONDS } : { kind: "over" };
}

/** Runs that were due. */
export interface DueRuns {
  /** Each under a lease of this process; what it holds is read with the first look at it. */
  runs: {
    holder: string;
    id: string;
    project_id: string;
    /** One more death under it, and it is given up: of such runs a process executes one at a time, so that none beside it is to blame. */
    isSuspect: boolean;
    /** Reads it; `busy` when it was released again, because this process has no memory for it. */
    claim(): Promise<Claim>;
  }[];
  /** True when others may be due, for which there was no place. */
  hasMore: boolean;
}

/**
 * Takes the leases of runs that are due: those of projects that have fewest under way first.
 * @param most how many
 * @param held holders of leases under which this process executes runs, also of those that ran out while the database was away
 * @param takesSuspect whether one of them may be a suspect
 * @throws the database's error; then leases may have been taken, and are due again when they end
 */
export async function claimDue(most: number, held: Iterable<string>, takesSuspect = true): Promise<DueRuns> {
  const values = [claimName(), settings().PROJECT_CONCURRENCY, [...held], most, takesSuspect];
  const { rows } = await pool().query<ClaimedRow & { more: boolean }>({ name: "run-claim-due", text: CLAIM_DUE, values });
  return {
    runs: rows.flatMap(({ more, ...row }) => {
      const { holder, id, project_id, crashes } = row;
      return id ? [{ holder, id, project_id, isSuspect: crashes === MAX_CRASHES - 1, claim: () => stateOf(row) }] : [];
    }),
    hasMore: rows[0]?.more ?? false,
  };
}

/** Keeps a lease. False when it is lost. */
export async function renew(run: RunState): Promise<boolean> {
  return (await query("run-renew", RENEW, [run.id, run.holder])).length > 0;
}

/** Seconds until a released run is due. */
function delayOf(next: NextClaim): number {
  if (next.kind === "delayed") return next.seconds;
  return next.kind === "retry" || next.kind === "fault" ? LATER_SECONDS : 0;
}

/** Implements `RunStore.release`. */
export const release: RunStore["release"] = async (run, next) => {
  const isIdle = next.kind === "idle";
  const seconds = isEmbeddedExecutor() ? delayOf(next) : SERVER_GOES_ON_SECONDS;
  const values = [run.id, run.holder, isIdle ? next.run_at : null, seconds, isIdle, next.kind === "fault" ? 1 : 0];
  const [row] = await query<{ is_due: boolean }>("run-release", RELEASE, values);
  return row?.is_due ?? false;
};

/**
 * Makes the runs due whose leases a process held that is dead, without waiting for the leases to end. They count as not given
 * back. Only for the process that holds the data folder alone, at its start.
 * @param name of the data folder, which the names of such leases bear; left out, every lease is a dead process's
 */
export async function freeLeases(name = ""): Promise<void> {
  await pool().query(
    `UPDATE executions SET lease_until = ${NOW}, run_at = ${NOW}
     WHERE lease_until > now() AND strpos(lease_owner, $1) > 0 AND status NOT IN ${FINAL}`,
    [name],
  );
}
