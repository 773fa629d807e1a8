import { jsonpath } from "json-p3";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { messageOf } from "#server/message-of.ts";
import { GRID_COLUMNS, type Widget } from "#server/schemas/canvas.ts";
import type { FieldError } from "#server/schemas/error.ts";
import { isUuid } from "#server/services/ids.ts";

function pathFault(path: string): string | undefined {
  try {
    jsonpath.compile(path);
    return undefined;
  } catch (error) {
    return `This is no JSONPath: ${messageOf(error)}. It begins with $, for example $.total.`;
  }
}

/** Every path of a widget's options with where it stands in them. */
function pathsOf({ options, type }: Widget): [string, string][] {
  if (!options) return [];
  if (type === "chart" && "kind" in options)
    return [
      ["x", options.x],
      ["y", options.y],
    ];
  const columns = "columns" in options ? (options.columns ?? []) : [];
  const own: [string, string][] = "path" in options && options.path !== undefined ? [["path", options.path]] : [];
  return [...own, ...columns.map(({ path }, index): [string, string] => [`columns.${index}.path`, path])];
}

function faultsOf(widget: Widget, index: number, ids: ReadonlyMap<string, number>): FieldError[] {
  const at = `widgets.${index}`;
  const { x, w } = widget.layout;
  return [
    ...(ids.get(widget.id) === index
      ? []
      : [{ path: `${at}.id`, message: `Another widget has the id "${widget.id}". Give each its own.` }]),
    ...(x + w > GRID_COLUMNS ? [{ path: `${at}.layout.w`, message: `x + w must be at most ${GRID_COLUMNS}, not ${x + w}.` }] : []),
    ...pathsOf(widget).flatMap(([field, path]) => {
      const message = pathFault(path);
      return message ? [{ path: `${at}.options.${field}`, message }] : [];
    }),
  ];
}

/**
 * The rules for widgets that their schema cannot say.
 * @param known workflows that the canvas names already: one that has been deleted since may stay, as its executions do
 * @throws AppError VALIDATION_ERROR that lists every fault
 */
export async function checkWidgets(project_id: string, widgets: readonly Widget[], known: readonly string[] = []): Promise<void> {
  const ids = new Map(widgets.map(({ id }, index): [string, number] => [id, index]).reverse());
  const errors = widgets.flatMap((widget, index) => faultsOf(widget, index, ids));
  const wanted = [...new Set(widgets.map(({ workflow_id }) => workflow_id))];
  const found = await db().workflow.findMany({
    where: { project_id, deleted_at: null, id: { in: wanted.filter(isUuid) } },
    select: { id: true },
  });
  const there = new Set([...known, ...found.map(({ id }) => id)]);
  for (const [index, { workflow_id }] of widgets.entries()) {
    if (!there.has(workflow_id))
      errors.push({
        path: `widgets.${index}.workflow_id`,
        message: "There is no such workflow in this project. Choose one of GET /workflows.",
      });
  }
  if (errors[0]) throw new AppError("VALIDATION_ERROR", `${errors[0].path}: ${errors[0].message}`, { errors });
}
