import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import type { Canvas, UpdateCanvasInput } from "#server/schemas/canvas.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { toCanvas } from "#server/services/canvases/canvas-dto.ts";
import { checkWidgets } from "#server/services/canvases/check-widgets.ts";
import { findCanvas } from "#server/services/canvases/find-canvas.ts";

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
  return db().$transaction(async (tx) => {
    const [row] = await tx.canvas.updateManyAndReturn({ where: { id: before.id }, data: change });
    if (!row) throw notFound("canvas");
    await recordAudit(
      principal,
      {
        action: "canvas.update",
        resource_type: "canvas",
        resource_id: row.id,
        resource_name: row.name,
        detail: { changed: Object.keys(change) },
      },
      tx,
    );
    return toCanvas(row);
  });
}
