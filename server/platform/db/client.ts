import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { PrismaClient } from "#prisma/generated/client.ts";
import { newPool } from "#server/platform/db/connections.ts";
import { holdingConnection, refuseSecondConnection } from "#server/platform/db/held-connection.ts";
import { watchPool } from "#server/platform/db/outage-watch.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { areHeldConnectionsChecked, settings } from "#server/platform/settings.ts";

/** Prisma gives up after 2 and 5 seconds unless told otherwise: many saves at once on a busy machine are slow, not wrong. */
const PATIENCE = { maxWait: 20_000, timeout: 30_000 };

function open() {
  const { DATABASE_URL, DATABASE_POOL } = settings();
  if (!DATABASE_URL) throw new Error("The database address is not known yet: DATABASE_URL is set by server/main.ts at start.");
  const pool = newPool({ connectionString: DATABASE_URL, max: DATABASE_POOL });
  watchPool(pool);
  const db = new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: PATIENCE });
  if (areHeldConnectionsChecked) markTransactions(db, pool);
  return { pool, db };
}

/** Has transactions of a client count as holding a connection of its pool. */
function markTransactions(db: PrismaClient, pool: pg.Pool): void {
  type Work = (tx: unknown) => Promise<unknown>;
  const begin = db.$transaction.bind(db) as (work: Work, options?: object) => Promise<unknown>; // cast: one of its overloads
  const marked = (work: Work, options?: object) => begin((tx) => holdingConnection(pool, () => work(tx)), options);
  db.$transaction = marked as typeof db.$transaction; // cast: no caller passes a list of queries
}

let opened: ReturnType<typeof open> | undefined;

function connection() {
  opened ??= open();
  return opened;
}

/** The Prisma client of this process, opened at first use. */
export function db(): PrismaClient {
  const { db: client, pool: from } = connection();
  // Refused here too, where the stack still names the caller.
  refuseSecondConnection(from);
  return client;
}

/** The pool behind it, for the hot paths that are written in SQL (runs and their results, jobs). */
export const pool = (): pg.Pool => connection().pool;

/**
 * Lends one connection, for what needs several statements on the same one. A connection that breaks meanwhile fails the
 * statement under way and is thrown away.
 */
export async function withClient<Result>(work: (client: pg.PoolClient) => Promise<Result>, from: pg.Pool = pool()): Promise<Result> {
  const client = await from.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    return await holdingConnection(from, () => work(client));
  } catch (error) {
    // The statement fails before the connection says that it has ended.
    if (isDatabaseAway(error)) broken = error as Error;
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}

/** Lends one connection within a transaction, which is kept when `work` returns and undone when it throws. */
export const inTransaction = <Result>(work: (client: pg.PoolClient) => Promise<Result>, from: pg.Pool = pool()): Promise<Result> =>
  withClient(async (client) => {
    await client.query("BEGIN");
    try {
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }, from);

/** Closes every connection of this process. */
export async function closeDatabase(): Promise<void> {
  const closing = opened;
  opened = undefined;
  await closing?.db.$disconnect();
  await closing?.pool.end().catch(() => undefined);
}
