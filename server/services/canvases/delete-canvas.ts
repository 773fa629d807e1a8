import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { findCanvas } from "#server/services/canvases/find-canvas.ts";

/**
 * Deletes a canvas of the project. The workflows that it showed stay as they are.
 * @throws AppError NOT_FOUND
 */
export async function deleteCanvas(principal: ProjectPrincipal, { canvas_id }: { canvas_id: string }): Promise<void> {
  const { id, name } = await findCanvas(principal.project.id, canvas_id);
  await db().$transaction(async (tx) => {
    const { count } = await tx.canvas.deleteMany({ where: { id } });
    if (count === 0) throw notFound("canvas");
    await recordAudit(principal, { action: "canvas.delete", resource_type: "canvas", resource_id: id, resource_name: name }, tx);
  });
}
