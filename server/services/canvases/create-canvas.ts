import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Canvas, CreateCanvasInput } from "#server/schemas/canvas.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { toCanvas } from "#server/services/canvases/canvas-dto.ts";
import { checkWidgets } from "#server/services/canvases/check-widgets.ts";

/**
 * Creates a canvas.
 * @throws AppError VALIDATION_ERROR for widgets that cannot be, e.g. over a workflow of another project
 */
export async function createCanvas(principal: ProjectPrincipal, { name, widgets = [] }: CreateCanvasInput): Promise<Canvas> {
  const project_id = principal.project.id;
  await checkWidgets(project_id, widgets);
  return db().$transaction(async (tx) => {
    const row = await tx.canvas.create({ data: { project_id, name, widgets } });
    await recordAudit(principal, { action: "canvas.create", resource_type: "canvas", resource_id: row.id, resource_name: name }, tx);
    return toCanvas(row);
  });
}
