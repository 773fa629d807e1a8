import type pg from "pg";
import { SCHEMA } from "#server/events/job-rows.ts";
import { JOB_CONNECTIONS } from "#server/platform/db/connection-needs.ts";
import { newPool } from "#server/platform/db/connections.ts";

const QUERY_MS = 8000;

/** A pool of its own, so that jobs are taken and ended however busy the others are. */
export function openPool(connectionString: string): pg.Pool {
  return newPool({
    connectionString,
    max: JOB_CONNECTIONS,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    // Longer than the minute between two jobs of the clock, or connections are opened anew for each.
    idleTimeoutMillis: 90_000,
    query_timeout: QUERY_MS,
    // A crash of the database takes a job back to an earlier state at worst, and every handler can be run again.
    onConnect: (client) => client.query("SET synchronous_commit = off").then(() => undefined),
  });
}

/** Class of the advisory locks that prove workers alive; their other half is made of the worker's name. */
const ALIVE = 7415;

// The server notices within half a minute when a machine has gone away without a word.
const KEEP_ALIVE =
  "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)";

// With a name, so that it is planned once: nothing else is asked as often.
const LOOK = {
  name: "jobs-look",
  text: `
  SELECT
    (SELECT count(*)::int FROM (
      SELECT FROM ${SCHEMA}.jobs WHERE run_at <= now() AND locked_at IS NULL AND attempts < max_attempts LIMIT $1) d) AS due,
    ARRAY(SELECT DISTINCT locked_by FROM ${SCHEMA}.jobs WHERE locked_by IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = ${ALIVE} AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.objid::bigint = hashtext(locked_by)::bigint & 4294967295)) AS silent`,
};

// CASE, since a lock that this session holds already would be granted to it once more.
const TAKE =
  "SELECT n FROM generate_series(1, $2::int) n WHERE CASE WHEN n = ANY ($3) THEN false ELSE pg_try_advisory_lock(hashtext($1), n) END LIMIT 1";

/**
 * One connection of a worker that lives as long as it does, and whose advisory locks say what the worker holds: that it is
 * alive, and slots of limited jobs. PostgreSQL lets them go when the process dies. It is opened again when it breaks.
 */
export class Session {
  readonly #pool: pg.Pool;
  #client: pg.PoolClient | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #names = new Set<string>();
  readonly #taken = new Map<string, Set<number>>();
  #isClosed = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Says that the worker of this name is alive, from now on. */
  async hold(name: string): Promise<void> {
    this.#names.add(name);
    await this.#query("SELECT pg_advisory_lock($1, hashtext($2))", [ALIVE, name]);
  }

  /** Says no longer that it is. */
  letGo(name: string): void {
    this.#names.delete(name);
    this.#query("SELECT pg_advisory_unlock($1, hashtext($2))", [ALIVE, name]).catch(() => undefined);
  }

  /**
   * @param most as many due jobs are counted
   * @returns how many jobs are due, and the workers that hold jobs without being alive now
   */
  async look(most: number): Promise<{ due: number; silent: string[] }> {
    const [row] = await this.#query<{ due: number; silent: string[] }>(LOOK, [most]);
    return row ?? { due: 0, silent: [] };
  }

  /**
   * Takes one of `limit` slots under that key, over all processes.
   * @returns gives it back, or undefined: there is none
   */
  async takeSlot(key: string, limit: number): Promise<(() => void) | undefined> {
    const taken = this.#taken.get(key) ?? new Set();
    this.#taken.set(key, taken);
    // In turns, so that two of this process never ask for the same slot.
    const [row] = await this.#query<{ n: number }>(
      TAKE,
      () => [key, limit, [...taken]],
      (rows) => rows[0] && taken.add(rows[0].n),
    );
    if (!row) return undefined;
    return () => {
      taken.delete(row.n);
      // A connection that broke has let it go already.
      this.#query("SELECT pg_advisory_unlock(hashtext($1), $2)", [key, row.n]).catch(() => undefined);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    this.#client?.release(true);
    this.#client = undefined;
  }

  /** One statement after the other, as a connection takes them. */
  #query<Row extends pg.QueryResultRow>(
    statement: string | { name: string; text: string },
    values: unknown[] | (() => unknown[]),
    then?: (rows: Row[]) => unknown,
  ): Promise<Row[]> {
    const asked = this.#last.then(async () => {
      const client = await this.#connected();
      try {
        const { rows } = await client.query<Row>(statement, typeof values === "function" ? values() : values);
        then?.(rows);
        return rows;
      } catch (error) {
        this.#drop();
        throw error;
      }
    });
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async #connected(): Promise<pg.PoolClient> {
    if (this.#client) return this.#client;
    if (this.#isClosed) throw new Error("The worker has stopped.");
    const client = await this.#pool.connect();
    client.once("error", () => client === this.#client && this.#drop());
    this.#client = client;
    await client.query(KEEP_ALIVE);
    for (const name of this.#names) await client.query("SELECT pg_advisory_lock($1, hashtext($2))", [ALIVE, name]);
    return client;
  }
}
