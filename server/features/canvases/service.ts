import { jsonpath } from "json-p3";
import type { Canvas as CanvasRow } from "#prisma/generated/client.ts";
import {
  Canvas,
  type CanvasSummary,
  type CreateCanvasInput,
  GRID_COLUMNS,
  type UpdateCanvasInput,
  type Widget,
} from "#server/features/canvases/schema.ts";
import { deleteResource, saveResource } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, messageOf, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { FieldError } from "#server/shared/error-schema.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** A canvas as the API shows it. */
export const toCanvas = ({ id, name, widgets, created_at, updated_at }: CanvasRow): Canvas => ({
  id,
  name,
  widgets: Canvas.shape.widgets.parse(widgets),
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

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
    return [...(options.x === undefined ? [] : [["x", options.x] satisfies [string, string]]), ["y", options.y]];
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

/**
 * Creates a canvas.
 * @throws AppError VALIDATION_ERROR for widgets that cannot be, e.g. over a workflow of another project
 */
export async function createCanvas(principal: ProjectPrincipal, { name, widgets = [] }: CreateCanvasInput): Promise<Canvas> {
  const project_id = principal.project.id;
  await checkWidgets(project_id, widgets);
  const record = { what: "a canvas", name, action: "canvas.create", resource_type: "canvas" };
  return toCanvas(await saveResource(principal, record, (tx) => tx.canvas.create({ data: { project_id, name, widgets } })));
}

/**
 * The stored canvas.
 * @throws AppError NOT_FOUND, also for a canvas of another project
 */
export async function findCanvas(project_id: string, id: string) {
  const row = isUuid(id) ? await db().canvas.findFirst({ where: { id, project_id } }) : null;
  if (!row) throw notFound("canvas");
  return row;
}

/**
 * A canvas with its widgets.
 * @throws AppError NOT_FOUND
 */
export async function getCanvas({ project }: ProjectPrincipal, { canvas_id }: { canvas_id: string }): Promise<Canvas> {
  return toCanvas(await findCanvas(project.id, canvas_id));
}

type Row = Omit<CanvasSummary, "created_at" | "updated_at"> & { created_at: Date; updated_at: Date };

/** The project's canvases without their widgets, newest first. */
export async function listCanvases({ project }: ProjectPrincipal, input: PageInput): Promise<Page<CanvasSummary>> {
  const { skip, take } = pageWindow(input);
  const rows = db().$queryRaw<Row[]>`
    SELECT id, name, created_at, updated_at, jsonb_array_length(widgets) AS widget_count FROM canvases
    WHERE project_id = ${project.id}::uuid ORDER BY id DESC OFFSET ${skip} LIMIT ${take}`;
  const found = await Promise.all([db().canvas.count({ where: { project_id: project.id } }), rows]);
  return paged(input, found, (row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }));
}

/**
 * Changes name or widgets of a canvas; what is left out stays.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR as at creation, and nothing is changed then
 */
export async function updateCanvas(principal: ProjectPrincipal, { canvas_id, name, widgets }: UpdateCanvasInput): Promise<Canvas> {
  const before = toCanvas(await findCanvas(principal.project.id, canvas_id));
  if (widgets)
    await checkWidgets(
      principal.project.id,
      widgets,
      before.widgets.map(({ workflow_id }) => workflow_id),
    );
  const change = { ...(name !== undefined && { name }), ...(widgets && { widgets }) };
  const detail = { changed: Object.keys(change) };
  const record = { what: "a canvas", name: name ?? before.name, action: "canvas.update", resource_type: "canvas", detail };
  const saved = await saveResource(principal, record, async (tx) => {
    const [row] = await tx.canvas.updateManyAndReturn({ where: { id: before.id }, data: change });
    if (!row) throw notFound("canvas");
    return row;
  });
  return toCanvas(saved);
}

/**
 * Deletes a canvas of the project. The workflows that it showed stay as they are.
 * @throws AppError NOT_FOUND
 */
export async function deleteCanvas(principal: ProjectPrincipal, { canvas_id }: { canvas_id: string }): Promise<void> {
  const { id, name } = await findCanvas(principal.project.id, canvas_id);
  const record = { action: "canvas.delete", resource_type: "canvas", resource_id: id, resource_name: name };
  await deleteResource(principal, "canvas", record, (tx) => tx.canvas.deleteMany({ where: { id } }));
}
