import type { JobEvent } from "#server/events/events.ts";
import { SCHEMA, storeEvents } from "#server/events/job-rows.ts";
import { queuedJobs } from "#server/jobs/definitions.ts";
import type { Job } from "#server/jobs/job.ts";
import { type JobWorker, startJobWorker } from "#server/jobs/postgres/worker.ts";
import { pool } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";

/** Runs jobs, of the product unless others are given, on the test's database, as a process of the embedded default does. */
export const startTestJobs = (some = queuedJobs): Promise<JobWorker> =>
  startJobWorker({ jobs: some, databaseUrl: settings().DATABASE_URL ?? "", concurrency: 5, isAlone: false });

/** Has every job that waits for its time run now, as if that time had come. */
export async function hurryJobs(): Promise<void> {
  await pool().query(
    `SELECT ${SCHEMA}.reschedule_jobs(ARRAY(SELECT id FROM ${SCHEMA}.jobs WHERE locked_at IS NULL AND run_at > now()), run_at => now())`,
  );
}

/** As if the clock had last been looked at an hour ago. */
export async function missTicks(): Promise<void> {
  await pool().query(`UPDATE ${SCHEMA}._private_known_crontabs SET known_since = now() - interval '1 hour', last_execution = NULL`);
}

/** An adapter with what stands behind it. */
export interface Carrier {
  /** Another process that runs these jobs. */
  start(jobs: readonly Job[]): Promise<void>;
  /** Ends all of them, and lets their handlers end. */
  stop(): Promise<void>;
  send(...events: JobEvent[]): Promise<void>;
  /** Has everything happen now that waits for its time. */
  hurry(): Promise<void>;
  /** As if a time of the clock had come that this job begins at. */
  tick(jobs: readonly Job[]): Promise<void>;
}

/** graphile-worker on the test's database. */
export function postgresCarrier(): Carrier {
  const workers: JobWorker[] = [];
  const stop = async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(5000)));
  };
  return {
    async start(some) {
      workers.push(await startTestJobs(some));
    },
    stop,
    send: (...events) => storeEvents(pool(), events),
    hurry: hurryJobs,
    async tick(some) {
      await (await startTestJobs(some)).stop(5000); // known from now on
      await missTicks();
    },
  };
}
