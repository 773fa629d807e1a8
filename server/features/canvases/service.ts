import type { Canvas as CanvasRow } from "#prisma/generated/client.ts";
import { checkWidgets } from "#server/features/canvases/check-widgets.ts";
import { readCanvasData } from "#server/features/canvases/data.ts";
import {
  Canvas,
  type CanvasData,
  type CanvasDataInput,
  type CanvasSummary,
  type CreateCanvasInput,
  type UpdateCanvasInput,
} from "#server/features/canvases/schema.ts";
import { deleteResource, saveResource } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** A canvas as the API shows it. */
export const toCanvas = ({ id, name, widgets, created_at, updated_at }: CanvasRow): Canvas => ({
  id,
  name,
  widgets: Canvas.shape.widgets.parse(widgets),
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

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

/**
 * What the widgets of a canvas show now.
 * @throws AppError NOT_FOUND
 */
export async function getCanvasData({ project }: ProjectPrincipal, { canvas_id, range }: CanvasDataInput): Promise<CanvasData> {
  const { id, widgets } = toCanvas(await findCanvas(project.id, canvas_id));
  return readCanvasData({ id, project_id: project.id, widgets }, { range });
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
  if (widgets) await checkWidgets(principal.project.id, widgets, before.widgets);
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
