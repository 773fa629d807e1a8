"use client";

import { EdgeLabelRenderer, type EdgeProps, getSmoothStepPath, useStore } from "@xyflow/react";
import { Plus, X } from "lucide-react";
import { memo } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { cardStatus, type RunSnapshot } from "#components/runs/store/run-snapshot.ts";
import { cn } from "#components/ui/cn.ts";
import { useReducedMotion } from "#components/ui/use-reduced-motion.ts";
import { useEdgeDiff } from "#components/workflow-editor/canvas/cards/graph-diff-mark.tsx";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { handleOf } from "#server/workflow/disabled.ts";
import { CARD_WIDTH } from "#server/workflow/layout/node-size.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

const STROKES: Record<EdgeRunState, string> = {
  none: "stroke-line-control",
  queued: "stroke-line-control opacity-50",
  running: "stroke-running",
  taken: "stroke-complete",
  failed: "stroke-failed",
  skipped: "stroke-line-control opacity-50 [stroke-dasharray:2_5]",
};

/** A connection: rounded steps, the run's colour, and on hover or selection + to insert and × to delete. */
export const FlowEdge = memo(function FlowEdge(props: EdgeProps) {
  const { id, source, target, sourceHandleId, selected, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition } = props;
  const runState = useRun(({ snapshot, view }) =>
    edgeRunState(snapshot, view?.graph ?? null, { source, target, sourceHandle: sourceHandleId }),
  );
  const diff = useEdgeDiff(id);
  const isHovered = useCanvasUi((state) => state.hoveredEdge === id);
  // With several selected, a forest of buttons would help nobody.
  const isOnlyOne = useEditor((state) => selected === true && onlySelected(state.edges) === id);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const isStill = useReducedMotion();
  const [path, middleX, middleY] = getSmoothStepPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
    borderRadius: 8,
  });
  return (
    <>
      <path
        d={path}
        fill="none"
        className={cn("flow-line", selected ? "stroke-ink" : isHovered ? "stroke-ink-soft" : (diff ?? STROKES[runState]))}
        style={{ strokeWidth: diff ? 2.5 : runState === "none" || runState === "queued" ? 1.5 : 2 }}
        data-run-state={runState}
      />
      {runState === "running" && !isStill && <path d={path} fill="none" className="flow-stitch stroke-raised" style={{ strokeWidth: 2 }} />}
      <path d={path} fill="none" strokeOpacity={0} strokeWidth={22} className="react-flow__edge-interaction" />
      {(isHovered || isOnlyOne) && !isReadOnly && <EdgeButtons id={id} x={middleX} y={middleY} />}
    </>
  );
});

function EdgeButtons({ id, x, y }: { id: string; x: number; y: number }) {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  // From far they stay as large as they are.
  const size = useStore((state) => Math.max(1, 1 / state.transform[2]));
  const button =
    "nodrag nopan inline-flex size-6 items-center justify-center rounded-full border border-line-control bg-raised text-ink-soft shadow-sm hover:border-thread hover:text-ink [&>svg]:size-3.5";
  return (
    <EdgeLabelRenderer>
      <div
        className="pointer-events-auto absolute flex gap-1 p-2"
        style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px) scale(${size})`, zIndex: 1001 }}
        onPointerEnter={({ buttons }) => buttons === 0 && ui.setState({ hoveredEdge: id })}
        onPointerLeave={() => ui.setState({ hoveredEdge: null })}
      >
        <button
          type="button"
          aria-label="Insert a node here"
          className={button}
          onClick={() =>
            ui.setState({
              palette: { placement: { position: { x: x - CARD_WIDTH / 2, y: y - 50 }, edgeId: id }, at: null },
              hoveredEdge: null,
            })
          }
        >
          <Plus />
        </button>
        <button type="button" aria-label="Delete connection" className={button} onClick={() => editor.getState().remove([], [id])}>
          <X />
        </button>
      </div>
    </EdgeLabelRenderer>
  );
}

/** How a run went along an edge. `none`: it tells nothing of it. */
export type EdgeRunState = "none" | "queued" | "running" | "taken" | "failed" | "skipped";

interface Way {
  source: string;
  target: string;
  sourceHandle?: string | null | undefined;
}

const nodes = new WeakMap<Graph, ReadonlyMap<string, GraphNode>>();

/** A graph's nodes by id, found out once for each graph. One that is switched off leaves behind what it was given, which tells nothing of its ways. */
function nodesOf(graph: Graph): ReadonlyMap<string, GraphNode> {
  const known = nodes.get(graph) ?? new Map(graph.nodes.flatMap((node) => (node.data.disabled === true ? [] : [[node.id, node] as const])));
  nodes.set(graph, known);
  return known;
}

const waysIn = new WeakMap<Graph, ReadonlyMap<string, number>>();

/** How many edges lead to each node of a graph, counted once for each graph. */
function waysInOf(graph: Graph): ReadonlyMap<string, number> {
  const known = waysIn.get(graph) ?? new Map([...Map.groupBy(graph.edges, (edge) => edge.target)].map(([id, edges]) => [id, edges.length]));
  waysIn.set(graph, known);
  return known;
}

/**
 * How a run went along an edge, told by what its source left behind: of a branch or a review that has ended, only the way
 * that it went by was taken, whatever became of the nodes at the others. In a loop, whose items go different ways, the only
 * way to a node was taken when some item came to it.
 * @param graph the one that runs
 */
export function edgeRunState(snapshot: RunSnapshot | null, graph: Graph | null, { source, target, sourceHandle }: Way): EdgeRunState {
  const node = snapshot?.nodes[source];
  if (!snapshot || !node || !snapshot.nodes[target]) return "none";
  const [from, to] = [cardStatus(snapshot, source), cardStatus(snapshot, target)];
  if (from === "skipped" || to === "skipped") return "skipped";
  const isReached = graph !== null && snapshot.nodes[target].iteration !== "" && to !== "queued" && waysInOf(graph).get(target) === 1;
  if (from === "complete" && graph && !isReached) {
    const decided = nodesOf(graph).get(source);
    const left = decided ? handleOf(decided, node) : null;
    if (left !== null && sourceHandle && left !== sourceHandle) return "skipped";
  }
  if (to === "running") return "running";
  if (to === "failed") return "failed";
  // What came along waits there for the others.
  if (to === "complete" || to === "waiting" || to === "stopped" || (to === "queued" && from === "complete")) return "taken";
  return to === "queued" ? "queued" : "none";
}

const known = new WeakMap<readonly object[], string | null>();

/** Id of the one edge that is selected; null with none or several. Looked for once in each list, however many ask. */
export function onlySelected(edges: readonly { id: string; selected?: boolean }[]): string | null {
  const found = known.get(edges);
  if (found !== undefined) return found;
  const [first, ...others] = edges.filter((edge) => edge.selected);
  const only = first && others.length === 0 ? first.id : null;
  known.set(edges, only);
  return only;
}
