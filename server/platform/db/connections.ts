import pg from "pg";
import { refuseSecondConnection } from "#server/platform/db/held-connection.ts";
import { messageOf } from "#server/platform/errors.ts";

// A connection that breaks fails the statement under way by itself. It tells so by an error event too, also while it does nothing
// or after its pool has ended, and that would end the process where nobody listens. So nobody else opens one (the check of imports
// says so).

/** What else of the driver is needed where connections are used. */
export const { DatabaseError, escapeIdentifier } = pg;

const ignored = (): undefined => undefined;

/** A connection of one's own, to be opened by `connect()`. */
export function newClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client(config);
  client.on("error", ignored);
  return client;
}

/** Time that a query waits for a connection, in ms: a request without a database is answered within 5 s. */
const CONNECTION_WAIT_MS = 4500;
/** Pause before another try where the server has no connection free, in ms. */
const RETRY_MS = 100;

/** The server's code of "too many connections", of the role, of the database or of all. */
const isRefusedForNow = (error: unknown): boolean => error instanceof DatabaseError && error.code === "53300";

/** Time for which nothing asks a server that did not answer, in ms: a request that needs several connections waits for one only. */
const SILENT_MS = 1000;
const silentAt = new Map<string, number>();
/** Notes that the server of an address does not answer. */
export const noteSilent = (address: string): void => void silentAt.set(address, performance.now());
const isSilent = (address: string): boolean => performance.now() - (silentAt.get(address) ?? Number.NEGATIVE_INFINITY) < SILENT_MS;

type Callback = (error: Error | undefined, client?: pg.PoolClient, release?: pg.PoolClient["release"]) => void;

/** Has a pool wait for a connection while the server has none free, instead of failing at once. */
function waitForFree(pool: pg.Pool, waitMs: number): void {
  const original = pool.connect;
  const { connectionString = "" } = pool.options;
  // With callbacks, as in the driver: each query comes through here, and promises would add to its time.
  const connectOrWait = (until: number, callback: Callback): void => {
    const settle: Callback = (error, client, release) => {
      if (error && /due to connection timeout/.test(messageOf(error))) noteSilent(connectionString);
      const mayRetry = isRefusedForNow(error) && performance.now() + RETRY_MS <= until;
      if (mayRetry) setTimeout(connectOrWait, RETRY_MS, until, callback);
      else callback(error, client, release);
    };
    if (isSilent(connectionString)) callback(new Error("Connection terminated: the server does not answer"));
    else Reflect.apply(original, pool, [settle]);
  };
  const connect = (callback: Callback): void => {
    refuseSecondConnection(pool);
    connectOrWait(performance.now() + waitMs, callback);
  };
  pool.connect = ((callback?: Callback) =>
    callback
      ? connect(callback)
      : new Promise<pg.PoolClient>((resolve, reject) => {
          connect((error, client) => (client ? resolve(client) : reject(error)));
        })) as typeof pool.connect;
}

/** Connections that are opened as they are needed; the next query opens another in place of one that broke. */
export function newPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ connectionTimeoutMillis: CONNECTION_WAIT_MS, ...config });
  pool.on("error", ignored);
  pool.on("connect", (client) => client.on("error", ignored));
  waitForFree(pool, config.connectionTimeoutMillis ?? CONNECTION_WAIT_MS);
  return pool;
}

const probes = new Map<string, Promise<boolean>>();

async function probe(connectionString: string, ms: number): Promise<boolean> {
  const client = newClient({ connectionString, connectionTimeoutMillis: ms });
  try {
    await client.connect();
    return true;
  } catch (error) {
    // It has answered, if only that it has no connection free.
    return isRefusedForNow(error);
  } finally {
    client.end().catch(ignored);
  }
}

/** True when the server accepts a connection within this time. Callers at the same time share one, so that they cannot use all up. */
export function answersWithin(connectionString: string, ms: number): Promise<boolean> {
  const kind = `${ms} ${connectionString}`;
  let asked = probes.get(kind);
  if (!asked) {
    asked = probe(connectionString, ms).finally(() => probes.delete(kind));
    probes.set(kind, asked);
  }
  return asked;
}
