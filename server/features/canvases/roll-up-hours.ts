import type pg from "pg";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { named, raw, type Sql, sql } from "#server/platform/db/sql.ts";

interface Hour {
  reading_id: number;
  hour: Date;
}

/**
 * Locks marked hours.
 * @param reading_ids null for those of all readings
 * @param isOpen hours that may still get values too
 */
async function lockMarked(client: pg.PoolClient, reading_ids: readonly number[] | null, isOpen: boolean): Promise<Hour[]> {
  const { rows } = await client.query<Hour>(sql`
    WITH given AS NOT MATERIALIZED (
      SELECT ${reading_ids}::int[] AS reading_ids
    )
    SELECT h.reading_id, h.hour
    FROM given, reading_hours h
    WHERE NOT h.is_fresh
      AND (h.hour < now() - interval '65 minutes' OR ${isOpen}::boolean)
      AND (given.reading_ids IS NULL OR h.reading_id = ANY(given.reading_ids))
    ORDER BY h.reading_id, h.hour
    LIMIT ${MAX_HOURS}
    FOR UPDATE OF h SKIP LOCKED`);
  return rows;
}

const IN_HOUR = sql`v.reading_id = m.reading_id
        AND v.completed_at >= m.hour
        AND v.completed_at < m.hour + interval '1 hour'`;

/** The first value of an hour in an order: a number, if there is one. */
const first = (order: string): Sql => sql`(
      SELECT v.number, v.completed_at, v.execution_id
      FROM reading_values v
      WHERE ${IN_HOUR}
      ORDER BY (v.number IS NULL), ${raw(order)}
      LIMIT 1
    )`;
const LOWEST = first("v.number, v.completed_at, v.execution_id");
const HIGHEST = first("v.number DESC, v.completed_at, v.execution_id");
const NEWEST = first("v.completed_at DESC, v.execution_id DESC");

/** Rolls up hours. They are locked before, so that it reads all values added until then; a transaction that adds more marks them again. */
const rollUp = (client: pg.PoolClient, hours: readonly Hour[]) =>
  client.query(sql`
    UPDATE reading_hours h
    SET is_fresh = true,
      count = s.count,
      others = s.others,
      sum = s.sum,
      min = s.min,
      min_at = s.min_at,
      min_id = s.min_id,
      max = s.max,
      max_at = s.max_at,
      max_id = s.max_id,
      last = s.last,
      last_at = s.last_at,
      last_id = s.last_id
    FROM (
      SELECT m.reading_id, m.hour, sums.*,
        lowest.number AS min, lowest.completed_at AS min_at, lowest.execution_id AS min_id,
        highest.number AS max, highest.completed_at AS max_at, highest.execution_id AS max_id,
        newest.number AS last, newest.completed_at AS last_at, newest.execution_id AS last_id
      FROM unnest(${hours.map(({ reading_id }) => reading_id)}::int[], ${hours.map(({ hour }) => hour)}::timestamptz[])
        AS m(reading_id, hour)
      CROSS JOIN LATERAL (
        SELECT count(v.number)::int AS count,
          (count(*) - count(v.number))::int AS others,
          coalesce(sum(v.number), 0) AS sum
        FROM reading_values v
        WHERE ${IN_HOUR}
      ) AS sums
      LEFT JOIN LATERAL ${LOWEST} AS lowest ON true
      LEFT JOIN LATERAL ${HIGHEST} AS highest ON true
      LEFT JOIN LATERAL ${NEWEST} AS newest ON true
    ) AS s
    WHERE h.reading_id = s.reading_id
      AND h.hour = s.hour`);

/** Hours of one transaction. */
const MAX_HOURS = 100;
/** Time of one job. */
const ROLL_UP_MS = 20_000;

/** Rolls up at most MAX_HOURS marked hours. Returns their count. */
async function rollUpSome(reading_ids: readonly number[] | null, isOpen: boolean): Promise<number> {
  return inTransaction(async (client) => {
    const hours = await lockMarked(client, reading_ids, isOpen);
    if (hours.length > 0) await rollUp(client, hours);
    return hours.length;
  });
}

/**
 * Rolls up the values of marked hours that get no more.
 * @param options.reading_id left out, of all readings
 * @returns false when the time was up before all were rolled up
 */
export async function rollUpHours({ reading_id, turnMs = ROLL_UP_MS }: { reading_id?: number; turnMs?: number } = {}): Promise<boolean> {
  const until = performance.now() + turnMs;
  for (;;) {
    const count = await rollUpSome(reading_id === undefined ? null : [reading_id], false);
    if (count < MAX_HOURS) return true;
    if (performance.now() > until) return false;
  }
}

/**
 * Rolls up marked hours that are about to be read, the open one too, so that each value is read once and not by each widget. Hours that
 * another reader rolls up at this moment are left to it.
 */
export async function rollUpForReaders(reading_ids: readonly number[]): Promise<void> {
  if (reading_ids.length === 0) return;

  const marked = sql`
    SELECT
    FROM reading_hours
    WHERE NOT is_fresh
      AND reading_id = ANY(${reading_ids})
    LIMIT 1`;
  const { rowCount } = await pool().query(named("has-marked-hours", marked));
  if (rowCount) await rollUpSome(reading_ids, true);
}
