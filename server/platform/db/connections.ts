import pg from "pg";

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

/** Connections that are opened as they are needed; the next query opens another in place of one that broke. */
export function newPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on("error", ignored);
  pool.on("connect", (client) => client.on("error", ignored));
  return pool;
}
