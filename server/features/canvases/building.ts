import { checkWidgets } from "#server/features/canvases/check-widgets.ts";
import { outputLabels, readCanvasData } from "#server/features/canvases/data.ts";
import { proposalsApart } from "#server/features/canvases/extract.ts";
import { MOST_READ } from "#server/features/canvases/latest.ts";
import { placeIn } from "#server/features/canvases/output-places.ts";
import type {
  CanvasProposals,
  CanvasProposalsQuery,
  CanvasSource,
  CanvasSourcesQuery,
  Widget,
  WidgetData,
  WidgetPreviewInput,
} from "#server/features/canvases/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { latestResults, latestRuns } from "#server/runs/store/results.ts";

// What a canvas can be built of.

const MOST_SOURCES = 50;

/** The workflows that widgets can read, those with results first. */
export async function listSources(
  { project }: ProjectPrincipal,
  { search = "" }: CanvasSourcesQuery,
): Promise<{ items: CanvasSource[]; has_more: boolean }> {
  const rows = await latestRuns(project.id, search, MOST_SOURCES + 1);
  const items = rows.slice(0, MOST_SOURCES).map(async ({ snapshot_id, glimpse, glimpses, completed_at, ...row }): Promise<CanvasSource> => {
    const labels = [...new Set(outputLabels(await snapshotGraph(snapshot_id)))];
    const outputs = labels.map((label) => ({ label, glimpse: Object.hasOwn(glimpses, label) ? (glimpses[label] ?? null) : null }));
    return {
      ...row,
      completed_at: completed_at?.toISOString() ?? null,
      outputs: outputs.length > 0 ? outputs : [{ label: null, glimpse }],
    };
  });
  return { items: await Promise.all(items), has_more: rows.length > MOST_SOURCES };
}

/** The canvas that widgets stand on which are not saved. */
const UNSAVED = "unsaved";

/**
 * Widgets and whole canvases that fit what an Output gave last, with what the widgets would show.
 * @throws AppError NOT_FOUND for a workflow that the project does not have
 */
export async function readProposals(
  { project }: ProjectPrincipal,
  { workflow_id, output_label }: CanvasProposalsQuery,
): Promise<CanvasProposals> {
  const where = { id: workflow_id, project_id: project.id, deleted_at: null };
  const workflow = isUuid(workflow_id) ? await db().workflow.findFirst({ where, select: { name: true, snapshot_id: true } }) : null;
  if (!workflow) throw notFound("workflow");
  const [latest] = await latestResults(workflow_id, placeIn(await snapshotGraph(workflow.snapshot_id), output_label), 1, MOST_READ);
  if (!latest) return { execution_id: null, completed_at: null, output: null, widgets: [], canvases: [] };
  const label = output_label ?? workflow.name;
  const reading = { workflow_id, output_label };
  const proposed = await proposalsApart(project.id, latest.text, label);
  const widgets = proposed.widgets.map(
    ({ size, ...widget }, index) => ({ ...widget, ...reading, id: `proposal-${index}`, layout: { x: 0, y: 0, ...size } }) as Widget, // cast: a union again
  );
  const data = await readCanvasData({ id: UNSAVED, project_id: project.id, widgets });
  const canvases = proposed.canvases.map((canvas) => ({
    ...canvas,
    widgets: canvas.widgets.map((widget, index) => ({ ...widget, ...reading, id: `${canvas.id}-${index}` }) as Widget), // cast: as above
  }));
  return {
    execution_id: latest.execution_id,
    completed_at: latest.completed_at.toISOString(),
    output: proposed.tree,
    widgets: widgets.flatMap((widget, index) => {
      const shown = data.widgets[index];
      return shown ? [{ widget, data: shown }] : [];
    }),
    canvases,
  };
}

/**
 * What a widget would show that is not saved.
 * @throws AppError VALIDATION_ERROR for one that cannot be, as when a canvas is saved
 */
export async function previewWidget({ project }: ProjectPrincipal, { widget }: WidgetPreviewInput): Promise<WidgetData> {
  await checkWidgets(db(), project.id, [widget]);
  const { widgets } = await readCanvasData({ id: UNSAVED, project_id: project.id, widgets: [widget] });
  return widgets[0] ?? { widget_id: widget.id, status: "empty" };
}
