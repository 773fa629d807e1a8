import { type Canvas as CanvasRow, Prisma } from "#prisma/generated/client.ts";
import { checkWidgets } from "#server/features/canvases/check-widgets.ts";
import { readCanvasData } from "#server/features/canvases/data.ts";
import { holdWorkflows, saveReadings } from "#server/features/canvases/readings.ts";
import { withCurrentLabels } from "#server/features/canvases/rename-outputs.ts";
import {
  Canvas,
  type CanvasData,
  type CanvasDataInput,
  type CanvasSummary,
  type CreateCanvasInput,
  PREVIEW_WIDGETS,
  type UpdateCanvasInput,
} from "#server/features/canvases/schema.ts";
import { deleteResource, saveResource } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { together } from "#server/platform/db/read-together.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { hasWords } from "#server/platform/search-words.ts";
import { TimeSlice } from "#server/platform/time-slice.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";
import { firstInstant } from "#server/shared/time-input.ts";

type Row = Pick<CanvasRow, "id" | "name" | "shared_at" | "share_expires_at" | "created_at" | "updated_at">;

const summaryOf = ({ id, name, shared_at, share_expires_at, created_at, updated_at }: Row) => ({
  id,
  name,
  share:
    shared_at && share_expires_at && share_expires_at > new Date()
      ? { created_at: shared_at.toISOString(), expires_at: share_expires_at.toISOString() }
      : null,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

/** A canvas as the API shows it. */
export const toCanvas = (row: CanvasRow): Canvas => ({ ...summaryOf(row), widgets: Canvas.shape.widgets.parse(row.widgets) });

/**
 * Creates a canvas.
 * @throws AppError VALIDATION_ERROR for widgets that cannot be, e.g. over a workflow of another project
 */
export async function createCanvas(principal: ProjectPrincipal, { name, widgets = [] }: CreateCanvasInput): Promise<Canvas> {
  const project_id = principal.project.id;
  const record = { what: "a canvas", name, action: "canvas.create", resource_type: "canvas" } as const;
  const saved = await saveResource(principal, record, async (tx) => {
    await holdWorkflows(tx, project_id, widgets);
    const current = await withCurrentLabels(tx, project_id, widgets);
    await checkWidgets(tx, project_id, current);
    const row = await tx.canvas.create({ data: { project_id, name, widgets: current } });
    await saveReadings(tx, row, current);
    return row;
  });
  return toCanvas(saved);
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

/** The project that a canvas is in; undefined when there is no such canvas. */
export async function projectOfCanvas(id: string): Promise<string | undefined> {
  const row = isUuid(id) ? await db().canvas.findUnique({ where: { id }, select: { project_id: true } }) : null;
  return row?.project_id;
}

/** Tells whoever looks at a canvas, in whichever process, that it is another now. */
const tellViewers = (tx: Pick<ReturnType<typeof db>, "$executeRaw">, id: string) =>
  tx.$executeRaw`SELECT pg_notify('treadle_canvas', ${id})`;

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
  const row = await findCanvas(project.id, canvas_id);
  const { id, widgets } = toCanvas(row);
  const key = JSON.stringify(["canvas-data", id, row.updated_at, range]);
  const data = await together(key, () => readCanvasData({ id, project_id: project.id, widgets }, { range }));
  // Viewers who share it would otherwise all validate and write it in the same turn of the event loop.
  await new TimeSlice().next();
  return data;
}

/** The project's canvases without their widgets, newest first. */
export async function listCanvases({ project }: ProjectPrincipal, input: ListInput): Promise<Page<CanvasSummary>> {
  const { skip, take } = pageWindow(input);
  const wanted = Prisma.sql`project_id = ${project.id}::uuid AND ${hasWords(input.q, Prisma.sql`name`)}`;
  const counts = db().$queryRaw<{ count: number }[]>`SELECT count(*)::int AS count FROM canvases WHERE ${wanted}`;
  const rows = db().$queryRaw<(Row & Pick<CanvasSummary, "widget_count" | "preview">)[]>`
    SELECT id, name, shared_at, share_expires_at, created_at, updated_at, jsonb_array_length(widgets) AS widget_count, (
      SELECT coalesce(jsonb_agg(jsonb_build_object('type', w->'type', 'kind', w->'options'->'kind', 'layout', w->'layout') ORDER BY n), '[]')
      FROM (
        SELECT w, row_number() OVER (ORDER BY (w->'layout'->>'y')::int, (w->'layout'->>'x')::int) AS n
        FROM jsonb_array_elements(widgets) AS w
      ) AS placed WHERE n <= ${PREVIEW_WIDGETS}
    ) AS preview
    FROM canvases WHERE ${wanted} ORDER BY id DESC OFFSET ${skip} LIMIT ${take}`;
  const [[total], page] = await Promise.all([counts, rows]);
  return paged(input, [total?.count ?? 0, page], ({ widget_count, preview, ...row }) => ({ ...summaryOf(row), widget_count, preview }));
}

/**
 * Changes name or widgets of a canvas; what is left out stays.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR as at creation; CONFLICT when it was changed after `unchanged_since`. Nothing is
 *   changed then
 */
export async function updateCanvas(
  principal: ProjectPrincipal,
  { canvas_id, name, widgets, unchanged_since }: UpdateCanvasInput,
): Promise<Canvas> {
  const before = toCanvas(await findCanvas(principal.project.id, canvas_id));
  const project_id = principal.project.id;
  const change = { ...(name !== undefined && { name }), ...(widgets && { widgets }) };
  const detail = { changed: Object.keys(change) };
  const record = { what: "a canvas", name: name ?? before.name, action: "canvas.update", resource_type: "canvas", detail } as const;
  const saved = await saveResource(principal, record, async (tx) => {
    if (widgets) {
      await holdWorkflows(tx, project_id, widgets);
      change.widgets = await withCurrentLabels(tx, project_id, widgets);
      await checkWidgets(tx, project_id, change.widgets, before.widgets);
    }
    const known = unchanged_since !== undefined && { updated_at: firstInstant(unchanged_since) };
    const [row] = await tx.canvas.updateManyAndReturn({ where: { id: before.id, ...known }, data: change });
    if (!row && known && (await tx.canvas.findUnique({ where: { id: before.id } })))
      throw new AppError("CONFLICT", "This canvas was changed after you read it. Read it again.");
    if (!row) throw notFound("canvas");
    if (change.widgets) await saveReadings(tx, row, change.widgets);
    await tellViewers(tx, row.id);
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
  const record = { action: "canvas.delete", resource_type: "canvas", resource_id: id, resource_name: name } as const;
  await deleteResource(principal, "canvas", record, async (tx) => {
    await tellViewers(tx, id);
    return tx.canvas.deleteMany({ where: { id } });
  });
}
