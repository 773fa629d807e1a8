import type { Widget, WidgetData } from "#server/features/canvases/schema.ts";
import { asText, follower, type Place, type Places, placesAt, usedMs, valueAtPlaces, withinTime } from "#server/platform/json-path.ts";
import type { RunResult } from "#server/runs/store/results.ts";
import { isExactNumber, parseJson } from "#server/shared/json-text.ts";
import { nearestName } from "#server/workflow/expressions.ts";

// What widgets show of the latest completed run.

/** What a widget shows, without whose it is. */
export type Shown = Omit<WidgetData, "widget_id">;

/** Characters of a result that a widget reads; more is taken for no data to be shown. */
export const MOST_READ = 2 * 1024 * 1024;
/** Characters of JSON that the data of all widgets of a canvas have together, about: it is validated and written in one piece. */
const MOST_SHOWN = 1_600_000;
const MOST_TEXT = 50_000;
const MOST_CELL = 500;
const MOST_NAME = 200;
export const MOST_COLUMNS = 20;
export const MOST_ROWS = 500;
export const MOST_POINTS = 1000;
/** Characters of JSON of a point or a row, with the run that it comes from and without its texts. */
const ITEM_CHARACTERS = 120;

/** The characters of JSON that each of so many widgets of a canvas may show. */
export const shareOf = (widgets: number): number => Math.floor(MOST_SHOWN / Math.max(1, widgets));

/** The number of points without texts that a share has room for. */
export const pointsIn = (share: number): number => Math.min(MOST_POINTS, Math.floor(share / ITEM_CHARACTERS));

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

const followed = new WeakMap<RunResult, Map<string, Places | "too long">>();

/** Places that a path leads to in a result, looked for once for all widgets. */
function placesIn(result: RunResult, path: string): Places {
  const payload = jsonOf(result);
  const byPath = followed.get(result) ?? new Map<string, Places | "too long">();
  followed.set(result, byPath);
  let places = byPath.get(path);
  if (places === undefined) {
    try {
      places = placesAt(payload, path);
    } catch {
      places = "too long";
    }
    byPath.set(path, places);
  }
  if (places === "too long") throw new Fault(`The path ${path} ${TOO_LONG}`);
  return places;
}

/** What a path leads to; see `atPath`. */
function valueAt(result: RunResult, path: string | undefined): unknown {
  const payload = jsonOf(result);
  if (path === undefined || path.trim() === "") return payload;
  const found = placesIn(result, path);
  const value = valueAtPlaces(payload, found);
  // A path that names one place may lead to a list, which may be empty.
  if (value === undefined || (!found.isSingular && found.places.length === 0)) throw new Fault(nothingAt(path, payload));
  return value;
}

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
function shownText(text: string, share: number, whole = text.length): Shown {
  const most = Math.min(MOST_TEXT, share);
  if (whole <= most) return { status: "ok", text };
  const shown = text.slice(0, most).toWellFormed();
  return { status: "ok", text: shown, problem: `Only the first ${figure(most)} of ${figure(whole)} characters are shown.` };
}

function textData(result: RunResult, path: string | undefined, share: number): Shown {
  return path === undefined ? shownText(result.text, share, result.length) : shownText(asText(valueAt(result, path)), share);
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
/** Characters of JSON that all rows of a table may have together. */
export const MOST_IN_TABLE = 500_000;
/** Characters of JSON of a cell without its text. */
const CELL_CHARACTERS = 4;

/** The first items that fit. @param textsOf what they hold beside the run that they come from */
function fittingItems<Item>(items: readonly Item[], textsOf: (item: Item) => readonly Cell[], most: number): Item[] {
  let left = most;
  const end = items.findIndex((item) => {
    left -= ITEM_CHARACTERS;
    for (const text of textsOf(item)) left -= CELL_CHARACTERS + (typeof text === "string" ? text.length : 0);
    return left < 0;
  });
  return items.slice(0, end === -1 ? items.length : end);
}

/** The first rows, as many as fit. */
export const fitting = <Row extends { cells: Cell[] }>(rows: readonly Row[], share: number): Row[] =>
  fittingItems(rows, ({ cells }) => cells, Math.min(MOST_IN_TABLE, share));

function tableData(result: RunResult, { path, columns }: TableOptions = {}, share: number): Shown {
  const found = valueAt(result, path);
  const all = Array.isArray(found) ? found : [found];
  const parts = columnsOf(columns, all[0]);
  const from = fromOf(result);
  try {
    const cells = () => all.slice(0, MOST_ROWS).map((row) => ({ cells: parts.map(({ cell }) => cell(row)), ...from }));
    const rows = fitting(withinTime(cells, TABLE_MS), share);
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
  const { places, isSingular } = placesIn(result, path);
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

function chartData(result: RunResult, { x, y, unit }: ChartOptions, share: number): Shown {
  if (x === undefined)
    throw new Fault("This chart of the latest run has no path for its names or times. Give it one, or let it show several runs.");
  const { pairs: all, lost } = pairs(partsAt(result, x), partsAt(result, y));
  const from = fromOf(result);
  const good = all.filter(([, number]) => number === null || numberOf(number) !== undefined);
  const first = good.slice(0, MOST_POINTS).map(([name, number]) => {
    const x = cellOf(name, MOST_NAME);
    return { x: typeof x === "number" ? x : String(x ?? ""), y: numberOf(number) ?? null, ...from };
  });
  const points = fittingItems(first, ({ x }) => [x], share);
  if (all.length > 0 && good.length === 0) throw new Fault(`${y} gives no numbers: ${said(all[0]?.[1])} is none.`);
  return {
    status: points.length ? "ok" : "empty",
    ...(unit !== undefined && { unit }),
    series: [{ name: seriesName(y), points }],
    ...leftOut([
      noNumbers(all.length - good.length),
      lost > 0 && `${figure(lost)} of the names and numbers have no partner and are left out.`,
      good.length > points.length && `Only the first ${figure(points.length)} of ${figure(good.length)} points are shown.`,
    ]),
  };
}

/** How many results `latestData` looks at. */
export const resultsNeeded = ({ type }: Widget): number => (type === "number" ? 2 : 1);

/**
 * What a widget shows of the latest result.
 * @param results newest first, each with at most `MOST_READ` characters
 * @param share as `shareOf` gives it
 */
function latestData(widget: Widget, results: readonly RunResult[], share: number): Shown {
  const [result, ...older] = results;
  if (!result) return { status: "empty" };
  try {
    return { ...kinds[widget.type](widget as never, [result, ...older], share), ...fromOf(result) };
  } catch (error) {
    if (error instanceof Fault) return { ...problem(error.message), ...fromOf(result) };
    // What is nested so deeply that it cannot even be said what it is.
    if (error instanceof RangeError) return { ...problem("The output is nested too deeply to be shown."), ...fromOf(result) };
    throw error;
  }
}

type Results = readonly [RunResult, ...RunResult[]];
const kinds: { [Type in Widget["type"]]: (widget: Extract<Widget, { type: Type }>, results: Results, share: number) => Shown } = {
  text: ({ options }, [result], share) => textData(result, options?.path, share),
  markdown: ({ options }, [result], share) => textData(result, options?.path, share),
  number: ({ options }, results) => numberData(results, options ?? {}),
  table: ({ options }, [result], share) => tableData(result, options, share),
  chart: ({ options }, [result], share) => chartData(result, options, share),
};

/** CPU time that the widgets over one result take together. */
export const MAX_LATEST_MS = 3000;

export const tooLong = (): Shown => problem("The widgets of this canvas take too long together. Use simpler paths, or fewer widgets.");

/** Data of several widgets over the same results; see `latestData`. */
export function latestDataOf(widgets: readonly Widget[], results: readonly RunResult[], share: number): Shown[] {
  const began = usedMs();
  return widgets.map((widget) => (usedMs() - began > MAX_LATEST_MS ? tooLong() : latestData(widget, results, share)));
}
