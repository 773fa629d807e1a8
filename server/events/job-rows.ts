import type pg from "pg";
import type { JobEvent } from "#server/events/events.ts";

/** The schema of graphile-worker in our database. */
export const SCHEMA = "treadle_worker";

/** What a job of ours keeps in its row. */
export interface Payload {
  /** Of the event; for a job of the clock its own id, and no data. */
  id: string;
  data: unknown;
  /** How many tries have failed. */
  failed: number;
  /** Of steps that sleep or wait: until when (ISO 8601); of those that waited, whether the event came. */
  steps: Record<string, string | boolean>;
  /** The step that the job has been waiting in. */
  waiting?: string;
}

export interface NewJob {
  /** The event's name, or the id of a job of the clock. */
  task: string;
  payload: Payload;
  /** Under this name one job at most is queued. */
  key: string;
  run_at?: Date;
  flags?: string[];
}

/** Under which name a job is queued until it waits. */
export const keyOf = (task: string, id: string): string => `${task}:${id}`;

/** Under which name a job waits for an event. */
export const waitKey = (name: string, value: unknown): string => `${name}=${String(value)}`;

/**
 * Queues rows (task text, key text, payload json, run_at timestamptz, flags text[]), each key once.
 * The time that a queued job is due stays: a repeated event does not cut the pause between two tries short.
 */
export const ADD_ROWS = (rows: string): string => `
  SELECT count(*)::int FROM ${SCHEMA}.add_jobs(
    ARRAY(SELECT ROW(task, payload, NULL, run_at, NULL, key, NULL, flags)::${SCHEMA}.job_spec FROM ${rows}), true)`;

// What a crash of the database may lose is asked for again by whoever looks after the rows; so nobody waits for the disk.
const ADD = `
  WITH unsynced AS (SELECT set_config('synchronous_commit', 'off', true)),
  jobs AS (
    SELECT j.* FROM json_to_recordset($1) AS j(task text, payload json, run_at timestamptz, key text, flags text[]), unsynced
  )
  ${ADD_ROWS("jobs")}`;

const WAKE = `
  WITH woken AS (
    SELECT count(*) FROM ${SCHEMA}.reschedule_jobs(
      ARRAY(SELECT id FROM ${SCHEMA}.jobs WHERE key = ANY($1) AND locked_at IS NULL), run_at => now()) HAVING count(*) > 0
  )
  SELECT pg_notify('jobs:insert', json_build_object('count', count)::text) FROM woken`;

/**
 * Queues jobs.
 * @throws the database's error
 */
export async function addJobs(on: Pick<pg.Pool, "query">, jobs: readonly NewJob[]): Promise<void> {
  // One statement cannot write a row twice.
  const unique = [...new Map(jobs.map((job) => [job.key, job])).values()];
  if (unique.length) await on.query({ name: "jobs-add", text: ADD, values: [JSON.stringify(unique)] });
}

/**
 * Stores events: queues a job for each, or wakes the jobs that wait for it. Needs no worker in this process.
 * @throws the database's error
 */
export async function storeEvents(on: Pick<pg.Pool, "query">, events: readonly JobEvent[]): Promise<void> {
  await addJobs(
    on,
    events
      .filter(({ wakes }) => wakes === undefined)
      .map(({ name, id, data }) => ({ task: name, key: keyOf(name, id), payload: { id, data, failed: 0, steps: {} } })),
  );
  const keys = events.flatMap(({ name, wakes }) => (wakes === undefined ? [] : [waitKey(name, wakes)]));
  if (keys.length) await on.query({ name: "jobs-wake", text: WAKE, values: [keys] });
}
