import { proposeCanvases } from "#server/features/canvases/canvas-templates.ts";
import { outputTree } from "#server/features/canvases/output-tree.ts";
import { proposeWidgets } from "#server/features/canvases/propose-widgets.ts";

/** Widgets that fit an output, and the parts of it that they can read. */
export const proposalsFor = (output: string, label: string) => ({
  widgets: proposeWidgets(output, label),
  canvases: proposeCanvases(output, label),
  tree: outputTree(output),
});
export type Proposed = ReturnType<typeof proposalsFor>;
