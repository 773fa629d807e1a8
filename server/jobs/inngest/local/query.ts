import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { inTransaction } from "#server/platform/db/client.ts";

export type Queryable = Pick<pg.Pool, "query">;

// Deadlock and serialization failure: the same statement works when it is sent again.
const REPEAT = new Set(["40P01", "40001"]);
const codeOf = (error: unknown): string => (error && typeof error === "object" ? String(Reflect.get(error, "code") ?? "") : "");

/**
 * Runs a prepared statement, again after a deadlock.
 * @param name names the prepared statement; the same name must always carry the same text
 */
export async function prepared<R extends pg.QueryResultRow>(on: Queryable, name: string, text: string, values: unknown[]): Promise<R[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await on.query<R>({ name: `tj_${name}`, text, values })).rows;
    } catch (error) {
      if (attempt > 5 || !REPEAT.has(codeOf(error))) throw error;
      await pause(Math.random() * 10 * attempt);
    }
  }
}

/** Runs `work` on one connection in a transaction, again after a deadlock. */
export async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(work, pool);
    } catch (error) {
      // 25P02: a statement after the one that met the deadlock.
      if (attempt > 5 || !(REPEAT.has(codeOf(error)) || codeOf(error) === "25P02")) throw error;
      await pause(Math.random() * 10 * attempt);
    }
  }
}
