import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { finalStatuses } from "#server/shared/execution-status.ts";

// What the statements of the store share.

/** How long a lease lasts without being renewed, in seconds. */
export const LEASE_SECONDS = 30;

/** The states in which a run has ended, as an SQL list. */
export const FINAL = `(${finalStatuses.map((status) => `'${status}'`).join(", ")})`;

/** Now, as a time that is kept: those are in whole milliseconds, and one that was rounded up would not be due yet. */
export const NOW = "date_trunc('milliseconds', now())";

/** Condition on `waits w`: it has ended, and its run has not acted on that. */
export const IS_UNTAKEN = "w.status IN ('resolved', 'expired') AND w.taken_at IS NULL";

/** Tells the processes that execute runs that one is due. */
export const TELL_DUE = "pg_notify('treadle_due', '')";

/**
 * Queues a run of a saved version that has ended, in the statement that ends it, if widgets read its workflow: nothing is lost, and
 * a run that nobody shows costs a look into an index. An expression to be selected.
 * @param run the id of the run, of its workflow and its version, as expressions; null for the version of one that is not to be queued
 */
export const queueForReadings = (run: { id: string; workflow_id: string; version: string }): string => `
  CASE WHEN ${run.version} IS NOT NULL AND EXISTS (SELECT FROM readings r WHERE r.workflow_id = ${run.workflow_id})
    THEN queue_for_readings(${run.id}, ${run.workflow_id}) END AS queued`;

/** The lock of a project, under which its runs are counted: those of the last hour, and those under way. */
export const projectLock = (project_id: string) => `pg_advisory_xact_lock(hashtextextended('executions-per-hour:' || ${project_id}, 0))`;

/** How long a read is tried again while the database is away, in milliseconds. */
const OUTAGE_MS = 20_000;

/**
 * Retries `work` during a database outage: for 20 s or, if given, until `signal` fires. A finished model call is worth the wait, and no
 * process can claim the lease meanwhile.
 */
export async function retryDuringOutage<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const until = Date.now() + OUTAGE_MS;
  for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
    try {
      return await work();
    } catch (error) {
      const isOver = signal ? signal.aborted : Date.now() + delay > until;
      if (!isDatabaseAway(error) || isOver) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

/** Runs a statement, and again during a database outage; see `retryDuringOutage`. */
export const retryQuery = <Row extends pg.QueryResultRow>(statement: pg.QueryConfig, signal?: AbortSignal): Promise<Row[]> =>
  retryDuringOutage(async () => (await pool().query<Row>(statement)).rows, signal);

/** The same for a statement whose values stand apart. */
export const query = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[], signal?: AbortSignal): Promise<Row[]> =>
  retryQuery({ name, text, values }, signal);
