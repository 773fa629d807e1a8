import { AsyncLocalStorage } from "node:async_hooks";
import type pg from "pg";
import { areHeldConnectionsChecked } from "#server/platform/settings.ts";

// A caller that holds one connection of a pool and waits for a second can wait for ever: once as many such callers as the pool has
// connections hold one each, none gets another. Tests therefore refuse the second connection.

interface Holder {
  pool: pg.Pool;
  /** False once the connection is given back: what the work started may go on after it. */
  isHolding: boolean;
}

const holders = areHeldConnectionsChecked ? new AsyncLocalStorage<Holder>() : undefined;
const refusals: Error[] = [];

/** Runs `work`, which holds a connection of the pool until it settles. */
export async function holdingConnection<Result>(pool: pg.Pool, work: () => Promise<Result>): Promise<Result> {
  if (!holders) return work();
  const holder = { pool, isHolding: true };
  try {
    return await holders.run(holder, work);
  } finally {
    holder.isHolding = false;
  }
}

/**
 * Does nothing unless connections are checked, as in tests.
 * @throws Error when the caller already holds a connection of the pool
 */
export function refuseSecondConnection(pool: pg.Pool): void {
  const holder = holders?.getStore();
  if (!holder?.isHolding || holder.pool !== pool) return;
  const error = new Error(
    "A query on another connection inside an open transaction. Pass the transaction on, or query before or after it.",
  );
  refusals.push(error);
  throw error;
}

/**
 * Runs work that holds nothing and that no open transaction waits for, such as the start of a timer; also for tests that play two
 * callers in one function.
 */
export const asOtherCaller = <Result>(work: () => Result): Result => (holders ? holders.exit(work) : work());

/** Takes the errors thrown since the last call, so that a test fails where the caller caught one. */
export const takeRefusals = (): Error[] => refusals.splice(0);
