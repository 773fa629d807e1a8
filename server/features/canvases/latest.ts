import type { Widget, WidgetData } from "#server/features/canvases/schema.ts";
import { asText, atPath, follower, type Place, placesAt, withinTime } from "#server/platform/json-path.ts";
import type { RunResult } from "#server/runs/store/results.ts";
import { isExactNumber, parseJson } from "#server/shared/json-text.ts";
import { nearestName } from "#server/workflow/expressions.ts";

// What widgets show of the latest completed run.

/** What a widget shows, without whose it is. */
export type Shown = Omit<WidgetData, "widget_id">;

/** Characters of a result that a widget reads; more is taken for no data to be shown. */
export const MOST_READ = 2 * 1024 * 1024;
const MOST_TEXT = 50_000;
const MOST_CELL = 500;
const MOST_NAME = 200;
export const MOST_COLUMNS = 20;
export const MOST_ROWS = 500;
export const MOST_POINTS = 1000;

export const problem = (text: string): Shown => ({ status: "problem", problem: text });
export const figure = (count: number): string => count.toLocaleString("en-US");
export const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`);

/** Why nothing can be shown, as a sentence for people. */
class Fault extends Error {}

/** A number of JSON; a text that looks like one is none. */
export function numberOf(value: unknown): number | undefined {
  const number = isExactNumber(value) ? Number(JSON.stringify(value)) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export type Cell = string | number | boolean | null;

/** A value as a cell or a name shows it. */
export function cellOf(value: unknown, most = MOST_CELL): Cell {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return value;
  return cut(asText(value), most);
}

/** A value in a sentence. */
const said = (value: unknown) => (typeof value === "string" ? `the text "${cut(value, 40)}"` : cut(asText(value ?? null), 60));

const parsed = new WeakMap<RunResult, { value: unknown } | { fault: string }>();

/** A result as JSON, taken apart once for all widgets. */
function jsonOf(result: RunResult): unknown {
  let known = parsed.get(result);
  if (!known) {
    try {
      if (result.length > result.text.length)
        known = { fault: `The output has ${figure(result.length)} characters, more than the ${figure(MOST_READ)} that a widget reads.` };
      else known = { value: parseJson(result.text) };
    } catch {
      known = { fault: "The output is no JSON. Let the Output node write JSON, or show it as text." };
    }
    parsed.set(result, known);
  }
  if ("fault" in known) throw new Fault(known.fault);
  return known.value;
}

const TOO_LONG = "cannot be followed in this output: it takes too long, or the output is nested too deeply.";

/** What a path leads to; see `atPath`. */
function valueAt(result: RunResult, path: string | undefined): unknown {
  const payload = jsonOf(result);
  if (path === undefined) return payload;
  let value: unknown;
  try {
    value = atPath(payload, path);
  } catch {
    throw new Fault(`The path ${path} ${TOO_LONG}`);
  }
  if (value === undefined || (Array.isArray(value) && value.length === 0 && !isListAt(payload, path)))
    throw new Fault(nothingAt(path, payload));
  return value;
}

/** True where a path that names one place leads to a list, which may be empty. */
const isListAt = (payload: unknown, path: string) => placesAt(payload, path).isSingular;

function nothingAt(path: string, payload: unknown): string {
  const keys = typeof payload === "object" && payload !== null && !Array.isArray(payload) ? Object.keys(payload) : [];
  const key = /^\$\.?\[?['"]?([^.['"\]]+)/.exec(path)?.[1] ?? "";
  const near = keys.includes(key) ? undefined : nearestName(keys, key);
  if (near) return `There is nothing at ${path} in the latest output. Did you mean ${near}?`;
  const has = keys.length && !keys.includes(key) ? ` It has ${cut(keys.slice(0, 8).join(", "), 200)}.` : "";
  return `There is nothing at ${path} in the latest output.${has}`;
}

const fromOf = ({ execution_id, completed_at }: Pick<RunResult, "execution_id" | "completed_at">) => ({
  execution_id,
  completed_at: completed_at.toISOString(),
});

/** A text that is shown: of a long one the beginning, and that it is. */
export function shownText(text: string, whole = text.length): Shown {
  if (whole <= MOST_TEXT) return { status: "ok", text };
  const shown = text.slice(0, MOST_TEXT).toWellFormed();
  return { status: "ok", text: shown, problem: `Only the first ${figure(MOST_TEXT)} of ${figure(whole)} characters are shown.` };
}

function textData(result: RunResult, path: string | undefined): Shown {
  return path === undefined ? shownText(result.text, result.length) : shownText(asText(valueAt(result, path)));
}

/** The one number that a path leads to. */
function numberAt(result: RunResult, path: string | undefined): number {
  const found = valueAt(result, path);
  const value = path !== undefined && Array.isArray(found) && found.length === 1 ? found[0] : found;
  const number = numberOf(value);
  if (number !== undefined) return number;
  if (Array.isArray(found)) throw new Fault(`${path ?? "The output"} gives a list of ${figure(found.length)}. A number shows one value.`);
  throw new Fault(`${path ?? "The output"} gives ${said(value)}, which is no number.`);
}

function numberData(
  results: readonly [RunResult, ...RunResult[]],
  { path, unit }: { path?: string | undefined; unit?: string | undefined },
): Shown {
  const value = numberAt(results[0], path);
  const data: Shown = { status: "ok", value, ...(unit !== undefined && { unit }) };
  try {
    return results[1] ? { ...data, previous: numberAt(results[1], path) } : data;
  } catch (error) {
    if (error instanceof Fault) return data;
    throw error;
  }
}

type TableOptions = NonNullable<Extract<Widget, { type: "table" }>["options"]>;

/** Labels of a table's columns, each with how a row gives its cell. */
export function columnsOf(columns: TableOptions["columns"], first: unknown): { label: string; cell: (row: unknown) => Cell }[] {
  if (columns)
    return columns.map(({ label, path }) => {
      const at = follower(path);
      return { label, cell: (row) => cellOf(at(row)) };
    });
  if (typeof first !== "object" || first === null || Array.isArray(first) || isExactNumber(first))
    return [{ label: "Value", cell: (row) => cellOf(row) }];
  return Object.keys(first)
    .slice(0, MOST_COLUMNS)
    .map((key) => ({
      label: cut(key, 80),
      cell: (row) => cellOf(typeof row === "object" && row !== null && Object.hasOwn(row, key) ? Reflect.get(row, key) : undefined),
    }));
}

/** How long all cells of a table may take together, in milliseconds. */
const TABLE_MS = 2000;
/** Characters that all cells of a table may have together. */
export const MOST_IN_TABLE = 500_000;

/** The first rows, as many as fit. */
export function fitting<Row extends { cells: Cell[] }>(rows: readonly Row[]): Row[] {
  let left = MOST_IN_TABLE;
  const end = rows.findIndex(({ cells }) => {
    for (const cell of cells) left -= typeof cell === "string" ? cell.length : 1;
    return left < 0;
  });
  return rows.slice(0, end === -1 ? rows.length : end);
}

function tableData(result: RunResult, { path, columns }: TableOptions = {}): Shown {
  const found = valueAt(result, path);
  const all = Array.isArray(found) ? found : [found];
  const parts = columnsOf(columns, all[0]);
  const from = fromOf(result);
  try {
    const cells = () => all.slice(0, MOST_ROWS).map((row) => ({ cells: parts.map(({ cell }) => cell(row)), ...from }));
    const rows = fitting(withinTime(cells, TABLE_MS));
    return {
      status: rows.length ? "ok" : "empty",
      columns: parts.map(({ label }) => label),
      rows,
      ...(rows.length < all.length && { problem: `Only the first ${figure(rows.length)} of ${figure(all.length)} rows are shown.` }),
    };
  } catch {
    throw new Fault(`The path of a column ${TOO_LONG}`);
  }
}

type ChartOptions = Extract<Widget, { type: "chart" }>["options"];

/** What a path finds, each with the object or list that it stands in. */
function partsAt(result: RunResult, path: string): { value: unknown; home: string | undefined }[] {
  const found = valueAt(result, path);
  if (!Array.isArray(found)) return [{ value: found, home: undefined }];
  const { places, isSingular } = placesAt(jsonOf(result), path);
  if (isSingular) return found.map((value) => ({ value, home: undefined }));
  return found.map((value, index) => ({ value, home: JSON.stringify((places[index] as Place).slice(0, -1)) }));
}

/**
 * Names beside their numbers: those of one object belong together, so that one without a number is a gap and moves nobody else.
 * Where the paths do not lead into the same objects, by their order.
 */
function pairs(names: ReturnType<typeof partsAt>, numbers: ReturnType<typeof partsAt>): { pairs: [unknown, unknown][]; lost: number } {
  const homes = new Map(numbers.flatMap(({ value, home }) => (home === undefined ? [] : [[home, value]])));
  const isByHome =
    homes.size === numbers.length &&
    new Set(names.map(({ home }) => home)).size === names.length &&
    names.some(({ home }) => home !== undefined && homes.has(home));
  if (isByHome) {
    const paired = names.map(({ value, home = "" }): [unknown, unknown] => [value, homes.get(home) ?? null]);
    const known = new Set(names.map(({ home }) => home));
    return { pairs: paired, lost: numbers.filter(({ home }) => !known.has(home)).length };
  }
  const length = Math.min(names.length, numbers.length);
  return {
    pairs: names.slice(0, length).map(({ value }, index) => [value, numbers[index]?.value]),
    lost: Math.max(names.length, numbers.length) - length,
  };
}

/** What a series is called: the last name in its path. */
export const seriesName = (path: string): string => cut([...path.matchAll(/[^.[\]'"$*@?]+/g)].at(-1)?.[0] ?? "Value", 80);

/** What was left out, in words; undefined when nothing was. */
export const leftOut = (notes: readonly (string | false | undefined)[]): { problem?: string } => {
  const said = notes.filter((note) => typeof note === "string");
  return said.length ? { problem: said.join(" ") } : {};
};

export const noNumbers = (count: number): string | false =>
  count > 0 && `${figure(count)} value${count === 1 ? " is" : "s are"} no number${count === 1 ? "" : "s"} and left out.`;

function chartData(result: RunResult, { x, y, unit }: ChartOptions): Shown {
  if (x === undefined)
    throw new Fault("This chart of the latest run has no path for its names or times. Give it one, or let it show several runs.");
  const { pairs: all, lost } = pairs(partsAt(result, x), partsAt(result, y));
  const from = fromOf(result);
  const good = all.filter(([, number]) => number === null || numberOf(number) !== undefined);
  const points = good.slice(0, MOST_POINTS).map(([name, number]) => {
    const x = cellOf(name, MOST_NAME);
    return { x: typeof x === "number" ? x : String(x ?? ""), y: numberOf(number) ?? null, ...from };
  });
  if (all.length > 0 && good.length === 0) throw new Fault(`${y} gives no numbers: ${said(all[0]?.[1])} is none.`);
  return {
    status: points.length ? "ok" : "empty",
    ...(unit !== undefined && { unit }),
    series: [{ name: seriesName(y), points }],
    ...leftOut([
      noNumbers(all.length - good.length),
      lost > 0 && `${figure(lost)} of the names and numbers have no partner and are left out.`,
      good.length > MOST_POINTS && `Only the first ${figure(MOST_POINTS)} of ${figure(good.length)} points are shown.`,
    ]),
  };
}

/** How many results `latestData` looks at. */
export const resultsNeeded = ({ type }: Widget): number => (type === "number" ? 2 : 1);

/**
 * What a widget shows of the latest result.
 * @param results newest first, each with at most `MOST_READ` characters
 */
export function latestData(widget: Widget, results: readonly RunResult[]): Shown {
  const [result, ...older] = results;
  if (!result) return { status: "empty" };
  try {
    return { ...kinds[widget.type](widget as never, [result, ...older]), ...fromOf(result) };
  } catch (error) {
    if (error instanceof Fault) return { ...problem(error.message), ...fromOf(result) };
    // What is nested so deeply that it cannot even be said what it is.
    if (error instanceof RangeError) return { ...problem("The output is nested too deeply to be shown."), ...fromOf(result) };
    throw error;
  }
}

type Results = readonly [RunResult, ...RunResult[]];
const kinds: { [Type in Widget["type"]]: (widget: Extract<Widget, { type: Type }>, results: Results) => Shown } = {
  text: ({ options }, [result]) => textData(result, options?.path),
  markdown: ({ options }, [result]) => textData(result, options?.path),
  number: ({ options }, results) => numberData(results, options ?? {}),
  table: ({ options }, [result]) => tableData(result, options),
  chart: ({ options }, [result]) => chartData(result, options),
};
