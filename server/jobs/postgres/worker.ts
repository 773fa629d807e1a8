import EventEmitter from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Cron } from "croner";
import { parseCronItems, type Runner, run, type Task, type WorkerEvents, type WorkerPool } from "graphile-worker";
import { NonRetriableError } from "inngest";
import { addJobs, keyOf, type NewJob, type Payload, SCHEMA } from "#server/events/job-rows.ts";
import type { Job } from "#server/jobs/job.ts";
import { runHandler } from "#server/jobs/postgres/run-handler.ts";
import { openPool, Session } from "#server/jobs/postgres/session.ts";
import { workerLog } from "#server/jobs/postgres/worker-log.ts";
import { log } from "#server/platform/log.ts";

/** How often the tables are looked at for jobs whose time has come and for workers that have died, in milliseconds. */
const LOOK_MS = 2000;
/** A worker is dead that has been found without its connection so many times in a row. */
const SILENT_LOOKS = 2;
/** Each idle worker asks by itself this often; it is told of new jobs, and `look` finds those that have come due. */
const POLL_MS = 600_000;
const BACKOFF_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 2400, 3600, 7200];

const HOLDERS = `SELECT DISTINCT locked_by AS name FROM ${SCHEMA}.jobs WHERE locked_by IS NOT NULL`;
const FORGET = `
  SELECT ${SCHEMA}.complete_jobs(ARRAY(SELECT id FROM ${SCHEMA}.jobs WHERE key IS NULL AND locked_at IS NULL AND attempts >= max_attempts))`;

export interface JobWorker {
  /** Starts nothing more, lets handlers end within `graceMs` and leaves the others to whoever comes next. */
  stop(graceMs: number): Promise<void>;
}

/** How far a job's times of the clock are apart, in milliseconds. */
function periodOf(cron: string): number {
  const [one, next] = new Cron(cron, { paused: true, timezone: "UTC" }).nextRuns(2);
  return one && next ? next.getTime() - one.getTime() : 0;
}

/** When a job that has failed so many times before is tried again; up to a tenth later, so that those of one outage spread. */
function retryAt(failed: number): Date {
  const seconds = BACKOFF_SECONDS[failed] ?? BACKOFF_SECONDS.at(-1) ?? 0;
  return new Date(Date.now() + seconds * 1000 * (1 + Math.random() / 10));
}

/** What the slots of a limited job are counted under, by its data. */
function concurrencyKey({ id, concurrency }: Job, data: unknown): string {
  const field = concurrency?.key?.slice("event.data.".length);
  return field && data && typeof data === "object" ? `${id}:${Reflect.get(data, field)}` : id;
}

/**
 * Runs jobs in this process until it is stopped; any number of processes may work on one database.
 * @param options.concurrency jobs that run at once in this process
 * @param options.isAlone no other process can be alive, so whatever is held belongs to dead ones
 * @throws the database's error at the start; later it is waited for
 */
export async function startJobWorker(options: {
  jobs: readonly Job[];
  databaseUrl: string;
  concurrency: number;
  isAlone: boolean;
}): Promise<JobWorker> {
  const { jobs, databaseUrl, concurrency, isAlone } = options;
  const pool = openPool(databaseUrl);
  const session = new Session(pool);
  const events: WorkerEvents = new EventEmitter();
  let workers: WorkerPool | undefined;
  let isDraining = false;
  /** How jobs under way are left to others. */
  const active = new Set<() => Promise<void>>();
  let isOver = false;
  /** Keys whose slots were all taken when they were last asked for, and until when that is believed. */
  const full = new Map<string, number>();

  events.on("pool:create", ({ workerPool }) => {
    workers = workerPool;
    session.hold(workerPool.id).catch(() => undefined); // held with the next connection, then
  });

  /** One try of a job. */
  const tryOf =
    (job: Job, task: string): Task =>
    async (untyped, { job: row }) => {
      // One of the clock has no event.
      const payload: Payload =
        "event" in job.trigger ? (untyped as Payload) : { id: "clock", data: {}, failed: 0, steps: {}, ...Object(untyped) };
      // A death of the process counts as a failure.
      const failed = payload.failed + row.attempts - 1;
      const leave = ({ key, run_at, flags, ...changed }: Partial<Payload> & Partial<NewJob>) =>
        addJobs(pool, [
          {
            task,
            key: key ?? keyOf(task, payload.id),
            payload: { id: payload.id, data: payload.data, steps: payload.steps, failed, ...changed },
            run_at: run_at ?? new Date(),
            ...(flags && { flags }),
          },
        ]);
      const giveUp = async (error: Error) => {
        if (!job.onFailure) log.error({ err: error, job: job.id }, "a job has failed");
        await job.onFailure?.({ event: { data: payload.data }, error });
      };
      const parsed = "event" in job.trigger ? job.trigger.event.schema.safeParse(payload.data) : undefined;
      if (parsed?.success === false) return log.error({ err: parsed.error, job: job.id }, "an event is not what it should be");
      if (failed > job.retries) return giveUp(new Error("The process that ran this job ended each time before it could report."));

      const key = concurrencyKey(job, payload.data);
      const releaseSlot = job.concurrency && (await session.takeSlot(key, job.concurrency.limit));
      if (job.concurrency && !releaseSlot) {
        full.set(key, Date.now() + LOOK_MS);
        return leave({ flags: [key], steps: payload.steps, ...(payload.waiting && { waiting: payload.waiting }) });
      }
      const abandon = () => leave({});
      active.add(abandon);
      try {
        await runHandler(job, payload, { isDraining: () => isDraining, leave: ({ at, ...later }) => leave({ run_at: at, ...later }) });
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        if (failed >= job.retries || error instanceof NonRetriableError) await giveUp(error);
        else {
          log.warn({ err: error, job: job.id, failed: failed + 1 }, "a job has failed, it is tried again");
          await leave({ failed: failed + 1, run_at: retryAt(failed) });
        }
      } finally {
        active.delete(abandon);
        releaseSlot?.();
        if (full.delete(key)) workers?.nudge(1);
      }
    };
  // After the end nobody hears how a try has ended that was left to others.
  const taskOf =
    (job: Job, task: string): Task =>
    async (...args) => {
      try {
        await tryOf(job, task)(...args);
      } catch (error) {
        if (!isOver) throw error;
      }
      if (isOver) await new Promise(() => undefined);
    };

  const tasks: Record<string, Task> = {};
  for (const job of jobs) {
    const task = "event" in job.trigger ? job.trigger.event.name : job.id;
    if (task in tasks) throw new Error(`Two jobs begin with ${task}.`);
    tasks[task] = taskOf(job, task);
  }
  const crons = parseCronItems(
    jobs.flatMap(({ id, trigger }) => {
      if (!("cron" in trigger)) return [];
      const jobKey = keyOf(id, "clock");
      // The last time that nobody saw is made up for; those before it are past.
      return [{ task: id, identifier: id, match: trigger.cron, options: { backfillPeriod: periodOf(trigger.cron), jobKey } }];
    }),
  );

  /** Gives the jobs of workers back; those that were queued again meanwhile are done with. */
  const free = async (names: string[]) => {
    await pool.query(`SELECT ${SCHEMA}.force_unlock_workers($1)`, [names]);
    await pool.query(FORGET);
  };
  const start = (): Promise<Runner> =>
    run({
      pgPool: pool,
      schema: SCHEMA,
      taskList: tasks,
      parsedCronItems: crons,
      concurrency,
      pollInterval: POLL_MS,
      // At once, but through its batches: only there a database that is away when a job ends is an error that somebody handles.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      noHandleSignals: true,
      logger: workerLog,
      events,
      forbiddenFlags: () => (full.size ? [...full.keys()] : null),
    });

  if (isAlone) await free((await pool.query<{ name: string }>(HOLDERS)).rows.map(({ name }) => name));
  let runner = await start();
  // It ends by itself when it cannot say that a job is done, as while the database is away.
  const running = (async () => {
    for (;;) {
      const ended = workers;
      await runner.promise.catch(() => undefined);
      if (isDraining) return;
      log.warn("the worker for jobs has stopped, another one takes its place");
      // What it could not say of its jobs the next one finds out: it is as good as dead.
      if (ended) session.letGo(ended.id);
      for (;;) {
        await pause(LOOK_MS);
        if (isDraining) return;
        try {
          runner = await start();
          break;
        } catch (error) {
          log.warn({ err: error }, "the worker for jobs could not start, it tries again");
        }
      }
    }
  })();

  let silent = new Map<string, number>();
  let looking: Promise<void> | undefined;
  const look = async () => {
    try {
      const found = await session.look(concurrency);
      silent = new Map(found.silent.map((name) => [name, (silent.get(name) ?? 0) + 1]));
      const dead = found.silent.filter((name) => (silent.get(name) ?? 0) >= SILENT_LOOKS);
      if (dead.length) {
        await free(dead);
        log.info({ workers: dead.length }, "freed the jobs of workers that have died");
      }
      for (const [key, until] of full) if (until <= Date.now()) full.delete(key);
      if (found.due + dead.length) workers?.nudge(found.due + dead.length);
    } catch (error) {
      log.debug({ err: error }, "the jobs could not be looked at, the next look tries again");
    }
  };
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }, LOOK_MS);

  return {
    async stop(graceMs) {
      isDraining = true;
      clearInterval(timer);
      const ended = Promise.all([runner.stop().catch(() => undefined), running, looking]);
      await Promise.race([ended, pause(graceMs, undefined, { ref: false })]);
      try {
        await Promise.all([...active].map((abandon) => abandon()));
        if (active.size && workers) await free([workers.id]);
      } catch (err) {
        log.warn({ err }, "jobs could not be left to others, who find them within seconds");
      }
      isOver = true;
      session.close();
      // A server that is away does not answer the goodbye.
      await Promise.race([pool.end(), pause(2000, undefined, { ref: false })]);
    },
  };
}
