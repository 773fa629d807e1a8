import { z } from "zod";
import { Id, ignoredFields, Name, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

// A canvas is a dashboard: widgets over what the Output nodes of workflows gave last.

/** Columns of the grid that widgets stand in. */
export const GRID_COLUMNS = 12;

const JsonPath = z.string().trim().min(1, "Give a path.").max(300);

const part = JsonPath.optional().meta({
  description: "JSONPath (RFC 9535) of the part of a JSON output to show; left out, all of it",
  example: "$.total",
});

const place = {
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "Use 1 to 64 letters, digits, - and _.")
    .meta({ description: "Yours to choose, unique in the canvas", example: "revenue" }),
  title: z.string().trim().max(120).meta({ description: "Shown above the widget; empty shows none" }),
  workflow_id: Id.meta({ description: "The workflow whose latest completed execution is shown" }),
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
  options: z.strictObject({ path: part }).optional(),
});
const MarkdownWidget = z.strictObject({
  ...place,
  type: z.literal("markdown"),
  options: z.strictObject({ path: part }).optional(),
});
const NumberWidget = z.strictObject({
  ...place,
  type: z.literal("number"),
  options: z
    .strictObject({
      path: part,
      unit: z.string().trim().max(20).optional().meta({ description: "Shown after the number", example: "€" }),
      decimals: z.int().min(0).max(6).optional().meta({ description: "Digits after the point; left out, as the number has them" }),
    })
    .optional(),
});
const TableWidget = z.strictObject({
  ...place,
  type: z.literal("table"),
  options: z
    .strictObject({
      path: JsonPath.optional().meta({
        description: "JSONPath of the list of rows; left out, the output itself is the list",
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
  options: z.strictObject({
    kind: z.enum(["bar", "line", "area", "pie"]),
    x: JsonPath.meta({ description: "JSONPath of the names or times, one for each point", example: "$[*].month" }),
    y: JsonPath.meta({ description: "JSONPath of the numbers, in the same order", example: "$[*].revenue" }),
  }),
});

export const Widget = z
  .discriminatedUnion("type", [TextWidget, MarkdownWidget, NumberWidget, TableWidget, ChartWidget], {
    error: ({ code }) => (code === "invalid_union" ? "Use one of: text, markdown, number, table, chart." : undefined),
  })
  .meta({ id: "Widget" });
export type Widget = z.infer<typeof Widget>;

const summary = { id: Id, name: z.string(), created_at: Timestamp, updated_at: Timestamp };
export const CanvasSummary = z
  .object({ ...summary, widget_count: z.int().meta({ description: "How many widgets it has" }) })
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
export const UpdateCanvasInput = z.strictObject({ ...readOnly, canvas_id: Id, ...z.object(writable).partial().shape });
export type UpdateCanvasInput = z.infer<typeof UpdateCanvasInput>;
export const CanvasRef = z.strictObject({ canvas_id: Id });
export const CanvasPage = pageOf(CanvasSummary);
