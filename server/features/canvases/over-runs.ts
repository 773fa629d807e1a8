import { digger, LONGEST_MS } from "#server/features/canvases/fill.ts";
import {
  type Cell,
  cellOf,
  columnsOf,
  figure,
  fitting,
  latestData,
  leftOut,
  MOST_IN_TABLE,
  MOST_POINTS,
  MOST_READ,
  MOST_ROWS,
  noNumbers,
  type Shown,
  seriesName,
} from "#server/features/canvases/latest.ts";
import { partsOf, type Reading, readingKey } from "#server/features/canvases/readings.ts";
import type { Widget, WidgetData, WidgetRange } from "#server/features/canvases/schema.ts";
import { type Aggregate, type Bucket, GIVEN, KEPT, type Span, Values } from "#server/features/canvases/values.ts";
import { pool } from "#server/platform/db/client.ts";
import { latestResults, type RunResult } from "#server/runs/store/results.ts";

// What widgets show over the runs in a range, from the values that are kept of them.

/** Days that a range goes back. */
const DAYS = { "24h": 1, "7d": 7, "30d": 30, "90d": 90 } as const satisfies Partial<Record<WidgetRange, number>>;
const DAY_MS = 86_400_000;

/** The span of a range up to now, and the one before it. */
export function spansOf(range: WidgetRange, now: Date): { span: Span; before: Span | undefined } {
  if (range === "all") return { span: { since: null, until: null }, before: undefined };
  const since = new Date(now.getTime() - DAYS[range] * DAY_MS);
  return { span: { since, until: null }, before: { since: new Date(since.getTime() - DAYS[range] * DAY_MS), until: since } };
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
            value: aggregate === "count" ? 1 : one.value,
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

/** Characters of values that a table reads: most of a long one is not shown. */
const MOST_ROWS_READ = 8 * MOST_IN_TABLE;

/** One row for each run, newest first. */
async function rowsOfRuns(columns: readonly Values[], { span }: Query, options: TableOptions): Promise<Shown> {
  const read = await Promise.all(columns.map((values) => values.rows(span, MOST_ROWS, Math.floor(MOST_ROWS_READ / columns.length))));
  const since = Math.max(...read.map((column) => column.since?.getTime() ?? 0));
  const found = read.map(({ rows }) => rows.filter(({ at }) => at.getTime() >= since));
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
  const all = shown.map(({ values, from }) => ({
    cells: parts ? parts.map(({ cell }) => cell(values[0])) : values.map((value) => cellOf(value)),
    ...from,
  }));
  const rows = fitting(all);
  const most = since > 0 || rows.length < all.length ? rows.length : MOST_ROWS;
  return {
    status: rows.length ? "ok" : "empty",
    columns: options?.columns?.map(({ label }) => label) ?? parts?.map(({ label }) => label) ?? [],
    rows,
    ...shown[0]?.from,
    ...leftOut([(since > 0 || newest.length >= most) && `Only the newest ${figure(most)} runs are shown.`]),
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

/** How many runs a widget is tried on that is not saved yet, and how many characters of each are read: one is tried at each key. */
const TRIED = 50;
const TRIED_READ = 200_000;

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

/** Values in the newest runs, for readings of which none are kept: their widget is not saved. */
function triedValues(results: readonly RunResult[]): (path: string) => Values {
  const left = { ms: LONGEST_MS };
  const runs = results.map((result) => ({
    dig: digger(result, left),
    run: { execution_id: result.execution_id, completed_at: result.completed_at },
  }));
  return (path) => new Values(GIVEN, JSON.stringify(runs.map(({ dig, run }) => ({ ...run, ...dig(path) }))));
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
  const newest = rows.includes(undefined) ? await latestResults(widget.workflow_id, widget.output_label, TRIED, TRIED_READ) : [];
  const tried = triedValues(newest);
  const columns = readings.map(({ path }, index) => {
    const row = rows[index];
    return row ? new Values(KEPT, row.id) : tried(path);
  });
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
