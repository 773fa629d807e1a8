import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { CanvasSummary } from "#server/schemas/canvas.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

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
