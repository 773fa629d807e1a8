import type { Widget } from "#server/features/canvases/schema.ts";

type ChartKind = Extract<Widget, { type: "chart" }>["options"]["kind"];

/** What a widget is drawn as. */
export type WidgetKind = Exclude<Widget["type"], "chart"> | ChartKind;

export const KIND_WORDS = {
  number: "Number",
  line: "Line chart",
  bar: "Bar chart",
  area: "Area chart",
  pie: "Pie chart",
  table: "Table",
  markdown: "Markdown",
  text: "Text",
} as const satisfies Record<WidgetKind, string>;

export const kindOf = (widget: Widget): WidgetKind => (widget.type === "chart" ? widget.options.kind : widget.type);

/** What a widget is called where there is more than one. */
export const nameOf = (widget: Widget): string => widget.title || KIND_WORDS[kindOf(widget)];

/** An id that no other widget of the canvas has. */
export const newWidgetId = (): string => crypto.randomUUID();
