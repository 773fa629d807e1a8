import type pg from "pg";
import { pool } from "#server/db/client.ts";

/** How long a read waits for the same one that is under way, in milliseconds: one that hangs must not hold up the others. */
const LONGEST_WAIT_MS = 50;

interface Reads {
  /** The newest that has begun. */
  underWay: Promise<unknown>;
  /** One that has not begun: it serves everybody who asks before it does. */
  next?: Promise<unknown>;
}

const reads = new Map<string, Reads>();

function begin<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
  const underWay = read();
  const mine: Reads = { underWay };
  reads.set(key, mine);
  // Of those that began after it, whoever is the newest clears up.
  const clear = () => reads.get(key) === mine && !mine.next && reads.delete(key);
  underWay.then(clear, clear);
  return underWay;
}

async function isOver(read: Promise<unknown>): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    late = setTimeout(resolve, LONGEST_WAIT_MS);
  });
  await Promise.race([read.catch(() => undefined), patience]);
  clearTimeout(late);
}

/**
 * Reads once for all who ask for the same side by side. Nobody gets what was read before they asked: a caller joins only a
 * read that has yet to begin, so what one sees is as new as with a read of one's own. Under load many requests then cost
 * one statement; alone each has its own.
 * @param key what is asked for, whole
 * @returns the one result that all of them share: to be looked at, not changed
 */
export function together<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
  const found = reads.get(key);
  if (!found) return begin(key, read);
  found.next ??= isOver(found.underWay).then(() => begin(key, read));
  return found.next as Promise<Result>; // cast: a key stands for one kind of read
}

/**
 * The rows of a named statement that changes nothing, by `together`.
 * @throws the database's error, the same for all who share the read
 */
export const readTogether = <Row extends pg.QueryResultRow>(statement: {
  name: string;
  text: string;
  values: unknown[];
}): Promise<readonly Row[]> =>
  together(`${statement.name} ${JSON.stringify(statement.values)}`, async () => (await pool().query<Row>(statement)).rows);
