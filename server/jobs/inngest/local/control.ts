import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { type Clock, millis } from "#server/jobs/inngest/local/clock.ts";
import { log } from "#server/platform/log.ts";

/** A worker whose lock is free is looked at again after this time; a living one has taken it back by then. */
const SUSPICION_MS = 1000;
const MAX_BACKOFF_MS = 5000;
/** What a worker tells the others when it comes. */
const JOINED = "joined";

export interface Control {
  /** This executor's number as an owner of leases; another one after it was given up for dead. */
  owner(): number | undefined;
  /** True when there is no other worker, as far as this one knows: it hears of each that comes, and looks at each heartbeat. */
  isAlone(): boolean;
  /** Gives all leases back and closes the connection. */
  stop(): Promise<void>;
}

interface Beat {
  alive: boolean;
  suspects: number[];
  freed: number;
  workers: number;
}

/**
 * The executor's own connection: it holds the advisory lock that proves the process alive, listens for work, says
 * regularly that it lives and frees the leases of dead workers. It reconnects by itself.
 * @param heartbeatMs well below the 10 s after which a silent worker counts as dead
 * @param wake called when there may be work; with true after a new connection, when the database may have crashed and
 *   gone back to an earlier moment
 * @throws the database's error when the first connection fails
 */
export async function startControl(pool: pg.Pool, clock: Clock, heartbeatMs: number, wake: (isNew: boolean) => void): Promise<Control> {
  const { options } = pool;
  let owner: number | undefined;
  let isAlone = false;
  /** How many workers have said that they come, this one included. */
  let arrivals = 0;
  let suspects: number[] = [];
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let reconnecting: Promise<void> | undefined;

  async function connect(): Promise<void> {
    // The pool hides the password from a spread.
    const opened = new pg.Client({
      ...options,
      ...(options.password !== undefined && { password: options.password }),
      keepAlive: true,
      query_timeout: 8000,
    });
    let failed = false;
    const lost = (error?: Error): void => {
      if (failed || stopped) return;
      failed = true;
      isAlone = false;
      if (client === opened) {
        log.warn({ err: error }, "the embedded executor has lost its connection to the database");
        recover();
      }
    };
    opened.on("error", lost);
    opened.on("end", () => lost());
    opened.on("notification", ({ payload }) => {
      if (payload === JOINED) {
        arrivals++;
        isAlone = false;
      }
      wake(false);
    });
    try {
      await opened.connect();
      await opened.query("LISTEN treadle_jobs");
      client = opened;
      await beat(opened);
      // Notifications sent while there was no connection are gone.
      wake(true);
    } catch (error) {
      failed = true;
      client = undefined;
      opened.end().catch(() => undefined);
      throw error;
    }
  }

  async function enlist(on: pg.Client): Promise<void> {
    const { rows } = await on.query<{ id: number }>("INSERT INTO treadle_jobs.workers DEFAULT VALUES RETURNING id");
    owner = rows[0]?.id;
    suspects = [];
    // After the row is there: whoever has not seen it yet hears of it.
    await on.query(`NOTIFY treadle_jobs, '${JOINED}'`);
    await on.query("SELECT pg_try_advisory_lock(7414, $1)", [owner]);
  }

  let locked: pg.Client | undefined;
  async function beat(on: pg.Client): Promise<void> {
    if (owner === undefined) {
      await enlist(on);
      locked = on;
    } else if (locked !== on) {
      // Not granted while the server still keeps the old connection; that proves us alive just as well.
      const { rows } = await on.query<{ got: boolean }>("SELECT pg_try_advisory_lock(7414, $1) AS got", [owner]);
      if (rows[0]?.got) locked = on;
    }
    const known = arrivals;
    const { rows } = await on.query<Beat>(
      "SELECT h.*, (SELECT count(*)::int FROM treadle_jobs.workers) AS workers FROM treadle_jobs.heartbeat($1, $2, $3) h",
      [owner, millis(clock), suspects],
    );
    const result = rows[0];
    // Who has come while this was counted may not be counted.
    isAlone = result?.alive === true && result.workers === 1 && arrivals === known;
    suspects = result?.suspects ?? [];
    if (result?.freed) log.info({ freed: result.freed }, "freed the runs of a worker that has died");
    if (!result?.alive) {
      log.warn({ owner }, "this worker was given up for dead; it goes on as a new one");
      owner = undefined;
      await beat(on);
      wake(true);
      return;
    }
    schedule(on);
  }

  // The server may take a moment to see that a killed process is gone, so a start looks more than once.
  let early = 3;
  function schedule(on: pg.Client): void {
    clearTimeout(timer);
    if (stopped) return;
    const soon = suspects.length > 0 || early-- > 0;
    timer = setTimeout(
      () => {
        beat(on).catch((error: unknown) => {
          if (stopped || client !== on) return;
          log.warn({ err: error }, "the embedded executor could not say that it lives");
          recover();
        });
      },
      soon ? Math.min(SUSPICION_MS, heartbeatMs) : heartbeatMs,
    );
  }

  function recover(): void {
    clearTimeout(timer);
    client?.end().catch(() => undefined);
    client = undefined;
    reconnecting ??= (async () => {
      for (let wait = 100; !stopped && !client; wait = Math.min(wait * 2, MAX_BACKOFF_MS)) {
        await pause(wait);
        if (stopped) return;
        await connect().catch((error: unknown) => log.warn({ err: error }, "the database is away; the embedded executor tries again"));
      }
    })().finally(() => {
      reconnecting = undefined;
    });
  }

  await connect();
  return {
    owner: () => owner,
    isAlone: () => isAlone,
    async stop() {
      stopped = true;
      isAlone = false;
      clearTimeout(timer);
      await reconnecting;
      if (owner !== undefined)
        await pool
          .query("SELECT treadle_jobs.resign($1, $2)", [owner, millis(clock)])
          .catch((error: unknown) => log.warn({ err: error }, "the leases could not be given back"));
      // A server that is away does not answer the goodbye.
      await Promise.race([client?.end().catch(() => undefined), pause(2000, undefined, { ref: false })]);
    },
  };
}
