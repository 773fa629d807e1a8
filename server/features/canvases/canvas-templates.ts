import {
  chartOf,
  describeOutput,
  formOf,
  historyOf,
  type NumberPlace,
  numberOf,
  type OutputFacts,
  type ProposedWidget,
  pathOf,
  tableOf,
  textOf,
} from "#server/features/canvases/propose-widgets.ts";
import { GRID_COLUMNS, type Widget } from "#server/features/canvases/schema.ts";

// Whole canvases over one Output, made of what it really gave. Pure: loads anywhere.

interface CanvasTemplate {
  id: string;
  name: string;
  description: string;
  /** Its widgets in reading order; undefined for what the Output does not have. Without the first there is no such canvas. */
  widgets: (facts: OutputFacts, label: string) => readonly (ProposedWidget | undefined)[];
}

type Size = ProposedWidget["size"];
type Options<Type extends Widget["type"]> = NonNullable<Extract<Widget, { type: Type }>["options"]>;
type Reading = Pick<Options<"number">, "aggregate" | "range">;

const sized = (widget: ProposedWidget | undefined, size: Size): ProposedWidget | undefined => widget && { ...widget, size };

const WORDS = {
  last: "latest",
  count: "count",
  sum: "total",
  avg: "average",
  min: "lowest",
  max: "highest",
  p95: "95th percentile",
} as const;
const RANGES = { "24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days", all: "all runs" } as const;

/** One number made of those of many runs. */
const sumOf = (place: NumberPlace | undefined, { aggregate = "last", range = "30d" }: Reading, w = 4): ProposedWidget | undefined =>
  place && {
    ...{ type: "number", title: `${place.label}, ${WORDS[aggregate]} of ${RANGES[range]}` },
    options: { ...pathOf(place.path), over: "runs", range, aggregate, ...(aggregate === "avg" && { decimals: 1 }), ...formOf(place) },
    size: { w, h: 3 },
  };

/** The course of a number over the runs. */
const courseOf = (
  place: NumberPlace | undefined,
  reads: Pick<Options<"chart">, "kind" | "bucket" | "aggregate" | "range">,
  title: string,
  size: Size,
): ProposedWidget | undefined =>
  place && {
    ...{ type: "chart", title: `${place.label} ${title}` },
    options: { over: "runs", ...reads, y: place.path, ...formOf(place) },
    size,
  };

const named = (numbers: readonly NumberPlace[], names: RegExp): NumberPlace | undefined =>
  numbers.find(({ label, path }) => names.test(label) || names.test(path));

const WIDE = { w: 12, h: 5 };
const QUALITY = /score|rating|quality|confidence|accuracy|grade|relevance|sentiment/i;
const COST = /cost|price|amount|spen[dt]|revenue|total|tokens|duration|elapsed|seconds|minutes|hours|_ms\b/i;

const templates: readonly CanvasTemplate[] = [
  {
    id: "glance",
    name: "Runs at a glance",
    description: "The latest value beside its average and its highest, its course, and what each run gave.",
    widgets: (facts, label) => {
      const [number] = facts.numbers;
      return [
        sized(number && numberOf(number), { w: 4, h: 3 }),
        sumOf(number, { aggregate: "avg" }),
        sumOf(number, { aggregate: "max" }),
        courseOf(number, { kind: "line", bucket: "run" }, "by run", WIDE),
        sized(historyOf(facts, label), { w: 12, h: 6 }),
      ];
    },
  },
  {
    id: "days",
    name: "Day by day",
    description: "What the runs of a day, a week and a month add up to.",
    widgets: ({ numbers: [number] }) => [
      sumOf(number, { aggregate: "sum", range: "24h" }),
      sumOf(number, { aggregate: "sum", range: "7d" }),
      sumOf(number, { aggregate: "sum", range: "30d" }),
      courseOf(number, { kind: "bar", bucket: "day", aggregate: "sum" }, "by day", { w: 8, h: 5 }),
      courseOf(number, { kind: "bar", bucket: "week", aggregate: "sum", range: "90d" }, "by week", { w: 4, h: 5 }),
    ],
  },
  {
    id: "quality",
    name: "Quality of answers",
    description: "A score over time: its average, its lowest, and the answer behind each.",
    widgets: (facts, label) => {
      const score = named(facts.numbers, QUALITY);
      const long = facts.texts.find(({ isLong }) => isLong);
      return [
        sumOf(score, { aggregate: "avg" }),
        sumOf(score, { aggregate: "min" }),
        sumOf(score, { aggregate: "count" }),
        courseOf(score, { kind: "line", bucket: "day", aggregate: "avg" }, "by day, average", WIDE),
        sized(historyOf(facts, label), { w: long ? 6 : 12, h: 6 }),
        sized(long && textOf(long), { w: 6, h: 6 }),
      ];
    },
  },
  {
    id: "costs",
    name: "Costs and time",
    description: "What runs add up to in money, tokens or time, and the dear ones among them.",
    widgets: (facts, label) => {
      const cost = named(facts.numbers, COST);
      return [
        sumOf(cost, { aggregate: "sum" }),
        sumOf(cost, { aggregate: "avg" }),
        sumOf(cost, { aggregate: "p95" }),
        courseOf(cost, { kind: "bar", bucket: "day", aggregate: "sum" }, "by day", { w: 8, h: 5 }),
        courseOf(cost, { kind: "area", bucket: "week", aggregate: "sum", range: "90d" }, "by week", { w: 4, h: 5 }),
        sized(historyOf(facts, label), { w: 12, h: 6 }),
      ];
    },
  },
  {
    id: "report",
    name: "Latest report",
    description: "What the latest run wrote, its figures beside it, its lists below.",
    widgets: ({ texts, numbers, lists }) => [
      sized(texts.filter(({ isLong, isMarkdown }) => isLong || isMarkdown).map(textOf)[0], { w: numbers.length ? 8 : 12, h: 9 }),
      ...numbers.slice(0, 3).map((number) => sized(numberOf(number), { w: 4, h: 3 })),
      ...lists.slice(0, 2).flatMap((list) => {
        const chart = chartOf(list);
        return [sized(chart, { w: 6, h: 5 }), sized(tableOf(list), { w: chart ? 6 : 12, h: 5 })];
      }),
    ],
  },
  {
    id: "list",
    name: "A list and its picture",
    description: "The rows of the latest run, drawn and as a table.",
    widgets: ({ lists: [list], numbers }) => [
      sized(list && tableOf(list), { w: 12, h: 6 }),
      sized(list && chartOf(list), WIDE),
      ...numbers.slice(0, 3).map((number) => sized(numberOf(number), { w: 4, h: 3 })),
    ],
  },
];

/** Widgets in rows, from left to right, those that are lower beside a higher one below each other. */
function flow(widgets: readonly ProposedWidget[]): (Omit<ProposedWidget, "size"> & { layout: Widget["layout"] })[] {
  const heights = Array.from({ length: GRID_COLUMNS }, () => 0);
  return widgets.map(({ size: { w, h }, ...widget }) => {
    const starts = Array.from({ length: GRID_COLUMNS - w + 1 }, (_, x) => ({ x, y: Math.max(...heights.slice(x, x + w)) }));
    const { x, y } = starts.reduce((best, start) => (start.y < best.y ? start : best));
    heights.fill(y + h, x, x + w);
    return { ...widget, layout: { x, y, w, h } };
  });
}

/**
 * The whole canvases that can be made of an Output, none of which shows nothing.
 * @param text the output as it was kept
 * @param label the name of the Output
 */
export function proposeCanvases(text: string, label: string) {
  const facts = describeOutput(text, label);
  return templates.flatMap(({ id, name, description, widgets }) => {
    const [first, ...others] = widgets(facts, label);
    const all = [first, ...others].filter((widget) => widget !== undefined);
    return first && all.length > 1 ? [{ id, name, description, widgets: flow(all) }] : [];
  });
}
