import { setImmediate as turn } from "node:timers/promises";
import { readPathsApart } from "#server/features/canvases/extract.ts";
import {
  type Cell,
  cellOf,
  columnsOf,
  figure,
  fitting,
  leftOut,
  MOST_IN_TABLE,
  MOST_POINTS,
  MOST_ROWS,
  noNumbers,
  pointsIn,
  type Shown,
  seriesName,
} from "#server/features/canvases/latest.ts";
import type { Kept } from "#server/features/canvases/read-paths.ts";
import { partsOf, type Reading, readingKey, readingsOf } from "#server/features/canvases/readings.ts";
import { rollUpForReaders } from "#server/features/canvases/roll-up-hours.ts";
import type { Widget, WidgetData, WidgetRange } from "#server/features/canvases/schema.ts";
import { type Bucket, PASSED, RECORDED, type Span } from "#server/features/canvases/value-statements.ts";
import { type Aggregate, type SharedReads, Values } from "#server/features/canvases/values.ts";
import { pool } from "#server/platform/db/client.ts";
import { latestResults, type OutputPlace, type RunResult } from "#server/runs/store/results.ts";

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
  /** As `shareOf` gives it. */
  share: number;
  span: Span;
  before: Span | undefined;
  bucket: Bucket;
  aggregate: Aggregate;
}

/** Points by bucket, oldest first; of single runs the newest. */
async function pointsOf(values: Values, { span, bucket, aggregate, share }: Query) {
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
  const points = found.slice(0, pointsIn(share)).map(({ bucket, value, at, id }) => ({
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
    ...leftOut([noNumbers(others), points.length >= pointsIn(query.share) && `Only the newest ${figure(points.length)} points are shown.`]),
  };
}

type TableOptions = Extract<Widget, { type: "table" }>["options"];

/** Ratio of the characters that a table reads to those that it shows: most of a long value is not shown. */
const READ_PER_SHOWN = 8;

/** One row for each run, newest first. */
async function rowsOfRuns(columns: readonly Values[], { span, share }: Query, options: TableOptions): Promise<Shown> {
  const most = Math.floor((READ_PER_SHOWN * Math.min(MOST_IN_TABLE, share)) / columns.length);
  const read = await Promise.all(columns.map((values) => values.rows(span, MOST_ROWS, most)));
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
  const rows = fitting(all, share);
  const limit = since > 0 || rows.length < all.length ? rows.length : MOST_ROWS;
  return {
    status: rows.length ? "ok" : "empty",
    columns: options?.columns?.map(({ label }) => label) ?? parts?.map(({ label }) => label) ?? [],
    rows,
    ...shown[0]?.from,
    ...leftOut([(since > 0 || newest.length >= limit) && `Only the newest ${figure(limit)} runs are shown.`]),
  };
}

/** One row for each bucket, newest first. */
async function rowsOfBuckets(columns: readonly Values[], { span, bucket, aggregate, share }: Query, options: TableOptions): Promise<Shown> {
  if (bucket === "run") return { status: "empty" };
  const found = await Promise.all(columns.map((values) => values.by(bucket, aggregate, span)));
  const buckets = Map.groupBy(
    found.flatMap((column, index) => column.found.map((one) => ({ ...one, index }))),
    (one) => one.bucket?.getTime() ?? 0,
  );
  const newest = [...buckets].sort(([a], [b]) => b - a).slice(0, MOST_ROWS);
  const all = newest.map(([, values]) => {
    const cells: Cell[] = columns.map((_, index) => values.find((one) => one.index === index)?.value ?? null);
    const [first] = values;
    return { cells, execution_id: first?.id ?? null, completed_at: (first?.at ?? new Date(0)).toISOString() };
  });
  const rows = fitting(all, share);
  const others = found.reduce((sum, column) => sum + column.others, 0);
  const [first] = rows;
  return {
    status: first ? "ok" : others ? "problem" : "empty",
    columns: options?.columns?.map(({ label }) => label) ?? ["Value"],
    rows,
    ...(first && { execution_id: first.execution_id, completed_at: first.completed_at }),
    ...leftOut([
      rows.length < all.length && `Only the newest ${figure(rows.length)} of ${figure(all.length)} rows are shown.`,
      noNumbers(others),
      others > 0 && !options?.columns && "Choose columns to put values of several runs together.",
    ]),
  };
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

/** Adds up the hours of what widgets read over several runs, so that none of them reads single values. */
export async function foldKept(widgets: readonly Widget[], kept: ReadonlyMap<string, KeptReading>): Promise<void> {
  const keys = widgets
    .filter(({ options }) => options?.over === "runs")
    .flatMap((widget) => readingsOf(widget).map((reading) => `${reading.workflow_id} ${readingKey(reading)}`));
  const ids = new Set([...new Set(keys)].flatMap((key) => kept.get(key)?.id ?? []));
  await rollUpForReaders([...ids]);
}

/** Values in the newest runs, by path, for readings of which none are kept: their widget is not saved. */
async function triedValues(project_id: string, results: readonly RunResult[], paths: readonly string[]): Promise<Map<string, Values>> {
  const runs: { run: object; kept: Kept[] }[] = [];
  for (const result of results) {
    const { execution_id, completed_at } = result;
    runs.push({ run: { execution_id, completed_at }, kept: await readPathsApart(project_id, result, paths) });
    await turn();
  }
  return new Map(
    paths.map((path, index) => [path, new Values(PASSED, JSON.stringify(runs.map(({ run, kept }) => ({ ...run, ...kept[index] }))))]),
  );
}

/** A widget that puts values of several runs together. Texts cannot be: such a widget shows the latest one within its range. */
type OverRunsWidget = Exclude<Widget, { type: "text" | "markdown" }>;
export const isOverRuns = (widget: Widget): widget is OverRunsWidget =>
  widget.options?.over === "runs" && widget.type !== "text" && widget.type !== "markdown";

interface OverRunsOptions {
  project_id: string;
  /** Of the results that it reads. */
  place: OutputPlace | null;
  /** In place of the widget's own. */
  range: WidgetRange | undefined;
  now: Date;
  /** Shared by the widgets of a dashboard. */
  read: SharedReads;
  /** As `latestData` takes it. */
  share: number;
}

/**
 * What a widget shows over the runs in its range.
 * @param kept as `readingsKept` gave them
 */
export async function overRunsData(
  widget: OverRunsWidget,
  kept: ReadonlyMap<string, KeptReading>,
  { project_id, place, range, now, read, share }: OverRunsOptions,
): Promise<Shown> {
  const { bucket = "run", aggregate = "last", range: own } = widget.options ?? {};
  const query: Query = { ...spansOf(range ?? own ?? "30d", now), bucket, aggregate, share };
  const readings = partsOf(widget).map(
    (path): Reading => ({ workflow_id: widget.workflow_id, output_label: widget.output_label ?? "", path }),
  );
  const rows = readings.map((reading) => kept.get(`${reading.workflow_id} ${readingKey(reading)}`));
  const newest = rows.includes(undefined) ? await latestResults(widget.workflow_id, place, TRIED, TRIED_READ) : [];
  const tried = await triedValues(
    project_id,
    newest,
    readings.flatMap(({ path }, index) => (rows[index] ? [] : [path])),
  );
  const columns = readings.flatMap(({ path }, index) => {
    const row = rows[index];
    return row ? new Values(RECORDED, row.id, read) : (tried.get(path) ?? []);
  });
  const shown = await shownBy(widget, columns, query);
  const unfilled = rows.filter((row) => row && !row.is_filled);
  if (unfilled.length === 0) return shown;
  const sum = (field: "done" | "total") => unfilled.reduce((total, row) => total + (row?.[field] ?? 0), 0);
  return { ...shown, filling: { done: sum("done"), total: sum("total") } };
}

function shownBy(widget: OverRunsWidget, columns: readonly Values[], query: Query): Promise<Shown> {
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
