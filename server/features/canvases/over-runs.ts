import { digger } from "#server/features/canvases/fill.ts";
import {
  type Cell,
  cellOf,
  columnsOf,
  figure,
  latestData,
  leftOut,
  MOST_POINTS,
  MOST_READ,
  MOST_ROWS,
  noNumbers,
  type Shown,
  seriesName,
} from "#server/features/canvases/latest.ts";
import { partsOf, type Reading, readingKey } from "#server/features/canvases/readings.ts";
import type { Widget, WidgetData, WidgetRange } from "#server/features/canvases/schema.ts";
import { pool } from "#server/platform/db/client.ts";
import { latestResults } from "#server/runs/store/results.ts";

// What widgets show over the runs in a range, from the values that are kept of them. Sums of whole hours are kept too; the
// hours at the ends of a range, and those that were added to since, are read from the values.

type Options = NonNullable<Widget["options"]>;
type Bucket = NonNullable<Options["bucket"]>;
type Aggregate = NonNullable<Options["aggregate"]>;

/** Days that a range goes back. */
const DAYS = { "24h": 1, "7d": 7, "30d": 30, "90d": 90 } as const satisfies Partial<Record<WidgetRange, number>>;
const DAY_MS = 86_400_000;

/** From when, and until when, runs completed: an end that is null is open. */
export interface Span {
  since: Date | null;
  until: Date | null;
}

/** The span of a range up to now, and the one before it. */
export function spansOf(range: WidgetRange, now: Date): { span: Span; before: Span | undefined } {
  if (range === "all") return { span: { since: null, until: null }, before: undefined };
  const since = new Date(now.getTime() - DAYS[range] * DAY_MS);
  return { span: { since, until: null }, before: { since: new Date(since.getTime() - DAYS[range] * DAY_MS), until: since } };
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
const KEPT: Origin = {
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
const GIVEN: Origin = {
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

const ranksSql = (origin: Origin, bucket: Bucket) => `
  SELECT bucket, value, at, id, n::float8 AS count FROM (
    SELECT bucket, value, at, id, row_number() OVER (PARTITION BY bucket ORDER BY value, at, id) AS nth, count(*) OVER (PARTITION BY bucket) AS n
    FROM (SELECT ${bucketOf(bucket, "v.completed_at")} AS bucket, v.number AS value, v.completed_at AS at, v.execution_id AS id
      FROM ${origin.values} AND v.number IS NOT NULL AND ${IN_SPAN}) AS found
  ) AS ranked WHERE nth = ceil(0.95 * n) ORDER BY bucket DESC LIMIT ${MOST_POINTS}`;

const newestSql = (origin: Origin, hasNumber: boolean, limit: number) => `
  SELECT v.number AS value, v.json, v.completed_at AS at, v.execution_id AS id FROM ${origin.values} AND ${IN_SPAN}
    ${hasNumber ? "AND v.number IS NOT NULL" : ""} ORDER BY v.completed_at DESC, v.execution_id DESC LIMIT ${limit}`;

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

/** The values of one reading. */
class Values {
  readonly #origin: Origin;
  readonly #first: unknown;

  constructor(origin: Origin, first: unknown) {
    this.#origin = origin;
    this.#first = first;
  }

  async #query<Row extends object>(name: string, text: string, { since, until }: Span, ...more: unknown[]): Promise<Row[]> {
    return (await pool().query<Row>({ name: `${name}-${this.#origin.name}`, text, values: [this.#first, since, until, ...more] })).rows;
  }

  /** By bucket, newest first; with how many values are no numbers. Where none is a number, what there is can be counted. */
  async by(bucket: Exclude<Bucket, "run"> | "all", aggregate: Aggregate, span: Span): Promise<{ found: Found[]; others: number }> {
    const chosen = aggregate === "min" || aggregate === "max" ? aggregate : "last";
    type Row = {
      bucket: Date | null;
      count: number;
      others: number;
      sum: number;
      value: number | null;
      at: Date | null;
      id: string | null;
    };
    const sums = await this.#query<Row>(`values-${bucket}-${chosen}`, aggregateSql(this.#origin, bucket, chosen), span);
    const others = sums.reduce((sum, row) => sum + row.others, 0);
    const numbers = sums.reduce((sum, row) => sum + row.count, 0);
    if (aggregate === "count" && numbers === 0) return { found: sums.flatMap((row) => found(row, row.others)), others: 0 };
    if (aggregate !== "p95") return { found: sums.flatMap((row) => (row.count > 0 ? found(row, aggregated(aggregate, row)) : [])), others };
    if (bucket !== "all")
      return {
        found: (await this.#query<Row>(`ranks-${bucket}`, ranksSql(this.#origin, bucket), span)).flatMap((row) => found(row, row.value)),
        others,
      };
    const fromTop = numbers - Math.ceil((numbers * 95) / 100);
    const [top] = numbers ? await this.#query<Row>("rank", rankSql(this.#origin), span, fromTop) : [];
    return { found: top ? found({ ...top, bucket: null }, top.value) : [], others };
  }

  /** Those of single runs, newest first. */
  async newest(
    span: Span,
    limit: number,
    hasNumber = true,
  ): Promise<(Omit<Found, "value" | "bucket"> & { value: number | null; json: string | null })[]> {
    return this.#query(`newest-${hasNumber}-${limit}`, newestSql(this.#origin, hasNumber, limit), span);
  }
}

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

// ---------------------------------------------------------------- widgets

interface Query {
  span: Span;
  before: Span | undefined;
  bucket: Bucket;
  aggregate: Aggregate;
}

/** Points by bucket, oldest first; of single runs the newest. */
async function pointsOf(values: Values, { span, bucket, aggregate }: Query) {
  const { found, others } =
    bucket === "run"
      ? {
          found: (await values.newest(span, MOST_POINTS)).map((one) => ({
            ...one,
            bucket: one.at,
            value: aggregate === "count" ? 1 : (one.value ?? 0),
          })),
          others: undefined,
        }
      : await values.by(bucket, aggregate, span);
  const points = found.map(({ bucket, value, at, id }) => ({
    x: (bucket ?? at).toISOString(),
    y: value,
    execution_id: id,
    completed_at: at.toISOString(),
  }));
  return { points: points.reverse(), others: others ?? (await values.by("all", "count", span)).others };
}

async function numberData(values: Values, query: Query, unit: string | undefined): Promise<Shown> {
  const [{ found, others }, earlier, { points }] = await Promise.all([
    values.by("all", query.aggregate, query.span),
    query.before ? values.by("all", query.aggregate, query.before) : undefined,
    pointsOf(values, query),
  ]);
  const [whole] = found;
  const note = leftOut([noNumbers(others)]);
  if (!whole) return { status: others ? "problem" : "empty", ...note };
  const previous = earlier?.found[0]?.value;
  return {
    status: "ok",
    value: whole.value,
    ...(previous !== undefined && { previous }),
    ...(unit !== undefined && { unit }),
    series: [{ name: "Value", points }],
    execution_id: whole.id,
    completed_at: whole.at.toISOString(),
    ...note,
  };
}

async function chartData(values: Values, query: Query, { y, unit }: Extract<Widget, { type: "chart" }>["options"]): Promise<Shown> {
  const { points, others } = await pointsOf(values, query);
  const newest = points.at(-1);
  return {
    status: newest ? "ok" : others ? "problem" : "empty",
    ...(unit !== undefined && { unit }),
    ...(newest && { series: [{ name: seriesName(y), points }], execution_id: newest.execution_id, completed_at: newest.completed_at }),
    ...leftOut([noNumbers(others), points.length === MOST_POINTS && `Only the newest ${figure(MOST_POINTS)} points are shown.`]),
  };
}

type TableOptions = Extract<Widget, { type: "table" }>["options"];

/** One row for each run, newest first. */
async function rowsOfRuns(columns: readonly Values[], { span }: Query, options: TableOptions): Promise<Shown> {
  const found = await Promise.all(columns.map((values) => values.newest(span, MOST_ROWS, false)));
  const partOf = ({ value, json }: { value: number | null; json: string | null }): unknown =>
    value ?? (json === null ? null : JSON.parse(json));
  const runs = new Map(found.flat().map(({ id, at }) => [id, at]));
  const byColumn = found.map((values) => new Map(values.map((one) => [one.id, partOf(one)])));
  const newest = [...runs].sort((a, b) => b[1].getTime() - a[1].getTime()).slice(0, MOST_ROWS);
  const shown = newest
    .map(([id, at]) => ({
      values: byColumn.map((column) => column.get(id) ?? null),
      from: { execution_id: id, completed_at: at.toISOString() },
    }))
    .filter(({ values }) => values.some((value) => value !== null));
  const parts = options?.columns ? undefined : columnsOf(undefined, shown[0]?.values[0]);
  return {
    status: shown.length ? "ok" : "empty",
    columns: options?.columns?.map(({ label }) => label) ?? parts?.map(({ label }) => label) ?? [],
    rows: shown.map(({ values, from }) => ({
      cells: parts ? parts.map(({ cell }) => cell(values[0])) : values.map((value) => cellOf(value)),
      ...from,
    })),
    ...shown[0]?.from,
    ...leftOut([newest.length === MOST_ROWS && `Only the newest ${figure(MOST_ROWS)} runs are shown.`]),
  };
}

/** One row for each bucket, newest first. */
async function rowsOfBuckets(columns: readonly Values[], { span, bucket, aggregate }: Query, options: TableOptions): Promise<Shown> {
  if (bucket === "run") return { status: "empty" };
  const found = await Promise.all(columns.map((values) => values.by(bucket, aggregate, span)));
  const buckets = Map.groupBy(
    found.flatMap((column, index) => column.found.map((one) => ({ ...one, index }))),
    (one) => one.bucket?.getTime() ?? 0,
  );
  const newest = [...buckets].sort(([a], [b]) => b - a).slice(0, MOST_ROWS);
  const rows = newest.map(([, values]) => {
    const cells: Cell[] = columns.map((_, index) => values.find((one) => one.index === index)?.value ?? null);
    const [first] = values;
    return { cells, execution_id: first?.id ?? null, completed_at: (first?.at ?? new Date(0)).toISOString() };
  });
  const others = found.reduce((sum, column) => sum + column.others, 0);
  const [first] = rows;
  return {
    status: first ? "ok" : others ? "problem" : "empty",
    columns: options?.columns?.map(({ label }) => label) ?? ["Value"],
    rows,
    ...(first && { execution_id: first.execution_id, completed_at: first.completed_at }),
    ...leftOut([noNumbers(others), others > 0 && !options?.columns && "Choose columns to put values of several runs together."]),
  };
}

/** The latest result, if it completed within the span: texts cannot be put together. */
async function textData(widget: Widget, { span }: Query): Promise<Shown> {
  const results = await latestResults(widget.workflow_id, widget.output_label, 1, MOST_READ);
  return latestData(
    widget,
    results.filter(({ completed_at }) => !span.since || completed_at >= span.since),
  );
}

/** How many runs a widget is tried on that is not saved yet. */
const TRIED = 50;

interface KeptReading extends Omit<Reading, "workflow_id"> {
  id: number;
  workflow_id: string;
  done: number;
  total: number | null;
  is_filled: boolean;
}

/** The readings of the widgets' workflows, by workflow and key. */
export async function readingsKept(project_id: string, workflow_ids: readonly string[]): Promise<Map<string, KeptReading>> {
  const { rows } = await pool().query<KeptReading & { key: string }>({
    name: "readings-kept",
    text: `SELECT id, workflow_id, key, output_label, path, done, total, filled_at IS NOT NULL AS is_filled FROM readings
      WHERE project_id = $1 AND workflow_id::text = ANY($2)`,
    values: [project_id, workflow_ids],
  });
  return new Map(rows.map((row) => [`${row.workflow_id} ${row.key}`, row]));
}

/** Values of the newest runs, for a reading of which none are kept: its widget is not saved. */
async function triedValues({ workflow_id, output_label, path }: Reading): Promise<Values> {
  const results = await latestResults(workflow_id, output_label || null, TRIED, MOST_READ);
  const rows = results.map((result) => ({ execution_id: result.execution_id, completed_at: result.completed_at, ...digger(result)(path) }));
  return new Values(GIVEN, JSON.stringify(rows));
}

/**
 * What a widget shows over the runs in its range.
 * @param kept as `readingsKept` gave them
 * @param range in place of the widget's own
 */
export async function overRunsData(
  widget: Widget,
  kept: ReadonlyMap<string, KeptReading>,
  { range, now }: { range: WidgetRange | undefined; now: Date },
): Promise<Shown> {
  const { bucket = "run", aggregate = "last", range: own } = widget.options ?? {};
  const query: Query = { ...spansOf(range ?? own ?? "30d", now), bucket, aggregate };
  if (widget.type === "text" || widget.type === "markdown") return textData(widget, query);
  const readings = partsOf(widget).map(
    (path): Reading => ({ workflow_id: widget.workflow_id, output_label: widget.output_label ?? "", path }),
  );
  const rows = readings.map((reading) => kept.get(`${reading.workflow_id} ${readingKey(reading)}`));
  const columns = await Promise.all(
    readings.map((reading, index) => {
      const row = rows[index];
      return row ? new Values(KEPT, row.id) : triedValues(reading);
    }),
  );
  const shown = await shownBy(widget, columns, query);
  const unfilled = rows.filter((row) => row && !row.is_filled);
  if (unfilled.length === 0) return shown;
  const sum = (field: "done" | "total") => unfilled.reduce((total, row) => total + (row?.[field] ?? 0), 0);
  return { ...shown, filling: { done: sum("done"), total: sum("total") } };
}

function shownBy(widget: Exclude<Widget, { type: "text" | "markdown" }>, columns: readonly Values[], query: Query): Promise<Shown> {
  const [values] = columns;
  if (widget.type === "table") {
    const hasRows = query.bucket === "run";
    return (hasRows ? rowsOfRuns : rowsOfBuckets)(columns, query, widget.options);
  }
  if (!values) return Promise.resolve({ status: "empty" });
  return widget.type === "number" ? numberData(values, query, widget.options?.unit) : chartData(values, query, widget.options);
}

/** Versions of a workflow that were published within the range, newest last; at most a hundred. */
export async function versionsWithin(workflow_id: string, range: WidgetRange, now: Date): Promise<NonNullable<WidgetData["versions"]>> {
  const { rows } = await pool().query<{ version: number; created_at: Date }>({
    name: "versions-within",
    text: `SELECT version, created_at FROM workflow_versions WHERE workflow_id = $1 AND created_at >= coalesce($2::timestamptz, '-infinity')
      ORDER BY version DESC LIMIT 100`,
    values: [workflow_id, spansOf(range, now).span.since],
  });
  return rows.reverse().map(({ version, created_at }) => ({ version, created_at: created_at.toISOString() }));
}
