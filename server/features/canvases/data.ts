import { setImmediate as turn } from "node:timers/promises";
import { latestData, MOST_READ, problem, resultsNeeded, type Shown } from "#server/features/canvases/latest.ts";
import { overRunsData, readingsKept, versionsWithin } from "#server/features/canvases/over-runs.ts";
import { type Canvas, type CanvasData, pathsOf, type Widget, type WidgetData, type WidgetRange } from "#server/features/canvases/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { pathCostFault, pathFault, usedMs } from "#server/platform/json-path.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { outputNodes } from "#server/runs/executor/ending.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { failingSince, latestResults } from "#server/runs/store/results.ts";
import { nearestName } from "#server/workflow/expressions.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** Labels of a graph's Output nodes. */
export function outputLabels(graph: Graph): string[] {
  const ids = new Set(outputNodes(graph));
  return graph.nodes.filter(({ id }) => ids.has(id)).map(labelOf);
}

/** What widgets have to know of a workflow. */
interface Source {
  id: string;
  is_deleted: boolean;
  /** Of its current version. */
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
    return [row.id, { id: row.id, is_deleted: row.deleted_at !== null, labels: outputLabels(graph), old }];
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

/** The results that several widgets read, each read once. */
function resultReader(widgets: readonly Widget[]) {
  const keyOf = ({ workflow_id, output_label }: Widget) => `${workflow_id} ${output_label ?? ""}`;
  const counts = Map.groupBy(widgets, keyOf);
  const read = new Map<string, ReturnType<typeof latestResults>>();
  return (widget: Widget) => {
    const key = keyOf(widget);
    const count = Math.max(...(counts.get(key) ?? [widget]).map(resultsNeeded));
    const results = read.get(key) ?? latestResults(widget.workflow_id, widget.output_label, count, MOST_READ);
    read.set(key, results);
    return results;
  };
}

/** How much of a processor looking through the latest results may take for one canvas, in milliseconds. */
const LONGEST_MS = 3000;

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
  const resultsOf = resultReader(widgets);
  const isOverRuns = ({ options }: Widget) => options?.over === "runs";
  const kept = widgets.some(isOverRuns) ? await readingsKept(canvas.project_id, [...sources.keys()]) : new Map();
  const versionsOf = ({ workflow_id, options }: Widget) => versionsWithin(workflow_id, range ?? options?.range ?? "30d", now);
  let spentMs = 0;
  const latest = async (widget: Widget): Promise<Shown> => {
    const results = await resultsOf(widget);
    await turn(); // one may take a while, and others want to go on between them
    if (spentMs > LONGEST_MS) return problem("The widgets of this canvas take too long together. Use simpler paths, or fewer widgets.");
    const began = usedMs();
    const data = latestData(widget, results);
    spentMs += usedMs() - began;
    return data;
  };
  const shown = async (widget: Widget): Promise<Shown> => {
    const source = sources.get(widget.workflow_id);
    if (!source) return problem("The workflow of this widget is gone. Choose another one.");
    const { output_label: label } = widget;
    if (label !== null && !source.is_deleted && !source.labels.includes(label)) return missingLabel(label, source.labels);
    const [fault] = pathsOf(widget).flatMap(([, path]) => faultOf(path) ?? []);
    if (fault) return problem(fault);
    const old = source.old && { old: source.old };
    if (!isOverRuns(widget)) return { ...(await latest(widget)), ...old };
    const shown = await overRunsData(widget, kept, { range, now });
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
