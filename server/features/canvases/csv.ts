import { readCanvasData } from "#server/features/canvases/data.ts";
import type { CanvasCsvInput, WidgetData } from "#server/features/canvases/schema.ts";
import { findCanvas, toCanvas } from "#server/features/canvases/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { invalidField } from "#server/platform/errors.ts";
import { suggestion } from "#server/workflow/expressions.ts";

type Field = string | number | boolean | null | undefined;

/**
 * Spreadsheets run what begins so as a formula, which whoever writes to a workflow could use against whoever opens the file. In half
 * of the world they part fields at semicolons, and know nothing then of the quotes of a field that begins after a comma. Characters
 * without a width, such as a byte order mark, may stand before the sign.
 */
const FORMULA = /^(?=\p{Cf}*[=+\-@＝＋－＠\t\r])|[;\t\r\n](?=["\p{Cf}]*[=+\-@＝＋－＠])/gu;

function fieldText(field: Field): string {
  const text = typeof field === "string" ? field.replaceAll(FORMULA, "$&'") : String(field ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lines of CSV (RFC 4180). */
const csvText = (lines: readonly (readonly Field[])[]): string => lines.map((line) => `${line.map(fieldText).join(",")}\r\n`).join("");

const FROM = ["execution_id", "completed_at"];
const fromOf = ({ execution_id, completed_at }: { execution_id?: string | null | undefined; completed_at?: string | undefined }) => [
  execution_id,
  completed_at,
];

/** What a widget shows, as lines with a header. */
export function widgetCsv(data: WidgetData, isOverRuns: boolean): string {
  const { series, columns, rows } = data;
  if (series)
    return csvText([
      [isOverRuns ? "time" : "name", series[0]?.name ?? "value", ...FROM],
      ...series.flatMap(({ points }) => points.map((point) => [point.x, point.y, ...fromOf(point)])),
    ]);
  if (rows) return csvText([[...(columns ?? []), ...FROM], ...rows.map((row) => [...row.cells, ...fromOf(row)])]);
  const value = data.value ?? data.text;
  const name = data.text === undefined ? "value" : "text";
  return csvText([[name, ...FROM], ...(value === undefined ? [] : [[value, ...fromOf(data)]])]);
}

/**
 * What one widget of a canvas shows now, as CSV.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for a widget that the canvas does not have
 */
export async function getCanvasCsv({ project }: ProjectPrincipal, { canvas_id, widget_id, range }: CanvasCsvInput): Promise<string> {
  const { id, widgets } = toCanvas(await findCanvas(project.id, canvas_id));
  const widget = widgets.find((one) => one.id === widget_id);
  if (!widget) {
    const message = `The canvas has no widget "${widget_id}".${suggestion(
      widgets.map((one) => one.id),
      widget_id,
    )}`;
    throw invalidField("widget_id", message);
  }
  const { widgets: data } = await readCanvasData({ id, project_id: project.id, widgets: [widget] }, { range });
  return data[0] ? widgetCsv(data[0], widget.options?.over === "runs") : "";
}
