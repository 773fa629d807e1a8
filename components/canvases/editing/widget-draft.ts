import { kindOf, type WidgetKind } from "#components/canvases/editing/words.ts";
import { Widget } from "#server/features/canvases/schema.ts";

type Options<Type extends Widget["type"]> = NonNullable<Extract<Widget, { type: Type }>["options"]>;
type Reads = Pick<Options<"chart">, "over" | "range" | "bucket" | "aggregate">;

/** A widget as its form has it: what another kind would need is kept, so that trying one loses nothing. */
export interface WidgetDraft {
  kind: WidgetKind;
  title: string;
  path: string;
  x: string;
  y: string;
  unit: string;
  decimals: number | undefined;
  columns: { label: string; path: string }[];
  over: NonNullable<Reads["over"]>;
  range: NonNullable<Reads["range"]>;
  bucket: NonNullable<Reads["bucket"]>;
  aggregate: NonNullable<Reads["aggregate"]>;
}

/** What a form begins with. */
export function draftOf(widget: Widget): WidgetDraft {
  const options: Partial<Options<"chart"> & Options<"table"> & Options<"number">> = widget.options ?? {};
  const path = options.path ?? options.y ?? "";
  return {
    kind: kindOf(widget),
    title: widget.title,
    path,
    x: options.x ?? "",
    y: options.y ?? path,
    unit: options.unit ?? "",
    decimals: options.decimals,
    columns: options.columns ?? [],
    over: options.over ?? "latest",
    range: options.range ?? "30d",
    bucket: options.bucket ?? "run",
    aggregate: options.aggregate ?? "last",
  };
}

export const isChart = (kind: WidgetKind): boolean => kind === "line" || kind === "bar" || kind === "area" || kind === "pie";
/** Texts show the latest run; everything else may show many. */
export const mayShowRuns = (kind: WidgetKind): boolean => kind !== "text" && kind !== "markdown";

/**
 * The widget that a form describes, or what is wrong with it by field.
 * @param base whose id, place and source it has
 */
export function widgetOf(draft: WidgetDraft, base: Widget): { widget: Widget } | { errors: Record<string, string> } {
  const { kind, title, x, y, unit, decimals, columns } = draft;
  const { id, workflow_id, output_label, layout } = base;
  const isOver = draft.over === "runs" && mayShowRuns(kind);
  const path = draft.path.trim() && draft.path.trim() !== "$" ? { path: draft.path } : {};
  const number = { ...(unit.trim() && { unit }), ...(decimals !== undefined && { decimals }) };
  const aggregated = draft.bucket === "run" ? {} : { aggregate: draft.aggregate };
  const bucketed = draft.bucket === "run" ? {} : { bucket: draft.bucket };
  const reads = isOver ? { over: "runs", range: draft.range } : {};
  // A text over runs is the latest in a range: kept where it was told so over the API.
  const textReads = base.type === "text" || base.type === "markdown" ? { over: base.options?.over, range: base.options?.range } : {};
  const place = { id, title, workflow_id, output_label, layout };
  const made =
    kind === "number"
      ? { ...place, type: "number", options: { ...path, ...reads, ...(isOver && { ...bucketed, aggregate: draft.aggregate }), ...number } }
      : kind === "table"
        ? {
            ...place,
            type: "table",
            options: {
              ...path,
              ...(columns.length > 0 && { columns }),
              ...reads,
              ...(isOver && { ...bucketed, ...aggregated }),
            },
          }
        : kind === "text" || kind === "markdown"
          ? { ...place, type: kind, options: { ...path, ...textReads } }
          : {
              ...place,
              type: "chart",
              options: { kind, ...(isOver ? { ...reads, bucket: draft.bucket, ...aggregated } : { x }), y: y.trim() || "$", ...number },
            };
  const parsed = Widget.safeParse(made);
  if (parsed.success) return { widget: parsed.data };
  return { errors: Object.fromEntries(parsed.error.issues.map(({ path: at, message }) => [fieldOf(at.join(".")), message])) };
}

/** The field of the form that a path of the API's faults names. */
export const fieldOf = (path: string): string =>
  path
    .replace(/^widgets\.\d+\./, "")
    .replace(/^options\./, "")
    .split(".")[0] ?? path;
