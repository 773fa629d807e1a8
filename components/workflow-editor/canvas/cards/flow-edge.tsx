"use client";

import { EdgeLabelRenderer, type EdgeProps, getSmoothStepPath, useStore } from "@xyflow/react";
import { Plus, X } from "lucide-react";
import { memo } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { useReducedMotion } from "#components/ui/use-reduced-motion.ts";
import { type Traffic, trafficOf } from "#components/workflow-editor/canvas/cards/edge-traffic.ts";
import { useEdgeDiff } from "#components/workflow-editor/canvas/cards/graph-diff-mark.tsx";
import { onlySelected } from "#components/workflow-editor/canvas/cards/only-selected.ts";
import { CARD_WIDTH } from "#components/workflow-editor/canvas/geometry/node-size.ts";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

const STROKES: Record<Traffic, string> = {
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
  const traffic = useRun(({ picture, view }) => trafficOf(picture, view?.graph ?? null, { source, target, sourceHandle: sourceHandleId }));
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
        className={cn("flow-line", selected ? "stroke-ink" : isHovered ? "stroke-ink-soft" : (diff ?? STROKES[traffic]))}
        style={{ strokeWidth: diff ? 2.5 : traffic === "none" || traffic === "queued" ? 1.5 : 2 }}
        data-traffic={traffic}
      />
      {traffic === "running" && !isStill && <path d={path} fill="none" className="flow-stitch stroke-raised" style={{ strokeWidth: 2 }} />}
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
