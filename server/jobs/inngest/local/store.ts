import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { StepRow } from "#server/jobs/inngest/local/call.ts";
import { ulid } from "#server/jobs/inngest/local/ids.ts";
import { ingestWithin, isStale } from "#server/jobs/inngest/local/ingest.ts";
import type { StepChange } from "#server/jobs/inngest/local/ops.ts";
import { prepared, type Queryable, transaction } from "#server/jobs/inngest/local/query.ts";
import { readRegistry, registry } from "#server/jobs/inngest/local/registry.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";

export interface ClaimedRun {
  id: string;
  fn_id: string;
  event: string;
  attempt: number;
  crashes: number;
  epoch: number;
  discover: boolean;
  steps: StepRow[] | null;
}
type ClaimRow = (ClaimedRun & { next_due: null }) | { id: null; next_due: number | null };

/**
 * Leases up to `limit` due runs of the given functions to a worker.
 * @returns them, and when the next one or the next cron tick is due (ms since 1970; at or before `now` when there is more)
 */
export async function claim(pool: pg.Pool, owner: number, fns: string[], now: number, limit: number) {
  const rows = await prepared<ClaimRow>(pool, "claim", "SELECT * FROM treadle_jobs.claim($1, $2, $3, $4)", [owner, fns, now, limit]);
  const runs: ClaimedRun[] = [];
  let next: number | null = null;
  for (const row of rows) {
    if (row.id === null) next = row.next_due;
    else runs.push(row);
  }
  return { runs, next };
}

/**
 * Gives up runs that the worker holds but does not drive. Must not run beside a claim of the same worker.
 * @returns how many
 */
export async function disown(pool: pg.Pool, owner: number, driven: string[], now: number): Promise<number> {
  const rows = await prepared<{ given: number }>(pool, "disown", "SELECT treadle_jobs.disown($1, $2, $3) AS given", [owner, driven, now]);
  return rows[0]?.given ?? 0;
}

export interface Lease {
  run: string;
  owner: number;
  epoch: number;
}

export interface Write {
  mode: "keep" | "release" | "retry" | "completed" | "failed";
  now: number;
  steps?: StepChange[];
  /** The write ends a call of the function that was not for one step. */
  discovered?: boolean;
  /** In mode keep: answer with what was memoized after this order number. */
  after?: number;
  due?: number;
  attempt?: number;
  output?: string;
}

export interface Written {
  /** lost: the lease is another's or the run has ended, and nothing was written. */
  status: "ok" | "lost";
  next_due: number | null;
  steps: StepRow[] | null;
  discover: boolean | null;
}

const APPLY = "SELECT * FROM treadle_jobs.apply($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

/** Writes under a lease in one transaction; see the SQL function `apply`. */
export async function apply(on: Queryable, lease: Lease, write: Write): Promise<Written> {
  const steps = write.steps?.length ? write.steps : undefined;
  const names = steps?.flatMap((step) => (step.state === "wait" && step.event !== undefined ? [step.event] : []));
  const values = [
    lease.run,
    lease.owner,
    lease.epoch,
    write.now,
    write.mode,
    write.discovered ?? false,
    write.after ?? null,
    steps ? JSON.stringify(steps) : null,
    names?.length ? names : null,
    write.due ?? null,
    write.attempt ?? null,
    write.output ?? null,
  ];
  const rows = await prepared<Written>(on, "apply", APPLY, values);
  return rows[0] ?? { status: "lost", next_due: null, steps: null, discover: null };
}

const FAILED = "inngest/function.failed";

/** Ends a run as failed and, in the same transaction, starts the onFailure function. */
async function fail(pool: pg.Pool, lease: Lease, fnId: string, runEvent: string, write: Write): Promise<Written> {
  for (;;) {
    const heard = (await registry(pool)).triggers.has(FAILED);
    if (!heard) return apply(pool, lease, write);
    try {
      return await transaction(pool, async (client) => {
        const original: unknown = JSON.parse(runEvent);
        const data = {
          function_id: fnId,
          run_id: lease.run,
          error: JSON.parse(write.output ?? "null") as unknown,
          event: original,
          events: [original],
        };
        const event = { name: FAILED, id: ulid(write.now), ts: write.now, data };
        // Events before runs: the order in which locks are taken everywhere.
        await client.query("SELECT pg_advisory_xact_lock_shared(7412, hashtext($1))", [FAILED]);
        const written = await apply(client, lease, write);
        if (written.status === "ok") await ingestWithin(client, await readRegistry(client), [{ event, named: false }], write.now);
        return written;
      });
    } catch (error) {
      if (!isStale(error)) throw error;
    }
  }
}

/**
 * Like `apply`, but waits for a database that is away, until the write succeeds or `abandoned` says so.
 * @param runEvent the event of the run as JSON text, for onFailure
 */
export async function applyUntilDone(
  pool: pg.Pool,
  lease: Lease,
  fnId: string,
  runEvent: string,
  write: Write,
  abandoned: () => boolean,
): Promise<Written> {
  for (let wait = 50; ; wait = Math.min(wait * 2, 2000)) {
    try {
      return write.mode === "failed" ? await fail(pool, lease, fnId, runEvent, write) : await apply(pool, lease, write);
    } catch (error) {
      if (abandoned()) return { status: "lost", next_due: null, steps: null, discover: null };
      if (!isDatabaseAway(error)) throw error;
      log.warn({ run: lease.run, err: error }, "the database is away; the result of a step waits for it");
      await pause(wait);
    }
  }
}
