import { AsyncResource } from "node:async_hooks";
import type pg from "pg";
import { type Clock, millis, systemClock } from "#server/jobs/inngest/local/clock.ts";
import { type Control, startControl } from "#server/jobs/inngest/local/control.ts";
import { fireCrons } from "#server/jobs/inngest/local/cron.ts";
import { type DriveContext, drive, type FirstStep } from "#server/jobs/inngest/local/drive.ts";
import { announceExecutor } from "#server/jobs/inngest/local/here.ts";
import { ingestWithin } from "#server/jobs/inngest/local/ingest.ts";
import { type LocalFunction, readRegistry, register } from "#server/jobs/inngest/local/registry.ts";
import { deleteExpired } from "#server/jobs/inngest/local/retention.ts";
import { installJobSchema } from "#server/jobs/inngest/local/schema.ts";
import { type ClaimedRun, claim, disown } from "#server/jobs/inngest/local/store.ts";
import { pool as sharedPool } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";

const HEARTBEAT_MS = 3000;
const SLOW_POLL_MS = 30_000;
const RETENTION_MS = 60_000;

export interface LocalExecutorOptions {
  /** The SDK's `serve()` handler of "inngest/edge". */
  handler: (request: Request) => Promise<Response>;
  /** Runs that are driven at once in this process. */
  concurrency: number;
  /** Of functions by their id (`<app>-<function>`). */
  firstSteps?: Readonly<Record<string, FirstStep>>;
  clock?: Clock;
  pool?: pg.Pool;
  /** How often this process says that it lives and looks for dead ones; 3 s. */
  heartbeatMs?: number;
}

export interface LocalExecutor {
  /** Looks again for due work, as after a test has moved the clock. */
  poke(): void;
  /** True while no other executor works on the database, as far as this one knows. */
  isAlone(): boolean;
  /** Deletes what is past its time now; otherwise it happens every minute. */
  clean(): Promise<number>;
  /** Claims nothing more, lets running calls end within `graceMs` (default 0) and gives the rest back. */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Starts the executor that stands where an Inngest server would: it installs its schema, registers the handler's
 * functions and drives their runs until it is stopped. Any number may work on one database.
 * @throws Error when the database is away, the handler refuses to register, or a function cannot be served
 */
export async function startLocalExecutor(options: LocalExecutorOptions): Promise<LocalExecutor> {
  const { handler, concurrency } = options;
  const clock = options.clock ?? systemClock;
  const pool = options.pool ?? sharedPool();
  const now = (): number => millis(clock);

  await installJobSchema(pool);
  const fns = await register(pool, handler, now(), async (client, payloads) => {
    const known = await readRegistry(client);
    await ingestWithin(
      client,
      known,
      payloads.map((text) => ({ event: JSON.parse(text), named: true })),
      now(),
    );
  });
  const functions: Map<string, LocalFunction> = (await readRegistry(pool)).functions;

  /** Run ids with what drives them. */
  const active = new Map<string, Promise<void>>();
  let draining = false;
  let abandoned = false;
  let looking = false;
  let lookAgain = false;
  let saturated = false;
  let doubtful = false;
  let timer: NodeJS.Timeout | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;
  let misses = 0;
  let control: Control | undefined;

  /** Wakes at a time of the clock, or earlier when something earlier is known already. */
  function arm(at: number | null): void {
    const next = Math.min(at ?? Number.POSITIVE_INFINITY, now() + SLOW_POLL_MS);
    if (draining || (timer && wakeAt <= next)) return;
    clearTimeout(timer);
    wakeAt = next;
    timer = setTimeout(
      () => {
        // Nothing for a long time: a good moment to look whether the tables and this process agree.
        doubtful ||= at !== next;
        disarmAndPoke();
      },
      Math.max(next - now(), 1),
    );
  }
  function disarm(): void {
    clearTimeout(timer);
    timer = undefined;
    wakeAt = Number.POSITIVE_INFINITY;
  }
  function disarmAndPoke(): void {
    disarm();
    poke();
  }

  function start(run: ClaimedRun, owner: number): void {
    const fn = functions.get(run.fn_id);
    if (!fn) return;
    const context: DriveContext = {
      pool,
      handler,
      now,
      owner,
      draining: () => draining,
      abandoned: () => abandoned,
      firstSteps: options.firstSteps,
    };
    const driven = drive(run, fn, context)
      .catch((error: unknown) => {
        log.error({ err: error, run: run.id, fn: run.fn_id }, "a run could not be driven; it is tried again");
        doubtful = true;
        return now();
      })
      .then((due) => {
        active.delete(run.id);
        if (saturated || (due !== null && due <= now())) poke();
        else if (due !== null) arm(due);
      });
    active.set(run.id, driven);
  }

  /** Statements under way that may lease a run to this process. */
  let offers = 0;
  /** Runs that a claim under way may bring. */
  let claiming = 0;
  let disowning = false;
  const retract = announceExecutor(pool, {
    offer() {
      const owner = control?.owner();
      if (owner === undefined || draining || disowning || concurrency - active.size - offers - claiming <= 0) return undefined;
      offers++;
      return owner;
    },
    // Whoever stores an event may be answering a web request; the run is none of that request's business.
    took: AsyncResource.bind((owner: number, run: ClaimedRun | null) => {
      offers--;
      const isOurs = run !== null && owner === control?.owner() && functions.has(run.fn_id) && !draining;
      if (isOurs) start(run, owner);
      doubtful ||= run !== null && !isOurs;
      if (saturated || doubtful) poke();
    }),
    lost: AsyncResource.bind(() => {
      offers--;
      doubtful = true;
      poke();
    }),
  });

  async function look(): Promise<void> {
    const owner = control?.owner();
    const free = concurrency - active.size - offers;
    saturated = free <= 0;
    if (owner === undefined || saturated) return;
    const at = now();
    if (doubtful && offers === 0) {
      // No claim and no offer is under way here, so what the tables say beyond the driven runs is left over.
      disowning = true;
      const given = await disown(pool, owner, [...active.keys()], at).finally(() => {
        disowning = false;
      });
      if (given) log.warn({ runs: given }, "gave up leases that nothing used");
      doubtful = false;
    }
    // Half of what is free: the other half is for runs that are taken at once meanwhile. What is left over is claimed next.
    claiming = Math.min(Math.ceil((concurrency - active.size - offers) / 2), 50);
    let claimed: Awaited<ReturnType<typeof claim>>;
    try {
      claimed = await claim(pool, owner, fns, at, Math.max(claiming, 0));
      for (const run of claimed.runs) start(run, owner);
    } finally {
      claiming = 0;
    }
    const { runs, next } = claimed;
    if (next === null || next > at) {
      misses = 0;
      arm(next);
      return;
    }
    const fired = await fireCrons(pool, fns, at);
    saturated = active.size >= concurrency;
    if (saturated) return;
    if (runs.length || fired) {
      misses = 0;
      lookAgain = true;
    } else {
      // Due but not to be had: another executor is taking it at this moment.
      misses++;
      arm(at + Math.min(10 * 2 ** misses, 1000));
    }
  }

  function poke(): void {
    if (draining) return;
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    void (async () => {
      try {
        do {
          lookAgain = false;
          disarm();
          await look();
        } while (lookAgain && !draining);
      } catch (error) {
        misses++;
        doubtful = true; // The claim may have been made although its answer did not come.
        log.warn({ err: error }, "the embedded executor could not look for work");
        arm(now() + Math.min(50 * 2 ** misses, 5000));
      } finally {
        looking = false;
      }
    })();
  }

  control = await startControl(pool, clock, options.heartbeatMs ?? HEARTBEAT_MS, (isNew) => {
    // Runs that this process has ended may be its own again by the tables; nobody else would take them up.
    doubtful ||= isNew;
    poke();
  });
  const clean = (): Promise<number> => deleteExpired(pool, now(), () => !draining);
  const cleaner = setInterval(() => {
    clean().catch((error: unknown) => log.warn({ err: error }, "old runs could not be deleted"));
  }, RETENTION_MS);
  poke();

  return {
    poke: disarmAndPoke,
    isAlone: () => control?.isAlone() ?? false,
    clean,
    async stop(graceMs = 0) {
      draining = true;
      retract();
      clearInterval(cleaner);
      disarm();
      let late: NodeJS.Timeout | undefined;
      const grace = new Promise<void>((resolve) => {
        late = setTimeout(resolve, graceMs);
      });
      const idle = async (): Promise<void> => {
        while (looking) await new Promise((resolve) => setTimeout(resolve, 5));
        while (active.size) await Promise.allSettled(active.values());
      };
      await Promise.race([idle(), grace]);
      clearTimeout(late);
      abandoned = true;
      await control?.stop();
    },
  };
}
