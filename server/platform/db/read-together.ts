import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";

/** How long a read waits for the same one that is under way, in milliseconds: one that hangs must not hold up the others. */
const LONGEST_WAIT_MS = 50;
/** How long one waits for a read that is shared, in milliseconds, before one reads alone. */
const LONGEST_SHARE_MS = 1000;

interface Reads {
  /** The newest that has begun. */
  underWay: Promise<unknown>;
  /** One that has not begun: it serves everybody who asks before it does. */
  next?: Promise<unknown>;
}

const reads = new Map<string, Reads>();

function begin<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
  const underWay = (async () => read())();
  const mine: Reads = { underWay };
  reads.set(key, mine);
  // Of those that began after it, whoever is the newest clears up.
  const clear = () => reads.get(key) === mine && !mine.next && reads.delete(key);
  underWay.then(clear, clear);
  return underWay;
}

/** What a promise comes to, or undefined when that takes longer. */
async function within<Result>(promise: Promise<Result>, ms: number): Promise<Result | undefined> {
  let late: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<undefined>((resolve) => {
    late = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, patience]);
  } finally {
    clearTimeout(late);
  }
}

/** What a shared read came to; one that hangs or whose connection broke is the misfortune of one, and the others read for themselves. */
async function shared<Result>(next: Promise<Result>, read: () => Promise<Result>): Promise<Result> {
  try {
    const first = await within(
      next.then((result) => ({ result })),
      LONGEST_SHARE_MS,
    );
    return first ? first.result : await read();
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return await read();
  }
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
  const { underWay } = found;
  found.next ??= within(
    underWay.catch(() => undefined),
    LONGEST_WAIT_MS,
  ).then(() => begin(key, read));
  return shared(found.next as Promise<Result>, read); // cast: a key stands for one kind of read
}

/**
 * The rows of a named statement that changes nothing, by `together`.
 * @throws the database's error
 */
export const readTogether = <Row extends pg.QueryResultRow>(statement: {
  name: string;
  text: string;
  values: unknown[];
}): Promise<readonly Readonly<Row>[]> =>
  together(`${statement.name} ${JSON.stringify(statement.values)}`, async () => (await pool().query<Row>(statement)).rows);
