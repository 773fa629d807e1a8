import { z } from "zod";
import { Id, ignoredFields, Name, pageOf, TimeInput, Timestamp } from "#server/shared/primitives-schema.ts";

// A canvas is a dashboard: widgets over what the Output nodes of workflows give.

/** Columns of the grid that widgets stand in. */
export const GRID_COLUMNS = 12;

/** Most characters of a path. */
export const MAX_PATH = 300;
const JsonPath = z.string().trim().min(1, "Give a path.").max(MAX_PATH);

const part = JsonPath.optional().meta({
  description: "JSONPath (RFC 9535) of the part of a JSON output to show; left out, all of it",
  example: "$.total",
});

/** How far back the completed executions of a widget may lie. */
export const WidgetRange = z
  .enum(["24h", "7d", "30d", "90d", "all"])
  .meta({ description: "With `over: runs`: executions that completed within it count" });
export type WidgetRange = z.infer<typeof WidgetRange>;

const unit = z.string().trim().max(20).optional().meta({ description: "Shown after the number", example: "€" });
const decimals = z.int().min(0).max(6).optional().meta({ description: "Digits after the point; left out, as the number has them" });

/** Which executions a widget reads, and how their values become one. Left out, the first of each but `range`. */
const reads = {
  over: z
    .enum(["latest", "runs"])
    .optional()
    .meta({ description: "latest: the latest completed execution; runs: one value for each completed execution in the range" }),
  range: WidgetRange.optional().meta({ description: "With `over: runs`; 30d when left out" }),
  bucket: z
    .enum(["run", "hour", "day", "week", "month"])
    .optional()
    .meta({ description: "With `over: runs`: what a point or row stands for; in UTC, weeks begin on Monday" }),
  aggregate: z
    .enum(["last", "count", "sum", "avg", "min", "max", "p95"])
    .optional()
    .meta({ description: "With `over: runs`: how values of one bucket, or of the range, become one; p95 is the nearest rank" }),
};

const place = {
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "Use 1 to 64 letters, digits, - and _.")
    .meta({ description: "Yours to choose, unique in the canvas", example: "revenue" }),
  title: z.string().trim().max(120).meta({ description: "Shown above the widget; empty shows none" }),
  workflow_id: Id.meta({ description: "The workflow whose completed executions are shown" }),
  output_label: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .nullable()
    .meta({ description: "Label of the Output node to read; null reads the output of the execution" }),
  layout: z
    .strictObject({
      x: z
        .int()
        .min(0)
        .max(GRID_COLUMNS - 1),
      y: z.int().min(0).max(10_000),
      w: z.int().min(1).max(GRID_COLUMNS),
      h: z.int().min(1).max(100),
    })
    .meta({ description: `Place in a grid of ${GRID_COLUMNS} columns, from the top left; x + w is at most ${GRID_COLUMNS}` }),
};

const TextWidget = z.strictObject({
  ...place,
  type: z.literal("text"),
  options: z.strictObject({ ...reads, path: part }).optional(),
});
const MarkdownWidget = z.strictObject({
  ...place,
  type: z.literal("markdown"),
  options: z.strictObject({ ...reads, path: part }).optional(),
});
const NumberWidget = z.strictObject({
  ...place,
  type: z.literal("number"),
  options: z
    .strictObject({
      ...reads,
      path: part,
      unit,
      decimals,
    })
    .optional(),
});
const TableWidget = z.strictObject({
  ...place,
  type: z.literal("table"),
  options: z
    .strictObject({
      ...reads,
      path: JsonPath.optional().meta({
        description: "JSONPath of the list of rows; left out, the output itself is the list. With `over: runs`: of what one row is made of",
        example: "$.orders",
      }),
      columns: z
        .array(
          z.strictObject({
            label: z.string().trim().min(1).max(80),
            path: JsonPath.meta({ description: "JSONPath inside a row", example: "$.customer.name" }),
          }),
        )
        .min(1)
        .max(20)
        .optional()
        .meta({ description: "Left out, the keys of the first row" }),
    })
    .optional(),
});
const ChartWidget = z.strictObject({
  ...place,
  type: z.literal("chart"),
  options: z
    .strictObject({
      ...reads,
      kind: z.enum(["bar", "line", "area", "pie"]),
      x: JsonPath.optional().meta({
        description: "JSONPath of the names or times, one for each point; needed with `over: latest`, and not used with `runs`",
        example: "$[*].month",
      }),
      y: JsonPath.meta({
        description: "JSONPath of the numbers, in the same order; with `over: runs`, of the one number of an execution",
        example: "$[*].revenue",
      }),
      unit,
      decimals,
    })
    .refine(({ over, x }) => over === "runs" || x !== undefined, {
      path: ["x"],
      error: "This field is required: the path of the names or times. Only a chart over several runs does without.",
      // Told together with whatever else is wrong.
      when: ({ value }) => typeof value === "object" && value !== null,
    }),
});

export const Widget = z
  .discriminatedUnion("type", [TextWidget, MarkdownWidget, NumberWidget, TableWidget, ChartWidget], {
    error: ({ code }) => (code === "invalid_union" ? "Use one of: text, markdown, number, table, chart." : undefined),
  })
  .meta({ id: "Widget" });
export type Widget = z.infer<typeof Widget>;

/** Every path of a widget with where it stands in its options. */
export function pathsOf({ options, type }: Widget): [field: string, path: string][] {
  if (!options) return [];
  if (type === "chart" && "kind" in options)
    return [...(options.x === undefined ? [] : [["x", options.x] satisfies [string, string]]), ["y", options.y]];
  const columns = "columns" in options ? (options.columns ?? []) : [];
  const own: [string, string][] = "path" in options && options.path !== undefined ? [["path", options.path]] : [];
  return [...own, ...columns.map(({ path }, index): [string, string] => [`columns.${index}.path`, path])];
}

const summary = {
  id: Id,
  name: z.string(),
  share: z
    .object({ created_at: Timestamp, expires_at: Timestamp })
    .nullable()
    .meta({ description: "The link that shows it without sign-in; null when there is none that works" }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** Widgets that a list tells the places of, for a picture of the canvas. */
export const PREVIEW_WIDGETS = 12;

const WidgetPlace = z.object({
  type: z.string(),
  kind: z.string().nullable().meta({ description: "Of a chart" }),
  layout: place.layout,
});
export type WidgetPlace = z.infer<typeof WidgetPlace>;

export const CanvasSummary = z
  .object({
    ...summary,
    widget_count: z.int().meta({ description: "How many widgets it has" }),
    preview: z
      .array(WidgetPlace)
      .optional()
      .meta({ description: `What stands where: the first ${PREVIEW_WIDGETS} widgets, from the top left` }),
  })
  .meta({ id: "CanvasSummary" });
export type CanvasSummary = z.infer<typeof CanvasSummary>;

export const Canvas = z.object({ ...summary, widgets: z.array(Widget) }).meta({ id: "Canvas" });
export type Canvas = z.infer<typeof Canvas>;

const writable = {
  name: Name,
  widgets: z.array(Widget).max(50).meta({ title: "Widgets", description: "At most 50, each with its own id" }),
};
const readOnly = ignoredFields(z.object({ ...Canvas.shape, ...CanvasSummary.shape }), writable);
export const CreateCanvasInput = z.strictObject({ ...readOnly, name: writable.name, widgets: writable.widgets.optional() });
export type CreateCanvasInput = z.infer<typeof CreateCanvasInput>;
export const UpdateCanvasInput = z.strictObject({
  ...readOnly,
  canvas_id: Id,
  ...z.object(writable).partial().shape,
  unchanged_since: TimeInput.optional().meta({
    description: "The `updated_at` that you read. When the canvas was changed since, nothing is changed and the answer is 409",
  }),
});
export type UpdateCanvasInput = z.infer<typeof UpdateCanvasInput>;
export const CanvasRef = z.strictObject({ canvas_id: Id });
export const CanvasPage = pageOf(CanvasSummary);

// ---------------------------------------------------------------- what widgets show

const from = {
  execution_id: Id.nullable().meta({ description: "The execution it comes from; null on a shared page" }),
  completed_at: Timestamp,
};
const Point = z.object({
  x: z.union([z.string(), z.number()]).meta({ description: "A time, a name or a number; of a bucket its start in UTC" }),
  y: z.number().nullable().meta({ description: "null: a gap" }),
  ...from,
});
const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What one widget shows now. Which fields there are depends on its kind: `value` of a number, `series` of charts and of a number's past, `columns` and `rows`, `text`. */
export const WidgetData = z
  .object({
    widget_id: z.string(),
    status: z.enum(["ok", "empty", "problem"]).meta({
      description:
        "empty: no execution has given a value; problem: nothing can be shown, `problem` says why. ok also when some values were left out",
    }),
    problem: z.string().optional().meta({ description: "What is wrong, or what was left out, and what to do" }),
    suggestion: z.string().optional().meta({
      description: "The Output label nearest to one that the workflow does not have any more; empty for the output of the execution",
    }),
    value: z.number().optional(),
    previous: z.number().optional().meta({ description: "The same of the execution before, or of the range before" }),
    unit: z.string().optional(),
    series: z.array(z.object({ name: z.string(), points: z.array(Point) })).optional(),
    columns: z.array(z.string()).optional(),
    rows: z.array(z.object({ cells: z.array(Cell).meta({ description: "In the order of `columns`" }), ...from })).optional(),
    text: z.string().optional(),
    execution_id: from.execution_id.optional(),
    completed_at: from.completed_at.optional(),
    versions: z
      .array(z.object({ version: z.int(), created_at: Timestamp }))
      .optional()
      .meta({ description: "With `over: runs`: versions of the workflow that were published within the range" }),
    old: z
      .object({
        reason: z.enum(["disabled", "failing", "deleted"]),
        since: Timestamp,
        execution_id: Id.nullable().meta({ description: "failing: the latest execution that failed" }),
      })
      .optional()
      .meta({ description: "Why nothing newer comes" }),
    filling: z
      .object({ done: z.int(), total: z.int() })
      .optional()
      .meta({ description: "Executions that a new widget has read of those in the past" }),
  })
  .meta({ id: "WidgetData" });
export type WidgetData = z.infer<typeof WidgetData>;

export const CanvasDataInput = z.strictObject({
  canvas_id: Id,
  range: WidgetRange.optional().meta({ description: "In place of every widget's own range" }),
});
export type CanvasDataInput = z.infer<typeof CanvasDataInput>;
export const CanvasData = z
  .object({ canvas_id: Id, range: WidgetRange.nullable(), generated_at: Timestamp, widgets: z.array(WidgetData) })
  .meta({ id: "CanvasData" });
export type CanvasData = z.infer<typeof CanvasData>;

export const CanvasCsvInput = CanvasDataInput.extend({ widget_id: z.string().min(1).max(64).meta({ description: "Id of the widget" }) });
export type CanvasCsvInput = z.infer<typeof CanvasCsvInput>;

/** The data of each event of a canvas's stream. `type` repeats the event's name. */
export const CanvasDataEvent = z
  .object({ type: z.literal("canvas_data"), canvas_id: Id, widgets: CanvasData.shape.widgets })
  .meta({ id: "CanvasDataEvent", description: "These widgets show something else now" });
export const CanvasEvent = z
  .discriminatedUnion("type", [
    CanvasDataEvent,
    z
      .object({ type: z.literal("canvas_changed"), canvas_id: Id, updated_at: Timestamp })
      .meta({ id: "CanvasChangedEvent", description: "The canvas itself was changed" }),
  ])
  .meta({ id: "CanvasEvent", description: "The data of one event of a canvas's stream" });
export type CanvasDataEvent = z.infer<typeof CanvasDataEvent>;
export type CanvasEvent = z.infer<typeof CanvasEvent>;

// ---------------------------------------------------------------- sharing

export const ShareCanvasInput = z.strictObject({
  canvas_id: Id,
  expires_in_days: z.int().min(1).max(365).default(30).meta({ description: "When the link ends", example: 30 }),
});
export type ShareCanvasInput = z.infer<typeof ShareCanvasInput>;
export const SharedLink = z
  .object({
    url: z.string().meta({ description: "Shown this once. Anyone with it can view the canvas" }),
    expires_at: Timestamp,
  })
  .meta({ id: "SharedLink" });
export type SharedLink = z.infer<typeof SharedLink>;

/** A canvas as its link shows it. Not part of the REST API. */
export const SharedCanvas = z.object({
  name: z.string(),
  widgets: z.array(Widget).meta({ description: "How they are drawn: which workflow they read and where is left out" }),
  data: CanvasData.omit({ canvas_id: true }),
});
export type SharedCanvas = z.infer<typeof SharedCanvas>;
export const SharedCanvasInput = z.strictObject({ token: z.string().min(1).max(200) });

// ---------------------------------------------------------------- building, in the web app only

const reading = { workflow_id: Id, output_label: place.output_label };

export const CanvasSourcesQuery = z.strictObject({ search: z.string().trim().max(120).optional() });
export type CanvasSourcesQuery = z.infer<typeof CanvasSourcesQuery>;

/** A workflow that widgets can read. */
export const CanvasSource = z.object({
  workflow_id: Id,
  name: z.string(),
  completed_at: Timestamp.nullable().meta({ description: "Of the latest run of a saved version that completed; null when none has" }),
  outputs: z
    .array(z.object({ label: z.string().nullable(), glimpse: z.string().nullable() }))
    .meta({ description: "Its Output nodes, or with null for a label the output of the run, each with the beginning of its latest value" }),
});
export type CanvasSource = z.infer<typeof CanvasSource>;
export const CanvasSources = z.object({ items: z.array(CanvasSource), has_more: z.boolean() });

/** A part of an output, with the parts inside. */
export const OutputPart = z.object({
  name: z.string(),
  path: z.string(),
  kind: z.enum(["object", "list", "text", "number", "boolean", "empty"]),
  text: z.string().meta({ description: "The beginning of its value" }),
  get parts() {
    return z.array(OutputPart);
  },
});
export type OutputPart = z.infer<typeof OutputPart>;

export const CanvasProposalsQuery = z.strictObject(reading);
export type CanvasProposalsQuery = z.infer<typeof CanvasProposalsQuery>;
export const CanvasProposals = z.object({
  execution_id: Id.nullable().meta({ description: "The run that they are made of; null when none has completed" }),
  completed_at: Timestamp.nullable(),
  output: OutputPart.nullable(),
  widgets: z.array(z.object({ widget: Widget, data: WidgetData })).meta({ description: "The best first" }),
  canvases: z.array(z.object({ id: z.string(), name: z.string(), description: z.string(), widgets: z.array(Widget) })),
});
export type CanvasProposals = z.infer<typeof CanvasProposals>;

export const WidgetPreviewInput = z.strictObject({ widget: Widget });
export type WidgetPreviewInput = z.infer<typeof WidgetPreviewInput>;
