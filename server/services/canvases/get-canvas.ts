import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { Canvas } from "#server/schemas/canvas.ts";
import { toCanvas } from "#server/services/canvases/canvas-dto.ts";
import { findCanvas } from "#server/services/canvases/find-canvas.ts";

/**
 * A canvas with its widgets.
 * @throws AppError NOT_FOUND
 */
export async function getCanvas({ project }: ProjectPrincipal, { canvas_id }: { canvas_id: string }): Promise<Canvas> {
  return toCanvas(await findCanvas(project.id, canvas_id));
}
