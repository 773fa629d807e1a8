import { LRUCache } from "lru-cache";
import { MOST_POINTS } from "#server/features/canvases/latest.ts";
import type { Widget } from "#server/features/canvases/schema.ts";
import { pool } from "#server/platform/db/client.ts";

// The values of a reading, put together by buckets. Sums of whole hours are kept; the hours at the ends of a span, and those that
// were added to since, are read from the values.

type Options = NonNullable<Widget["options"]>;
export type Bucket = NonNullable<Options["bucket"]>;
export type Aggregate = NonNullable<Options["aggregate"]>;

/** From when, and until when, runs completed: an end that is null is open. */
export interface Span {
  since: Date | null;
  until: Date | null;
}

// ---------------------------------------------------------------- statements

const IN_SPAN = "v.completed_at >= coalesce($2::timestamptz, '-infinity') AND v.completed_at < coalesce($3::timestamptz, 'infinity')";

/** Where values come from: what $1 is, the values `v` of it, and what of them goes into a bucket as a whole. */
interface Origin {
  name: string;
  values: string;
  /** @param chosen of the hour's columns those of the value that stands for it */
  parts(chosen: "last" | "min" | "max"): string;
}

const single =
  "(v.number IS NOT NULL)::int AS count, (v.number IS NULL)::int AS others, coalesce(v.number, 0) AS sum, v.number AS value, v.completed_at AS at, v.execution_id AS id";

/** $1 is the id of a reading. */
export const KEPT: Origin = {
  name: "kept",
  values: "reading_values v WHERE v.reading_id = $1::int",
  parts: (chosen) => `
    hours AS MATERIALIZED (
      SELECT h.*, greatest(h.hour, b.since) AS from_at, least(h.hour + interval '1 hour', b.until) AS to_at,
        h.is_fresh AND h.hour >= b.since AND h.hour + interval '1 hour' <= b.until AS is_whole
      FROM reading_hours h, (SELECT coalesce($2::timestamptz, '-infinity') AS since, coalesce($3::timestamptz, 'infinity') AS until) AS b
      WHERE h.reading_id = $1::int AND h.hour > b.since - interval '1 hour' AND h.hour < b.until
    ), parts AS (
      SELECT hour, count, others, sum, ${chosen} AS value, ${chosen}_at AS at, ${chosen}_id AS id FROM hours WHERE is_whole
      UNION ALL
      SELECT hours.hour, ${single} FROM hours JOIN reading_values v
        ON v.reading_id = $1::int AND v.completed_at >= hours.from_at AND v.completed_at < hours.to_at
      WHERE NOT hours.is_whole
    )`,
};

/** $1 are values as JSON. */
const GIVEN_VALUES = "jsonb_to_recordset($1::jsonb) AS v(execution_id uuid, completed_at timestamptz, number float8, json text) WHERE true";
export const GIVEN: Origin = {
  name: "given",
  values: GIVEN_VALUES,
  parts: () => `parts AS (SELECT date_trunc('hour', v.completed_at, 'UTC') AS hour, ${single} FROM ${GIVEN_VALUES} AND ${IN_SPAN})`,
};

const bucketOf = (bucket: Bucket | "all", column: string) =>
  bucket === "all" ? "NULL::timestamptz" : `date_trunc('${bucket}', ${column}, 'UTC')`;

const ORDER = { last: "at DESC, id DESC", min: "value, at, id", max: "value DESC, at, id" };

function aggregateSql(origin: Origin, bucket: Bucket | "all", chosen: "last" | "min" | "max"): string {
  const first = (column: string) => `(array_agg(${column} ORDER BY (value IS NULL), ${ORDER[chosen]}) FILTER (WHERE id IS NOT NULL))[1]`;
  return `
    WITH ${origin.parts(chosen)}
    SELECT ${bucketOf(bucket, "hour")} AS bucket, coalesce(sum(count), 0)::float8 AS count, coalesce(sum(others), 0)::float8 AS others,
      coalesce(sum(sum), 0) AS sum, ${first("value")} AS value, ${first("at")} AS at, ${first("id")} AS id
    FROM parts GROUP BY 1 HAVING sum(count) + sum(others) > 0 ORDER BY 1 DESC LIMIT ${MOST_POINTS}`;
}

// The nearest rank: of n numbers in order, number ceil(0.95 n). From the top, since that end is the shorter way; the index alone
// has what is passed over, and the run is looked up at the end.
const rankSql = (origin: Origin) => `
  SELECT v.number AS value, v.completed_at AS at, v.execution_id AS id
  FROM (
    SELECT v.number, v.completed_at FROM ${origin.values} AND v.number IS NOT NULL AND ${IN_SPAN}
    ORDER BY v.number DESC, v.completed_at DESC OFFSET $4::bigint LIMIT 1
  ) AS ranked CROSS JOIN LATERAL (
    SELECT v.* FROM ${origin.values} AND v.number = ranked.number AND v.completed_at = ranked.completed_at LIMIT 1
  ) AS v`;

/** The end of a bucket, whatever the connection's own zone. */
const endOf = (bucket: Bucket, start: string) => `((${start} AT TIME ZONE 'UTC' + interval '1 ${bucket}') AT TIME ZONE 'UTC')`;

// The same in each of some buckets, of which it is known how many numbers are passed over from the top. A sum is in no index, so
// that the values of a small bucket are sorted: otherwise the numbers of all buckets would be walked for each of them.
const ranksSql = (origin: Origin, bucket: Bucket, isWalked: boolean) => `
  SELECT b.start AS bucket, v.* FROM unnest($4::timestamptz[], $5::bigint[]) AS b(start, above) CROSS JOIN LATERAL (
    SELECT v.number AS value, v.completed_at AS at, v.execution_id AS id FROM ${origin.values} AND v.number IS NOT NULL AND ${IN_SPAN}
      AND v.completed_at >= b.start AND v.completed_at < ${endOf(bucket, "b.start")}
    ORDER BY v.number ${isWalked ? "" : "+ 0"} DESC, v.completed_at DESC OFFSET b.above LIMIT 1
  ) AS v`;

const newestSql = (origin: Origin, hasNumber: boolean, limit: number) => `
  SELECT v.number AS value, v.json, v.completed_at AS at, v.execution_id AS id FROM ${origin.values} AND ${IN_SPAN}
    ${hasNumber ? "AND v.number IS NOT NULL" : ""} ORDER BY v.completed_at DESC, v.execution_id DESC LIMIT ${limit}`;

// Of many long ones the newest, so that what is read is bounded; with how many there would be.
const rowsSql = (origin: Origin, limit: number) => `
  SELECT value, json, at, id, whole FROM (
    SELECT newest.*, count(*) OVER () AS whole,
      sum(coalesce(length(json), 1)) OVER (ORDER BY at DESC, id DESC ROWS UNBOUNDED PRECEDING) AS size
    FROM (${newestSql(origin, false, limit)}) AS newest
  ) AS sized WHERE size <= $4 ORDER BY at DESC, id DESC`;

// ---------------------------------------------------------------- values

/** One value, of a run or of several. */
interface Found {
  /** Start of the bucket; null without buckets. */
  bucket: Date | null;
  value: number;
  /** When the run completed that it comes from. */
  at: Date;
  id: string;
}

/** One value of one run. */
type RunValue = Omit<Found, "value" | "bucket"> & { value: number | null; json: string | null };

/** What the values of a bucket come to, with the one that stands for them. */
interface Sum {
  bucket: Date | null;
  count: number;
  others: number;
  sum: number;
  value: number | null;
  at: Date | null;
  id: string | null;
}

/** Rows by statement and values. */
export type SharedReads = Map<string, Promise<object[]>>;

/** Part of all values of a range that a bucket has at least, for its rank to be found in the index of all numbers. */
const LARGE_PART = 0.05;
/** Buckets whose ranks are found there at once: each may walk all numbers. */
const MAX_WALKED = 4;

/** The values of one reading. */
export class Values {
  readonly #origin: Origin;
  readonly #first: unknown;
  readonly #read: SharedReads;

  /** @param read results that widgets of the same dashboard share */
  constructor(origin: Origin, first: unknown, read: SharedReads = new Map()) {
    this.#origin = origin;
    this.#first = first;
    this.#read = read;
  }

  /** @param name left out, it is planned anew for the values that it gets: how far to walk makes the plan */
  async #query<Row extends object>(name: string | undefined, text: string, { since, until }: Span, ...more: unknown[]): Promise<Row[]> {
    const values = [this.#first, since, until, ...more];
    const key = JSON.stringify([text, values]);
    const rows = this.#read.get(key) ?? this.#send(name, text, values);
    this.#read.set(key, rows);
    return rows as Promise<Row[]>; // cast: a text stands for one kind of row
  }

  async #send(name: string | undefined, text: string, values: unknown[]): Promise<object[]> {
    return (await pool().query({ ...(name && { name: `${name}-${this.#origin.name}` }), text, values })).rows;
  }

  /** By bucket, newest first; with how many values are no numbers. Where none is a number, what there is can be counted. */
  async by(bucket: Exclude<Bucket, "run"> | "all", aggregate: Aggregate, span: Span): Promise<{ found: Found[]; others: number }> {
    const chosen = aggregate === "min" || aggregate === "max" ? aggregate : "last";
    const sums = await this.#query<Sum>(`values-${bucket}-${chosen}`, aggregateSql(this.#origin, bucket, chosen), span);
    const others = sums.reduce((sum, row) => sum + row.others, 0);
    const numbers = sums.reduce((sum, row) => sum + row.count, 0);
    if (aggregate === "count" && numbers === 0) return { found: sums.flatMap((row) => found(row, row.others)), others: 0 };
    if (aggregate !== "p95") return { found: sums.flatMap((row) => (row.count > 0 ? found(row, aggregated(aggregate, row)) : [])), others };
    if (bucket !== "all") return { found: await this.#ranks(bucket, span, sums), others };
    const [top] = numbers ? await this.#query<Sum>(undefined, rankSql(this.#origin), span, above(numbers)) : [];
    return { found: top ? found({ ...top, bucket: null }, top.value) : [], others };
  }

  /** p95 of each bucket: as it was, where its sums are what they were. */
  async #ranks(bucket: Exclude<Bucket, "run">, span: Span, sums: readonly Sum[]): Promise<Found[]> {
    const buckets = sums.flatMap((sum) => (sum.bucket && sum.count > 0 ? [{ ...sum, bucket: sum.bucket }] : []));
    const keyed = buckets.map((sum) => ({
      start: sum.bucket,
      count: sum.count,
      above: above(sum.count),
      key: `${this.#first} ${bucket} ${sum.bucket.getTime()}`,
      state: JSON.stringify([sum.count, sum.sum, sum.at, sum.id]),
    }));
    const isKept = typeof this.#first === "number";
    const unknown = keyed.filter(({ key, state }) => !isKept || ranks.get(key)?.state !== state);
    const total = buckets.reduce((sum, { count }) => sum + count, 0);
    const rank = async (wanted: typeof unknown, isWalked: boolean) => {
      const lists = [wanted.map(({ start }) => start), wanted.map((one) => one.above)];
      return wanted.length ? this.#query<Found>(undefined, ranksSql(this.#origin, bucket, isWalked), span, ...lists) : [];
    };
    const large = new Set(
      unknown
        .filter(({ count }) => isKept && count >= LARGE_PART * total)
        .sort((one, other) => other.count - one.count)
        .slice(0, MAX_WALKED),
    );
    const parts = await Promise.all([
      rank([...large], true),
      rank(
        unknown.filter((one) => !large.has(one)),
        false,
      ),
    ]);
    const ranked = parts.flat();
    const fresh = new Map(ranked.map((one) => [one.bucket?.getTime(), one]));
    return keyed.flatMap(({ key, state, start }) => {
      const rank = fresh.get(start.getTime()) ?? (isKept ? ranks.get(key)?.rank : undefined);
      if (rank && isKept) ranks.set(key, { state, rank });
      return rank ?? [];
    });
  }

  /** Numbers of single runs, newest first. */
  async newest(span: Span, limit: number): Promise<Omit<Found, "bucket">[]> {
    return this.#query(`newest-${limit}`, newestSql(this.#origin, true, limit), span);
  }

  /**
   * Values of single runs, newest first, numbers or not.
   * @param characters that they have together at most
   * @returns also the time before which there are more within `limit`
   */
  async rows(span: Span, limit: number, characters: number): Promise<{ rows: RunValue[]; since: Date | undefined }> {
    const text = rowsSql(this.#origin, limit);
    const rows = await this.#query<RunValue & { whole: string }>(`rows-${limit}`, text, span, characters);
    const last = rows.at(-1);
    return { rows, since: last && Number(last.whole) > rows.length ? last.at : undefined };
  }
}

/** Ranks of buckets, each with the sums of the values that it is of. */
const ranks = new LRUCache<string, { state: string; rank: Found }>({ max: 50_000 });

/** How many of so many numbers are greater than the nearest rank of p95. */
const above = (numbers: number) => numbers - Math.ceil((numbers * 95) / 100);

const found = (row: { bucket: Date | null; at: Date | null; id: string | null }, value: number | null): Found[] =>
  row.at && row.id && value !== null ? [{ bucket: row.bucket, value, at: row.at, id: row.id }] : [];

function aggregated(
  aggregate: Exclude<Aggregate, "p95">,
  { count, sum, value }: { count: number; sum: number; value: number | null },
): number | null {
  if (aggregate === "count") return count;
  if (aggregate === "sum") return sum;
  return aggregate === "avg" ? sum / count : value;
}
