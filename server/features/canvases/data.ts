import { latestDataApart } from "#server/features/canvases/extract.ts";
import { MOST_READ, problem, resultsNeeded, type Shown, shareOf } from "#server/features/canvases/latest.ts";
import { outputsIn, placeIn } from "#server/features/canvases/output-places.ts";
import { foldKept, isOverRuns, overRunsData, readingsKept, spansOf, versionsWithin } from "#server/features/canvases/over-runs.ts";
import { type Canvas, type CanvasData, pathsOf, type Widget, type WidgetData, type WidgetRange } from "#server/features/canvases/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { pathCostFault, pathFault } from "#server/platform/json-path.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { failingSince, latestResults, type OutputPlace } from "#server/runs/store/results.ts";
import { nearestName } from "#server/workflow/expressions.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** Labels of a graph's Output nodes. */
export const outputLabels = (graph: Graph): string[] => outputsIn(graph).map(({ label }) => label);

/** What widgets have to know of a workflow. */
interface Source {
  id: string;
  is_deleted: boolean;
  /** Of its current version. */
  graph: Graph;
  labels: readonly string[];
  old: WidgetData["old"];
}

async function oldOf(row: { id: string; enabled: boolean; updated_at: Date; deleted_at: Date | null }): Promise<WidgetData["old"]> {
  if (row.deleted_at) return { reason: "deleted", since: row.deleted_at.toISOString(), execution_id: null };
  if (!row.enabled) return { reason: "disabled", since: row.updated_at.toISOString(), execution_id: null };
  const failing = await failingSince(row.id);
  return failing && { reason: "failing", since: failing.since.toISOString(), execution_id: failing.execution_id };
}

async function sourcesOf(project_id: string, widgets: readonly Widget[]): Promise<Map<string, Source>> {
  const ids = [...new Set(widgets.map(({ workflow_id }) => workflow_id))].filter(isUuid);
  const rows = await db().workflow.findMany({
    where: { project_id, id: { in: ids } },
    select: { id: true, enabled: true, updated_at: true, deleted_at: true, snapshot_id: true },
  });
  const sources = rows.map(async (row): Promise<[string, Source]> => {
    const [graph, old] = await Promise.all([snapshotGraph(row.snapshot_id), oldOf(row)]);
    return [row.id, { id: row.id, is_deleted: row.deleted_at !== null, graph, labels: outputLabels(graph), old }];
  });
  return new Map(await Promise.all(sources));
}

/** Says that a workflow has no Output node of this label any more, and which one may be meant. */
function missingLabel(label: string, labels: readonly string[]): Shown {
  const near = nearestName(labels, label) ?? labels[0];
  const instead = near === undefined ? "It has none; show the output of the run instead." : `Did you mean "${near}"?`;
  return { ...problem(`The workflow has no Output "${label}" any more. ${instead}`), suggestion: near ?? "" };
}

/** Why a path is not followed: one that a canvas has from before paths were bounded, or that nobody has checked yet. */
function faultOf(path: string): string | undefined {
  const fault = pathFault(path, path, "$.total");
  if (fault) return fault;
  const cost = pathCostFault(path);
  return cost && `The path ${path} takes too long. ${cost}`;
}

/** What a reader outside of the project is shown: not which runs it comes from. */
function withoutRuns({ series, rows, old, execution_id, ...data }: WidgetData): WidgetData {
  const hidden = { execution_id: null };
  return {
    ...data,
    ...(execution_id !== undefined && hidden),
    ...(old && { old: { ...old, ...hidden } }),
    ...(series && { series: series.map(({ name, points }) => ({ name, points: points.map((point) => ({ ...point, ...hidden })) })) }),
    ...(rows && { rows: rows.map((row) => ({ ...row, ...hidden })) }),
  };
}

/** Data of widgets over the latest results: those over the same results are read together. */
function latestReader(
  project_id: string,
  widgets: readonly Widget[],
  placeOf: (widget: Widget) => OutputPlace | null,
  share: number,
): (widget: Widget) => Promise<Shown> {
  const keyOf = ({ workflow_id, output_label }: Widget) => JSON.stringify([workflow_id, output_label]);
  const groups = Map.groupBy(widgets, keyOf);
  const reads = new Map<string, Promise<Shown[]>>();

  return async (widget) => {
    const key = keyOf(widget);
    const group = groups.get(key) ?? [widget];
    const count = Math.max(...group.map(resultsNeeded));
    const read =
      reads.get(key) ??
      latestResults(widget.workflow_id, placeOf(widget), count, MOST_READ).then((results) =>
        latestDataApart(project_id, group, results, share),
      );
    reads.set(key, read);
    return (await read)[group.indexOf(widget)] ?? { status: "empty" };
  };
}

/** Data of the latest result where it completed within a range, and otherwise none. */
function withinRange(shown: Shown, range: WidgetRange, now: Date): Shown {
  const { since } = spansOf(range, now).span;
  const isEarlier = since && shown.completed_at !== undefined && Date.parse(shown.completed_at) < since.getTime();
  return isEarlier ? { status: "empty" } : shown;
}

/** How many widgets are read side by side: runs need connections to the database too. */
const AT_ONCE = 6;

/**
 * What the widgets of a canvas show now. Whoever asks has made sure that the caller may read the canvas.
 * @param canvas it need not be stored
 * @param options.range in place of every widget's own
 * @param options.widget_ids left out, all
 * @param options.isShared true leaves out which runs it comes from
 */
export async function readCanvasData(
  canvas: Pick<Canvas, "id" | "widgets"> & { project_id: string },
  { range, widget_ids, isShared = false }: { range?: WidgetRange | undefined; widget_ids?: readonly string[]; isShared?: boolean } = {},
): Promise<CanvasData> {
  const now = new Date();
  const widgets = widget_ids ? canvas.widgets.filter(({ id }) => widget_ids.includes(id)) : canvas.widgets;
  const sources = await sourcesOf(canvas.project_id, widgets);
  const kept = widgets.some(isOverRuns) ? await readingsKept(canvas.project_id, [...sources.keys()]) : new Map();
  await foldKept(widgets, kept);
  const read = new Map();
  const versions = new Map<string, ReturnType<typeof versionsWithin>>();
  const versionsOf = ({ workflow_id, options }: Widget) => {
    const wanted = range ?? options?.range ?? "30d";
    const key = `${workflow_id} ${wanted}`;
    const read = versions.get(key) ?? versionsWithin(workflow_id, wanted, now);
    versions.set(key, read);
    return read;
  };
  /** Reason for which a widget can show nothing, known before any result is read. */
  const faultIn = (widget: Widget): Shown | undefined => {
    const source = sources.get(widget.workflow_id);
    if (!source) return problem("The workflow of this widget is gone. Choose another one.");
    const { output_label: label } = widget;
    if (label !== null && !source.is_deleted && !source.labels.includes(label)) return missingLabel(label, source.labels);
    const [fault] = pathsOf(widget).flatMap(([, path]) => faultOf(path) ?? []);
    return fault === undefined ? undefined : problem(fault);
  };
  const faults = new Map(widgets.map((widget) => [widget, faultIn(widget)]));
  const placeOf = ({ workflow_id, output_label }: Widget) => {
    const graph = sources.get(workflow_id)?.graph;
    return graph ? placeIn(graph, output_label) : null;
  };
  // Of all its widgets, so that one which is read alone shows the same.
  const share = shareOf(canvas.widgets.length);
  const latest = latestReader(
    canvas.project_id,
    widgets.filter((widget) => !faults.get(widget) && !isOverRuns(widget)),
    placeOf,
    share,
  );
  const shown = async (widget: Widget): Promise<Shown> => {
    const fault = faults.get(widget);
    if (fault) return fault;
    const since = sources.get(widget.workflow_id)?.old;
    const old = since && { old: since };
    if (widget.options?.over !== "runs") return { ...(await latest(widget)), ...old };
    const shown = isOverRuns(widget)
      ? await overRunsData(widget, kept, { project_id: canvas.project_id, place: placeOf(widget), range, now, read, share })
      : withinRange(await latest(widget), range ?? widget.options.range ?? "30d", now);
    return { ...shown, versions: await versionsOf(widget), ...old };
  };
  const data: WidgetData[] = [];
  for (let from = 0; from < widgets.length; from += AT_ONCE) {
    const some = widgets.slice(from, from + AT_ONCE);
    data.push(
      ...(await Promise.all(some.map(async (widget): Promise<WidgetData> => ({ widget_id: widget.id, ...(await shown(widget)) })))),
    );
  }
  return { canvas_id: canvas.id, range: range ?? null, generated_at: now.toISOString(), widgets: isShared ? data.map(withoutRuns) : data };
}
