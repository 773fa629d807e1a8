import type { Canvas as CanvasRow } from "#prisma/generated/client.ts";
import { Canvas } from "#server/schemas/canvas.ts";

/** A canvas as the API shows it. */
export const toCanvas = ({ id, name, widgets, created_at, updated_at }: CanvasRow): Canvas => ({
  id,
  name,
  widgets: Canvas.shape.widgets.parse(widgets),
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
