import type pg from "pg";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { KeyedSemaphore } from "#server/platform/keyed-semaphore.ts";
import { idRange, isUuid } from "#server/platform/new-id.ts";
import { conditions, countExecutions, countedPieces, type ExecutionFilter } from "#server/runs/store/count-executions.ts";
import type { RunScope } from "#server/runs/store/executions.ts";
import { searchQuery } from "#server/runs/store/search-words.ts";
import { searchWords } from "#server/shared/search-text.ts";

// Lists of executions: a page of what a filter matches, newest first, or all of it up to a bound.

/** What a list may ask besides what is counted ahead. */
export interface ExecutionSearch extends ExecutionFilter {
  /** Only executions that this key started; see `RunScope`. */
  key_id?: string | null | undefined;
  /** What started them: any of these. */
  triggers?: readonly string[] | undefined;
  /** Words in input, output and error, or an id or its beginning. */
  q?: string | undefined;
  /** Created at this time or later, and before that one. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** So many matches are counted, and so many can be paged through or named at once. */
export const MOST_FOUND = 10_000;
/** How long one look into the index of words may take, one that only has to count, and looking through executions, in milliseconds. */
const LOOK_MS = 1500;
const COUNT_MS = 150;
const SCAN_MS = 1000;
/** How many executions are looked through in one statement: few first, since what is frequent is found among them. */
const SCANNED = [1000, 10_000];

export interface Found {
  /** Of this page, newest first. */
  ids: string[];
  /** How many match. */
  total: number;
  /** There are more than `total`. */
  isPartial: boolean;
  /** The search stopped for time: older ones than this were not looked at. */
  searchedUntil: Date | null;
}

interface Window {
  skip: number;
  take: number;
}

const NEWEST_FIRST = "ORDER BY created_at DESC, id DESC";
/** An end of time, for a list from its newest. */
const END_OF_TIME = "infinity";

/** The filter as SQL over executions `e`, without words; $1 is the project. */
function executionsWhere({ from, to, key_id, ...filter }: ExecutionSearch, first: number) {
  const { executions, values } = conditions(filter, first);
  let next = first + values.length - 1;
  const bounds = [
    ...(from ? [`e.created_at >= $${next++}::timestamptz`] : []),
    ...(to ? [`e.created_at < $${next++}::timestamptz`] : []),
    ...(key_id ? [`e.started_by_key_id = $${next++}::uuid`] : []),
  ];
  const bound = [from, to, key_id].filter((value) => value);
  return { where: [executions, ...bounds].join(" AND "), values: [...values, ...bound], next };
}

/** Where a page begins: how many to pass over among those created before `until`. A deep page is reached over counted pieces. */
async function startOf(filter: ExecutionFilter, skip: number, { newer, until }: { newer: number; until: Date }) {
  if (skip <= newer) return { before: END_OF_TIME, skip };
  let left = skip - newer;
  let before: Date = until;
  for (const piece of await countedPieces(filter)) {
    before = piece.until;
    if (left < piece.count) break;
    left -= piece.count;
  }
  return { before, skip: left };
}

/**
 * Ids of executions created before a time, newest first. Of several states each is read from its index on its own: one list of them
 * would be gone through execution by execution until enough of a rare one are found.
 */
async function readIds(filter: ExecutionSearch, before: Date | string, { skip, take }: Window): Promise<string[]> {
  const { statuses, ...rest } = filter;
  const isSplit = statuses !== undefined && statuses.length > 1;
  const { where, values, next } = executionsWhere(isSplit ? rest : filter, 5);
  const [project, ...others] = values;
  const all = `SELECT e.id, e.created_at FROM executions e WHERE ${where} AND e.created_at < $2::timestamptz`;
  const split = `SELECT e.id, e.created_at FROM unnest($${next}::"ExecutionStatus"[]) AS s(status)
    CROSS JOIN LATERAL (${all} AND e.status = s.status ${NEWEST_FIRST} LIMIT $3::int + $4::int) AS e`;
  const { rows } = await pool().query<{ id: string }>(
    `SELECT id FROM (${isSplit ? split : `${all} ${NEWEST_FIRST} LIMIT $3::int + $4::int`}) AS e ${NEWEST_FIRST} OFFSET $3::int LIMIT $4::int`,
    [project, before, skip, take, ...others, ...(isSplit ? [statuses] : [])],
  );
  return rows.map(({ id }) => id);
}

/** How many there are in a span of time, counted up to the bound. */
async function countUpTo(filter: ExecutionSearch, most: number): Promise<number> {
  const { where, values, next } = executionsWhere(filter, 2);
  const { rows } = await pool().query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (SELECT FROM executions e WHERE ${where} LIMIT $${next}) AS e`,
    [...values, most],
  );
  return rows[0]?.count ?? 0;
}

const isTimeout = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "57014";

/** Within a statement's time; undefined when that is over. */
async function withinTime<Result>(ms: number, read: (client: pg.PoolClient) => Promise<Result>): Promise<Result | undefined> {
  try {
    return await inTransaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.round(ms))}`);
      return read(client);
    });
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  }
}

/** All that the index of words knows, while that is not more than the bound; undefined when it took too long. */
function lookUp(filter: ExecutionSearch, { skip, take }: Window, ms = LOOK_MS): Promise<{ total: number; ids: string[] } | undefined> {
  const { where, values, next } = executionsWhere(filter, 2);
  const range = idRange(filter.q ?? "");
  const hits = [
    ...(range
      ? [`SELECT e.id, e.created_at FROM executions e WHERE ${where} AND e.id BETWEEN $${next + 3}::uuid AND $${next + 4}::uuid`]
      : []),
    `SELECT e.id, e.created_at FROM execution_values v JOIN executions e ON e.id = v.execution_id WHERE v.words @@ $${next}::tsquery AND ${where}`,
  ].map((sql) => `(${sql} LIMIT ${MOST_FOUND + 1})`);
  return withinTime(ms, async (client) => {
    const { rows } = await client.query<{ total: number; ids: string[] }>(
      `WITH found AS MATERIALIZED (${hits.join(" UNION ")})
       SELECT (SELECT count(*)::int FROM found) AS total, ARRAY(SELECT id::text FROM found ${NEWEST_FIRST} OFFSET $${next + 1}::int LIMIT $${next + 2}::int) AS ids`,
      [...values, searchQuery(filter), skip, take, ...(range ?? [])],
    );
    return rows[0];
  });
}

/** How far a look through executions has come. */
interface Looked {
  /** Ids that match, newest first. */
  hits: string[];
  /** The oldest that was looked at. */
  last: { id: string; created_at: Date | null };
  turns: number;
  isOver: boolean;
}

const notLooked = (): Looked => ({
  hits: [],
  last: { id: "ffffffff-ffff-ffff-ffff-ffffffffffff", created_at: null },
  turns: 0,
  isOver: false,
});

/** Looks through the next executions, from newer to older. @returns false when there was no time for it */
async function lookFurther(looked: Looked, filter: ExecutionSearch, ms: number): Promise<boolean> {
  const { where, values, next } = executionsWhere(filter, 2);
  const sql = `
    WITH looked AS MATERIALIZED (
      SELECT e.id, e.created_at FROM executions e
      WHERE ${where} AND (e.created_at, e.id) < ($${next + 1}::timestamptz, $${next + 2}::uuid) ${NEWEST_FIRST} LIMIT $${next + 3}
    )
    SELECT looked.id::text, looked.created_at, v.words @@ $${next}::tsquery IS TRUE AS hit
    FROM looked LEFT JOIN execution_values v ON v.execution_id = looked.id ORDER BY looked.created_at DESC, looked.id DESC`;
  const size = SCANNED[Math.min(looked.turns, SCANNED.length - 1)] ?? 1000;
  const { last } = looked;
  const given = [...values, searchQuery(filter), last.created_at ?? END_OF_TIME, last.id, size];
  const found = await withinTime(ms, (client) => client.query<{ id: string; created_at: Date; hit: boolean }>(sql, given));
  if (!found) return false;
  for (const { id, hit } of found.rows) if (hit) looked.hits.push(id);
  looked.last = found.rows.at(-1) ?? last;
  looked.turns += 1;
  looked.isOver = found.rows.length < size;
  return true;
}

/**
 * Words are looked for in two ways. What is frequent fills the page from the newest executions, which takes no longer where there
 * are millions; what is rare is in the index, which knows all of it.
 */
async function findWords(filter: ExecutionSearch, page: Window): Promise<Found> {
  const looked = notLooked();
  const pageOf = () => ({ ids: looked.hits.slice(page.skip, page.skip + page.take), searchedUntil: null });
  const isFull = () => looked.hits.length > page.skip + page.take;
  const isKnownById = idRange(filter.q ?? "") !== null;
  await lookFurther(looked, filter, SCAN_MS);
  if (looked.isOver && !isKnownById) return { ...pageOf(), total: looked.hits.length, isPartial: false };
  const known = await lookUp(filter, page, isFull() ? COUNT_MS : LOOK_MS);
  if (known && known.total <= MOST_FOUND) return { ...known, isPartial: false, searchedUntil: null };
  const total = () => (known ? MOST_FOUND : Math.min(MOST_FOUND, looked.hits.length));
  const until = performance.now() + SCAN_MS;
  while (!isFull() && !looked.isOver && page.take > 0) {
    const isRead = await lookFurther(looked, filter, until - performance.now());
    if (!isRead || performance.now() >= until)
      return { ...pageOf(), total: total(), isPartial: true, searchedUntil: isFull() ? null : (looked.last.created_at ?? new Date()) };
  }
  if (looked.isOver && !known) return { ...pageOf(), total: total(), isPartial: looked.hits.length > MOST_FOUND };
  return { ...pageOf(), total: total(), isPartial: true };
}

/** A search may hold a connection for seconds, and a process has few. */
const searches = new KeyedSemaphore(2, 50, "Many searches of this project are under way. Wait a moment and try again.");

const hasWords = ({ q, triggers }: ExecutionSearch): boolean => q !== undefined || (triggers?.length ?? 0) > 0;
/** A text of which nothing can be looked for, such as a mark alone. */
const isEmptyText = ({ q }: ExecutionSearch): boolean => q !== undefined && searchWords(q, 1).length === 0;
const NOTHING: Found = { ids: [], total: 0, isPartial: false, searchedUntil: null };

/**
 * A page of the project's executions that a filter matches, newest first. Without words and times the total is exact, whatever it
 * is; else it is counted up to 10,000. What is frequent is found among the newest, what is rare by its index, and no search takes
 * longer than a few seconds: `searchedUntil` says how far one came.
 * @throws AppError RATE_LIMIT_EXCEEDED while many are under way in the project
 */
export async function findExecutions(filter: ExecutionSearch, window: Window): Promise<Found> {
  if (isEmptyText(filter)) return NOTHING;
  if (!hasWords(filter) && !filter.from && !filter.to && !filter.key_id) {
    const counted = await countExecutions(filter);
    const found = { ...NOTHING, total: counted.total };
    if (window.skip >= counted.total) return found;
    const { before, skip } = await startOf(filter, window.skip, counted);
    return { ...found, ids: await readIds(filter, before, { ...window, skip }) };
  }
  const page = { skip: window.skip, take: Math.max(0, Math.min(window.take, MOST_FOUND - window.skip)) };
  if (!hasWords(filter)) {
    const count = await countUpTo(filter, MOST_FOUND + 1);
    const ids = page.take > 0 ? await readIds(filter, END_OF_TIME, page) : [];
    return { ids, total: Math.min(count, MOST_FOUND), isPartial: count > MOST_FOUND, searchedUntil: null };
  }
  return searches.run(filter.project_id, () => findWords(filter, page));
}

/**
 * All executions that a filter matches, newest first, for doing something with them.
 * @returns undefined when there are more than 10,000, or it cannot be known in time
 * @throws AppError RATE_LIMIT_EXCEEDED while many searches are under way in the project
 */
export async function allExecutions(filter: ExecutionSearch): Promise<string[] | undefined> {
  const all = { skip: 0, take: MOST_FOUND + 1 };
  if (isEmptyText(filter)) return [];
  if (hasWords(filter)) {
    const found = await searches.run(filter.project_id, () => lookUp(filter, all));
    return found && found.total <= MOST_FOUND ? found.ids : undefined;
  }
  const ids = await readIds(filter, END_OF_TIME, all);
  return ids.length <= MOST_FOUND ? ids : undefined;
}

/** Returns those of these ids that are executions within a scope, each once. */
export async function ownExecutions({ project_id, key_id = null }: RunScope, ids: readonly string[]): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(
    `SELECT id::text
     FROM executions
     WHERE project_id = $1 AND id = ANY($2::uuid[]) AND ($3::uuid IS NULL OR started_by_key_id = $3)
     ${NEWEST_FIRST}`,
    [project_id, ids.filter(isUuid), key_id],
  );
  return rows.map(({ id }) => id);
}
