import { LRUCache } from "lru-cache";
import type { Widget } from "#server/features/canvases/schema.ts";
import {
  type Bucket,
  type BucketRank,
  newestStatement,
  type Origin,
  rankStatement,
  ranksStatement,
  rowsStatement,
  type Span,
  sumStatement,
} from "#server/features/canvases/value-statements.ts";
import { pool } from "#server/platform/db/client.ts";
import { named, type Sql } from "#server/platform/db/sql.ts";

type Options = NonNullable<Widget["options"]>;
export type Aggregate = NonNullable<Options["aggregate"]>;

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
  readonly #source: unknown;
  readonly #shared: SharedReads;

  /**
   * @param source id of a reading or JSON, as the origin says
   * @param shared results that widgets of the same dashboard share
   */
  constructor(origin: Origin, source: unknown, shared: SharedReads = new Map()) {
    this.#origin = origin;
    this.#source = source;
    this.#shared = shared;
  }

  /** @param name left out, the statement is planned for its values: a plan depends on how many of them are skipped */
  async #query<Row extends object>(name: string | undefined, statement: Sql): Promise<Row[]> {
    const { text, values } = statement;
    const key = JSON.stringify([text, values]);
    const rows = this.#shared.get(key) ?? this.#send(name, statement);
    this.#shared.set(key, rows);
    return rows as Promise<Row[]>; // cast: a text stands for one kind of row
  }

  async #send(name: string | undefined, statement: Sql): Promise<object[]> {
    return (await pool().query(name === undefined ? statement : named(`${name}-${this.#origin.name}`, statement))).rows;
  }

  /** By bucket, newest first; with how many values are no numbers. Where none is a number, what there is can be counted. */
  async by(bucket: Exclude<Bucket, "run"> | "all", aggregate: Aggregate, span: Span): Promise<{ found: Found[]; others: number }> {
    const chosen = aggregate === "min" || aggregate === "max" ? aggregate : "last";
    const statement = sumStatement(this.#origin, this.#source, span, bucket, chosen);
    const sums = await this.#query<Sum>(`values-${bucket}-${chosen}`, statement);
    const others = sums.reduce((sum, row) => sum + row.others, 0);
    const numbers = sums.reduce((sum, row) => sum + row.count, 0);
    if (aggregate === "count" && numbers === 0) return { found: sums.flatMap((row) => found(row, row.others)), others: 0 };
    if (aggregate !== "p95") return { found: sums.flatMap((row) => (row.count > 0 ? found(row, aggregated(aggregate, row)) : [])), others };
    if (bucket !== "all") return { found: await this.#ranks(bucket, span, sums), others };
    const [top] = numbers ? await this.#query<Sum>(undefined, rankStatement(this.#origin, this.#source, span, above(numbers))) : [];
    return { found: top ? found({ ...top, bucket: null }, top.value) : [], others };
  }

  /** p95 of each bucket: as it was, where its sums are what they were. */
  async #ranks(bucket: Exclude<Bucket, "run">, span: Span, sums: readonly Sum[]): Promise<Found[]> {
    const buckets = sums.flatMap((sum) => (sum.bucket && sum.count > 0 ? [{ ...sum, bucket: sum.bucket }] : []));
    const keyed = buckets.map((sum) => ({
      start: sum.bucket,
      count: sum.count,
      above: above(sum.count),
      key: `${this.#source} ${bucket} ${sum.bucket.getTime()}`,
      state: JSON.stringify([sum.count, sum.sum, sum.at, sum.id]),
    }));
    const isKept = typeof this.#source === "number";
    const unknown = keyed.filter(({ key, state }) => !isKept || ranks.get(key)?.state !== state);
    const total = buckets.reduce((sum, { count }) => sum + count, 0);
    const rank = async (wanted: readonly BucketRank[], isWalked: boolean) => {
      const statement = ranksStatement(this.#origin, this.#source, span, { bucket, ranks: wanted, isWalked });
      return wanted.length > 0 ? this.#query<Found>(undefined, statement) : [];
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
    return this.#query(`newest-${limit}`, newestStatement(this.#origin, this.#source, span, limit));
  }

  /**
   * Values of single runs, newest first, numbers or not.
   * @param characters that they have together at most
   * @returns also the time before which there are more within `limit`
   */
  async rows(span: Span, limit: number, characters: number): Promise<{ rows: RunValue[]; since: Date | undefined }> {
    const statement = rowsStatement(this.#origin, this.#source, span, { limit, characters });
    const rows = await this.#query<RunValue & { whole: string }>(`rows-${limit}`, statement);
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
