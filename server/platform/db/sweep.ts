import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { messageOf } from "#server/platform/errors.ts";

/** Looks after what whoever should have done it has not: an event that was lost, a process that has died, a time that has come. */
export interface Sweep {
  /** Whether there may be something to do: a condition in SQL that costs a look into an index. Left out, it is always looked. */
  isDue?: string;
  run: () => Promise<unknown>;
}

/** The condition that one of these queries finds something. */
export const finds = (...queries: readonly string[]): string => queries.map((query) => `EXISTS (${query})`).join(" OR ");

/**
 * Makes sweeps, one after the other: those that have something to do, which the database is asked for all of them at once. It is
 * nearly always none, every few seconds in every process. Processes may sweep at the same time.
 * @throws AggregateError of what went wrong, after all have had their turn; the next sweep tries again
 */
export async function sweep(...sweeps: readonly Sweep[]): Promise<void> {
  const question = `SELECT ${sweeps.map(({ isDue = "true" }, index) => `(${isDue}) AS "${index}"`).join(", ")}`;
  // By the indexes alone: a plan that trusts to find a row soon would read the whole table where there is none. Planned each time, in
  // one transaction and one round trip, which is how PostgreSQL takes several statements without parameters.
  const answers: unknown = await pool().query(`SET LOCAL enable_seqscan = off; ${question}`);
  const [, { rows }] = answers as [unknown, pg.QueryResult<Record<number, boolean>>];
  const errors: unknown[] = [];
  for (const [index, { run }] of sweeps.entries()) if (rows[0]?.[index]) await run().catch((error: unknown) => errors.push(error));
  if (errors.length) throw new AggregateError(errors, errors.map(messageOf).join(" "));
}
