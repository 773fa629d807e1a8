import { MAX_PATH, type Widget } from "#server/features/canvases/schema.ts";

// Looks at what an Output really gave, and says which widgets would show it well. Pure: loads anywhere.

/** Where one value stands in an output, and what to call it. */
interface Place {
  path: string;
  label: string;
}

/** A number in an output. */
export interface NumberPlace extends Place {
  unit?: string;
  decimals?: number;
}

/** A list of objects in an output. */
export interface ListPlace extends Place {
  rows: number;
  columns: Place[];
  /** Paths, from the output, of the numbers of all rows. */
  numbers: NumberPlace[];
  /** The same of what tells the rows apart. */
  names?: Place & { isTime: boolean };
}

/** What stands in an output, as far as widgets can show it. */
export interface OutputFacts {
  numbers: NumberPlace[];
  lists: ListPlace[];
  texts: (Place & { isMarkdown: boolean; isLong: boolean })[];
  /** Short values that make a row when runs are listed. */
  fields: Place[];
}

/** A widget without its place on a canvas. */
export type ProposedWidget = Widget extends infer Kind
  ? Kind extends Widget
    ? Pick<Kind, "type" | "title" | "options"> & { size: { w: number; h: number } }
    : never
  : never;

const MAX_PROPOSALS = 6;
const MAX_DEPTH = 4;
/** Entries of an object and rows of a list that are looked at. */
const MAX_ENTRIES = 50;
const MAX_COLUMNS = 6;
/** Characters that fit into a cell or a small box. */
const SHORT = 60;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** One step of a JSONPath (RFC 9535). */
export const pathStep = (key: string | number): string =>
  typeof key === "number" ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `['${key.replace(/[\\']/g, "\\$&")}']`;

/** A key as people would write it: `total_revenue` and `totalRevenue` become "Total revenue". */
export function labelOf(key: string): string {
  const words = key
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_\-.\s]+/g, " ")
    .trim();
  const lower = words.replace(/\b[A-Z][a-z]+/g, (word) => word.toLowerCase());
  return (lower.charAt(0).toUpperCase() + lower.slice(1)).slice(0, 80) || key.slice(0, 80);
}

/** Units that names of keys end in. */
const UNITS: readonly [RegExp, string][] = [
  [/(^|_)(eur|euros?)$/i, "€"],
  [/(^|_)(usd|dollars?)$/i, "$"],
  [/(^|_)(percent|percentage|pct)$/i, "%"],
  [/(^|_)(ms|millis|milliseconds)$/i, "ms"],
  [/(^|_)(seconds|secs?)$/i, "s"],
  [/(^|_)minutes$/i, "min"],
];

function numberPlace(place: Place, key: string, values: readonly unknown[]): NumberPlace {
  const snake = key.replace(/([a-z\d])([A-Z])/g, "$1_$2");
  const unit = UNITS.find(([pattern]) => pattern.test(snake))?.[1];
  // Of what is below one, two digits may say nothing.
  const hasFraction = values.some((value) => typeof value === "number" && !Number.isInteger(value) && Math.abs(value) >= 1);
  return { ...place, ...(unit !== undefined && { unit }), ...(hasFraction && { decimals: 2 }) };
}

/** Characters that are looked at for the signs of Markdown: what a model wrote may make a pattern slow. */
const MARKDOWN_LOOK = 4000;
const MARKDOWN =
  /^#{1,6} \S|^[ \t]*([-*+]|\d+\.) \S.*\n[ \t]*([-*+]|\d+\.) \S|\*\*\S[^\n]*\*\*|\[[^[\]\n]+\]\([^()\n]+\)|^\|.+\|[ \t]*\n\|[ \t:|-]+\||^```/m;
const isMarkdown = (text: string): boolean => MARKDOWN.test(text.slice(0, MARKDOWN_LOOK));

const isTime = (value: unknown): boolean => typeof value === "string" && /^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?$/.test(value);
const isYear = (key: string, value: unknown): boolean => /^(year|jahr)$/i.test(key) && Number.isInteger(value);
const isScalar = (value: unknown): boolean => !isObject(value) && !Array.isArray(value) && value !== undefined;
const isShort = (value: unknown): boolean => isScalar(value) && String(value).length <= SHORT;

function listPlace(place: Place, list: readonly unknown[]): ListPlace | undefined {
  const rows = list.slice(0, MAX_ENTRIES).filter(isObject);
  const [first] = rows;
  if (!first || rows.length < Math.min(list.length, MAX_ENTRIES)) return undefined;
  const valuesOf = (key: string) => rows.map((row) => row[key]).filter((value) => value !== null && value !== undefined);
  const all = (key: string, is: (value: unknown) => boolean) => {
    const values = valuesOf(key);
    return values.length > 0 && values.every(is);
  };
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_ENTRIES);
  const shown = keys.filter((key) => all(key, isScalar) && `$${pathStep(key)}`.length <= MAX_PATH).slice(0, MAX_COLUMNS);
  if (shown.length === 0) return undefined;
  const every = (key: string) => ({ path: `${place.path}[*]${pathStep(key)}`, label: labelOf(key) });
  const time = keys.find((key) => all(key, isTime) || all(key, (value) => isYear(key, value)));
  const name =
    time ?? keys.find((key) => all(key, (value) => typeof value === "string" && value.length <= SHORT) && isDistinct(valuesOf(key)));
  const numbers = keys
    .filter((key) => key !== name && all(key, (value) => typeof value === "number") && !/^id$|_id$|Id$/.test(key))
    .filter((key) => every(key).path.length <= MAX_PATH)
    .map((key) => numberPlace(every(key), key, valuesOf(key)));
  return {
    ...place,
    rows: list.length,
    columns: shown.map((key) => ({ label: labelOf(key), path: `$${pathStep(key)}` })),
    numbers,
    ...(name !== undefined && { names: { ...every(name), isTime: time !== undefined } }),
  };
}

const isDistinct = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

/**
 * What stands in an output.
 * @param text the output as it was kept: JSON, Markdown or any text
 * @param label the name of the Output, for a value that has no name of its own
 */
export function describeOutput(text: string, label: string): OutputFacts {
  const facts: OutputFacts = { numbers: [], lists: [], texts: [], fields: [] };
  look(outputValue(text), { path: "$", label }, label, 0, facts);
  return facts;
}

/** An output's text as JSON where it is JSON, else the text. */
export function outputValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function look(value: unknown, place: Place, key: string, depth: number, facts: OutputFacts): void {
  if (depth > MAX_DEPTH || place.path.length > MAX_PATH) return;
  if (typeof value === "number") {
    facts.numbers.push(numberPlace(place, key, [value]));
    facts.fields.push(place);
  } else if (typeof value === "string") {
    if (value.trim() === "") return;
    facts.texts.push({ ...place, isMarkdown: isMarkdown(value), isLong: value.length > SHORT });
    if (isShort(value)) facts.fields.push(place);
  } else if (Array.isArray(value)) {
    const list = listPlace(place, value);
    if (list) facts.lists.push(list);
  } else if (isObject(value)) {
    const entries = Object.entries(value).slice(0, MAX_ENTRIES);
    // What stands further out comes first.
    for (const [name, item] of [...entries.filter(([, item]) => !isObject(item)), ...entries.filter(([, item]) => isObject(item))]) {
      const inner = labelOf(name);
      const named = depth === 0 ? inner : `${place.label}: ${inner.charAt(0).toLowerCase()}${inner.slice(1)}`.slice(0, 80);
      look(item, { path: place.path + pathStep(name), label: named }, name, depth + 1, facts);
    }
  } else if (typeof value === "boolean") facts.fields.push(place);
}

/** The option `path`, which the whole output needs none of. */
export const pathOf = (path: string): { path?: string } => (path === "$" ? {} : { path });
/** How a number is written. */
export const formOf = ({ unit, decimals }: NumberPlace) => ({
  ...(unit !== undefined && { unit }),
  ...(decimals !== undefined && { decimals }),
});

export const numberOf = (place: NumberPlace): ProposedWidget => ({
  ...{ type: "number", title: place.label, options: { ...pathOf(place.path), ...formOf(place) } },
  size: { w: 3, h: 3 },
});

const trend = (place: NumberPlace): ProposedWidget => ({
  ...{ type: "chart", title: `${place.label} by run` },
  options: { kind: "line", over: "runs", bucket: "run", y: place.path, ...formOf(place) },
  size: { w: 6, h: 5 },
});

const average = (place: NumberPlace): ProposedWidget => ({
  ...{ type: "number", title: `${place.label}, average of 30 days` },
  options: { ...pathOf(place.path), over: "runs", range: "30d", aggregate: "avg", ...formOf({ decimals: 1, ...place }) },
  size: { w: 3, h: 3 },
});

export const tableOf = ({ path, label, columns }: ListPlace): ProposedWidget => ({
  ...{ type: "table", title: label, options: { ...pathOf(path), columns } },
  size: { w: columns.length > 3 ? 8 : 6, h: 5 },
});

export function chartOf({ names, numbers: [first], rows }: ListPlace): ProposedWidget | undefined {
  if (!names || !first || rows < 2) return undefined;
  const kind = names.isTime && rows > 2 ? "line" : "bar";
  const title = `${first.label} by ${names.label.toLowerCase()}`;
  return { type: "chart", title, options: { kind, x: names.path, y: first.path, ...formOf(first) }, size: { w: 6, h: 5 } };
}

const pieOf = (list: ListPlace): ProposedWidget | undefined => {
  const chart = chartOf(list);
  if (chart?.type !== "chart" || list.names?.isTime || list.rows > 6) return undefined;
  return { ...chart, options: { ...chart.options, kind: "pie" }, size: { w: 4, h: 5 } };
};

export const textOf = ({ path, label, isMarkdown: isMarked, isLong }: OutputFacts["texts"][number]): ProposedWidget => ({
  ...{ type: isMarked ? "markdown" : "text", title: label, options: pathOf(path) },
  size: isMarked || isLong ? { w: 6, h: 6 } : { w: 3, h: 3 },
});

/** The short values of each run as a row of a table. */
export const historyOf = ({ fields }: OutputFacts, label: string): ProposedWidget | undefined =>
  fields.length === 0
    ? undefined
    : {
        ...{ type: "table", title: `${label} of each run` },
        options: { over: "runs", columns: fields.slice(0, MAX_COLUMNS).map(({ label: name, path }) => ({ label: name, path })) },
        size: { w: fields.length > 3 ? 8 : 6, h: 5 },
      };

/**
 * Widgets that fit what an Output gave, the best first; none only for an output without anything in it.
 * @param text the output as it was kept
 * @param label the name of the Output
 */
export function proposeWidgets(text: string, label: string): ProposedWidget[] {
  const facts = describeOutput(text, label);
  const { numbers, lists, texts } = facts;
  const [number, ...otherNumbers] = numbers;
  const long = texts.filter(({ isLong, isMarkdown: isMarked }) => isLong || isMarked);
  const short = texts.filter((place) => !long.includes(place));
  const proposals = [
    // A text alone is shown as it is; in an object it is what explains the rest.
    ...(number || lists.length > 0 ? [] : long.map(textOf)),
    ...lists.map(chartOf),
    ...lists.slice(0, 1).map(tableOf),
    ...(number ? [numberOf(number), trend(number)] : []),
    ...otherNumbers.slice(0, 2).map(numberOf),
    ...(number || lists.length > 0 ? long.slice(0, 1).map(textOf) : []),
    ...short.slice(0, 2).map(textOf),
    ...lists.map(pieOf),
    ...(number ? [average(number)] : []),
    historyOf(facts, label),
    ...lists.slice(1).map(tableOf),
    ...otherNumbers.slice(2).map(numberOf),
  ];
  return proposals.filter((proposal) => proposal !== undefined).slice(0, MAX_PROPOSALS);
}
