import { MOST_POINTS } from "#server/features/canvases/latest.ts";
import type { Widget } from "#server/features/canvases/schema.ts";
import { raw, type Sql, sql, when } from "#server/platform/db/sql.ts";

// Statements over the values of a reading, `v`. In all of them `given` has the origin of the values and the span.

type Options = NonNullable<Widget["options"]>;
export type Bucket = NonNullable<Options["bucket"]>;
/** Value that stands for a bucket. */
export type Chosen = "last" | "min" | "max";

/** Times between which runs completed: the start is part of the span, the end is not, and null is an open end. */
export interface Span {
  since: Date | null;
  until: Date | null;
}

/** Origin of values: what `given.source` is, and what to read from it. */
export interface Origin {
  name: string;
  /** Type of `given.source`. */
  type: Sql;
  /** Items of FROM, and the beginning of a condition. */
  values: Sql;
  /** CTEs up to `parts`, whose rows belong to a bucket as a whole. */
  parts(chosen: Chosen): Sql;
}

/** Binds the origin and the span once: each occurrence of `given` becomes the parameter itself. */
const given = (origin: Origin, source: unknown, { since, until }: Span): Sql => sql`
    WITH given AS NOT MATERIALIZED (
      SELECT ${source}::${origin.type} AS source,
        ${since}::timestamptz AS since,
        ${until}::timestamptz AS until
    )`;

const IN_SPAN = sql`v.completed_at >= coalesce(given.since, '-infinity')
        AND v.completed_at < coalesce(given.until, 'infinity')`;

/** Columns of `parts` for one value. */
const ONE_VALUE = sql`
        (v.number IS NOT NULL)::int AS count, (v.number IS NULL)::int AS others, coalesce(v.number, 0) AS sum,
        v.number AS value, v.completed_at AS at, v.execution_id AS id`;

const COLUMN = { last: raw("last"), min: raw("min"), max: raw("max") };

/** Recorded values: the source is the id of a reading. Sums of whole hours are stored; hours at the ends of a span are not whole. */
export const RECORDED: Origin = {
  name: "kept",
  type: raw("int"),
  values: sql`given, reading_values v
      WHERE v.reading_id = given.source`,
  parts: (chosen) => sql`, hours AS MATERIALIZED (
      SELECT h.*,
        greatest(h.hour, b.since) AS from_at,
        least(h.hour + interval '1 hour', b.until) AS to_at,
        h.is_fresh AND h.hour >= b.since AND h.hour + interval '1 hour' <= b.until AS is_whole
      FROM given, reading_hours h, (
        SELECT coalesce(since, '-infinity') AS since, coalesce(until, 'infinity') AS until
        FROM given
      ) AS b
      WHERE h.reading_id = given.source
        AND h.hour > b.since - interval '1 hour'
        AND h.hour < b.until
    ), parts AS (
      SELECT hour, count, others, sum, ${COLUMN[chosen]} AS value, ${COLUMN[chosen]}_at AS at, ${COLUMN[chosen]}_id AS id
      FROM hours
      WHERE is_whole
      UNION ALL
      SELECT hours.hour, ${ONE_VALUE}
      FROM given, hours
      JOIN reading_values v ON v.completed_at >= hours.from_at AND v.completed_at < hours.to_at
      WHERE v.reading_id = given.source
        AND NOT hours.is_whole
    )`,
};

const VALUES_IN_JSON = sql`given, jsonb_to_recordset(given.source) AS v(execution_id uuid, completed_at timestamptz, number float8, json text)`;

/** Values that are not recorded: the source is a JSON list of them. */
export const PASSED: Origin = {
  name: "given",
  type: raw("jsonb"),
  values: sql`${VALUES_IN_JSON}
      WHERE true`,
  parts: () => sql`, parts AS (
      SELECT date_trunc('hour', v.completed_at, 'UTC') AS hour, ${ONE_VALUE}
      FROM ${VALUES_IN_JSON}
      WHERE ${IN_SPAN}
    )`,
};

const ORDER = { last: raw("at DESC, id DESC"), min: raw("value, at, id"), max: raw("value DESC, at, id") };

/** Sums values by bucket, newest bucket first, with the chosen value of each. A number is chosen before other values. */
export function sumStatement(origin: Origin, source: unknown, span: Span, bucket: Bucket | "all", chosen: Chosen): Sql {
  const start = raw(bucket === "all" ? "NULL::timestamptz" : `date_trunc('${bucket}', hour, 'UTC')`);
  const first = (column: string) =>
    sql`(array_agg(${raw(column)} ORDER BY (value IS NULL), ${ORDER[chosen]}) FILTER (WHERE id IS NOT NULL))[1]`;

  return sql`${given(origin, source, span)}${origin.parts(chosen)}
    SELECT ${start} AS bucket,
      coalesce(sum(count), 0)::float8 AS count,
      coalesce(sum(others), 0)::float8 AS others,
      coalesce(sum(sum), 0) AS sum,
      ${first("value")} AS value,
      ${first("at")} AS at,
      ${first("id")} AS id
    FROM parts
    GROUP BY 1
    HAVING sum(count) + sum(others) > 0
    ORDER BY 1 DESC
    LIMIT ${raw(String(MOST_POINTS))}`;
}

/**
 * Finds the number that has `above` others above it. Counts from the top, the nearer end for a p95: the skipped part is in the index
 * alone, and only the number that is found is looked up with its run.
 */
export const rankStatement = (origin: Origin, source: unknown, span: Span, above: number): Sql => sql`${given(origin, source, span)}
    SELECT v.number AS value, v.completed_at AS at, v.execution_id AS id
    FROM (
      SELECT v.number, v.completed_at
      FROM ${origin.values}
        AND v.number IS NOT NULL
        AND ${IN_SPAN}
      ORDER BY v.number DESC, v.completed_at DESC
      OFFSET ${above}::bigint
      LIMIT 1
    ) AS ranked
    CROSS JOIN LATERAL (
      SELECT v.*
      FROM ${origin.values}
        AND v.number = ranked.number
        AND v.completed_at = ranked.completed_at
      LIMIT 1
    ) AS v`;

/** Start of a bucket, and how many of its numbers are above the one to find. */
export interface BucketRank {
  start: Date;
  above: number;
}

/**
 * Finds such a number in each bucket.
 * @param isWalked walks the index of all numbers. If false, the values of a bucket are sorted, which is faster for a small bucket: a sum
 *   is in no index
 */
export function ranksStatement(
  origin: Origin,
  source: unknown,
  span: Span,
  { bucket, ranks, isWalked }: { bucket: Bucket; ranks: readonly BucketRank[]; isWalked: boolean },
): Sql {
  // The end of a bucket must not depend on the time zone of the connection.
  const end = raw(`((b.start AT TIME ZONE 'UTC' + interval '1 ${bucket}') AT TIME ZONE 'UTC')`);
  const [starts, above] = [ranks.map((rank) => rank.start), ranks.map((rank) => rank.above)];

  return sql`${given(origin, source, span)}
    SELECT b.start AS bucket, v.*
    FROM unnest(${starts}::timestamptz[], ${above}::bigint[]) AS b(start, above)
    CROSS JOIN LATERAL (
      SELECT v.number AS value, v.completed_at AS at, v.execution_id AS id
      FROM ${origin.values}
        AND v.number IS NOT NULL
        AND ${IN_SPAN}
        AND v.completed_at >= b.start
        AND v.completed_at < ${end}
      ORDER BY v.number ${when(!isWalked, raw("+ 0"))} DESC, v.completed_at DESC
      OFFSET b.above
      LIMIT 1
    ) AS v`;
}

const newestValues = (origin: Origin, limit: number, hasNumber: boolean): Sql => sql`
    SELECT v.number AS value, v.json, v.completed_at AS at, v.execution_id AS id
    FROM ${origin.values}
      AND ${IN_SPAN}
      ${when(hasNumber, sql`AND v.number IS NOT NULL`)}
    ORDER BY v.completed_at DESC, v.execution_id DESC
    LIMIT ${raw(String(limit))}`;

/** Finds the newest numbers of single runs. */
export const newestStatement = (origin: Origin, source: unknown, span: Span, limit: number): Sql =>
  sql`${given(origin, source, span)}${newestValues(origin, limit, true)}`;

/** Finds the newest values of single runs that together have so many characters, with the count of all within the limit (`whole`). */
export const rowsStatement = (
  origin: Origin,
  source: unknown,
  span: Span,
  { limit, characters }: { limit: number; characters: number },
): Sql => sql`${given(origin, source, span)}
    SELECT value, json, at, id, whole
    FROM (
      SELECT newest.*,
        count(*) OVER () AS whole,
        sum(coalesce(length(json), 1)) OVER (ORDER BY at DESC, id DESC ROWS UNBOUNDED PRECEDING) AS size
      FROM (${newestValues(origin, limit, false)}) AS newest
    ) AS sized
    WHERE size <= ${characters}
    ORDER BY at DESC, id DESC`;
