import { getSmoothStepPath, Position } from "@xyflow/system";
import { cn } from "#components/ui/cn.ts";
import type { FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { NodeIcon, roleStyle } from "#components/workflow-editor/nodes/node-icon.tsx";
import { nodeUiOf } from "#components/workflow-editor/nodes/node-registry.ts";
import { definitionOf, handlesOf, labelOf } from "#server/workflow/graph.ts";
import { bodiesOf, type Frame, framesOf } from "#server/workflow/layout/loop-frames.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

/** As in the editor. */
const WAY = { sourcePosition: Position.Right, targetPosition: Position.Left, borderRadius: 8 };
/** Size of a drawn node in the graph's own units, and the empty border around the whole. */
const NODE = { width: 250, height: 96 };
const BORDER = 24;
/** Height of the head of a loop's frame. */
const HEAD = 56;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The nodes that take part in a run with their places, loops as frames around their bodies, and the box around all of it. */
function layoutOf({ nodes, edges }: Graph) {
  const shown = nodes.filter((node) => !definitionOf(node.type)?.isInert);
  const document = {
    nodes: shown.map((node) => ({ ...node, measured: NODE })) as FlowNode[], // cast: a known type or drawn as an unknown one
    edges: edges.map((edge) => ({ ...edge, sourceHandle: edge.sourceHandle ?? null, targetHandle: edge.targetHandle ?? null })),
    data: Object.fromEntries(shown.map((node) => [node.id, node.data])),
  };
  const frames = framesOf(document, bodiesOf(document), new Set());
  const boxes = new Map<string, Box>(shown.map((node) => [node.id, frames.get(node.id) ?? { ...node.position, ...NODE }]));
  const all = [...boxes.values()];
  const [left, top] = [Math.min(...all.map(({ x }) => x)) - BORDER, Math.min(...all.map(({ y }) => y)) - BORDER];
  const width = Math.max(...all.map((box) => box.x + box.width)) + BORDER - left;
  const height = Math.max(...all.map((box) => box.y + box.height)) + BORDER - top;
  return { shown, frames, boxes, whole: { x: left, y: top, width, height } };
}

/** Where a line arrives: at the middle of a card, at the head of a frame. */
const entryOf = (box: Box, frame: Frame | undefined) => ({ x: box.x, y: box.y + (frame ? HEAD : NODE.height) / 2 });

/** Where a line leaves: of a node with several ways out, each has its own height; into a body, from within the frame. */
function exitOf(node: GraphNode, box: Box, frame: Frame | undefined, { sourceHandle }: GraphEdge) {
  const handles = handlesOf(node) ?? [];
  const index = sourceHandle ? handles.indexOf(sourceHandle) : -1;
  if (frame && index <= 0) return { x: box.x + 40, y: box.y + frame.entry + NODE.height / 2 - 20 };
  if (frame) return { x: box.x + box.width, y: box.y + HEAD / 2 };
  const share = index < 0 ? 0.5 : (index + 1) / (handles.length + 1);
  return { x: box.x + box.width, y: box.y + NODE.height * share };
}

export interface GraphPictureProps {
  graph: Graph;
  /** Whether the nodes bear their labels; else their icons alone. */
  hasLabels?: boolean;
  className?: string;
}

/** A still drawing of a graph as it is laid out, without its notes. It fills the width of its box, or its height. */
export function GraphPicture({ graph, hasLabels = false, className }: GraphPictureProps) {
  const { shown, frames, boxes, whole } = layoutOf(graph);
  const byId = new Map(shown.map((node) => [node.id, node]));
  const place = ({ x, y, width, height }: Box) => ({
    left: `${(100 * (x - whole.x)) / whole.width}%`,
    top: `${(100 * (y - whole.y)) / whole.height}%`,
    width: `${(100 * width) / whole.width}%`,
    height: `${(100 * height) / whole.height}%`,
  });
  return (
    <div className={cn("relative flex items-center justify-center overflow-hidden", className)}>
      <div
        aria-hidden
        className="relative max-h-full w-full"
        style={{ aspectRatio: `${whole.width} / ${whole.height}`, maxWidth: `min(100%, ${whole.width * 0.62}px)` }}
      >
        {[...frames].map(([id, frame]) => (
          <div
            key={id}
            className="absolute rounded-md border border-line-control border-dashed bg-role-logic-soft/50"
            style={place(frame)}
          />
        ))}
        <svg
          preserveAspectRatio="none"
          viewBox={`${whole.x} ${whole.y} ${whole.width} ${whole.height}`}
          className="absolute inset-0 size-full text-line-control"
          fill="none"
        >
          <title>Edges</title>
          {graph.edges.map((edge) => {
            const [from, to] = [byId.get(edge.source), byId.get(edge.target)];
            const [start, goal] = [boxes.get(edge.source), boxes.get(edge.target)];
            if (!from || !to || !start || !goal) return null;
            const exit = exitOf(from, start, frames.get(from.id), edge);
            const entry = entryOf(goal, frames.get(to.id));
            const [line] = getSmoothStepPath({ sourceX: exit.x, sourceY: exit.y, targetX: entry.x, targetY: entry.y, ...WAY });
            return <path key={edge.id} d={line} stroke="currentColor" strokeWidth={1.5} vectorEffect="non-scaling-stroke" />;
          })}
        </svg>
        {shown.map((node) => {
          const Icon = nodeUiOf(node.type)?.icon;
          const box = boxes.get(node.id);
          if (!box) return null;
          return (
            <div
              key={node.id}
              className={cn(
                "absolute flex items-center overflow-hidden rounded-md border border-line-strong",
                hasLabels ? "gap-1.5 bg-raised px-1.5 max-sm:justify-center max-sm:px-0" : cn("justify-center", roleStyle(node.type)),
              )}
              style={place(frames.has(node.id) ? { ...box, height: HEAD } : box)}
            >
              {hasLabels ? (
                <>
                  <NodeIcon type={node.type} className="size-5 max-sm:size-4" />
                  <span className="line-clamp-2 min-w-0 text-12 text-ink leading-tight max-sm:hidden">{labelOf(node)}</span>
                </>
              ) : (
                Icon && <Icon className="size-3" />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
