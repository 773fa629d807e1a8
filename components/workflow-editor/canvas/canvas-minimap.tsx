"use client";

import { MiniMap, type MiniMapNodeProps, type ReactFlowState, useReactFlow, useStore } from "@xyflow/react";
import { memo } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { type CardStatus, cardStatus } from "#components/runs/store/run-snapshot.ts";
import { cn } from "#components/ui/cn.ts";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { useCanvasUi } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { isLoop } from "#server/workflow/layout/loop-frames.ts";

const SIZE = { width: 160, height: 104 };
/** A smaller canvas (pixels) has no corner to spare. */
const MIN_ROOM = { width: 600, height: 400 };
/** Where it does not fit beside the bar, it stands above it. */
const BAR_AND_MAP = 790;
const ABOVE_BAR = 60;

const hasRoom = ({ width, height }: ReactFlowState) => width >= MIN_ROOM.width && height >= MIN_ROOM.height;
const isBesideBar = ({ width }: ReactFlowState) => width >= BAR_AND_MAP;

/** Whether the canvas is large enough for a minimap. */
export const useHasMinimap = (): boolean => useStore(hasRoom);

const STATES: Partial<Record<CardStatus, string>> = {
  running: "running",
  failed: "failed",
  waiting: "waiting",
  complete: "complete",
};

const FRAME = "minimap-frame";
/** The same function at each drawing, so that the minimap draws only what changed. */
const classOf = ({ type }: { type?: string | undefined }) => (isLoop(type) ? FRAME : "");

/** A node in the map, in the colour of its state in the run that is shown. It is drawn anew for a change of its own only. */
const MinimapNode = memo(function MinimapNode({ id, x, y, width, height, className, selected, shapeRendering }: MiniMapNodeProps) {
  const status = useRun(({ snapshot }) => (snapshot?.nodes[id] ? cardStatus(snapshot, id) : null));
  const isFrame = className === FRAME;
  const state = status && STATES[status];
  // A frame lies around its body, whose states are to be seen.
  const fill = state ? (isFrame ? `${state}-soft` : state) : isFrame ? "role-logic-soft" : "line-control";
  return (
    <rect
      {...{ x, y, width, height, shapeRendering }}
      className={cn("react-flow__minimap-node", selected && "selected")}
      rx={24}
      ry={24}
      style={{ fill: `var(--${fill})`, opacity: status === "skipped" ? 0.45 : undefined }}
      data-status={status ?? "none"}
    />
  );
});

/** The whole workflow in the corner: drag in it, or click where to go. */
export function CanvasMinimap() {
  const flow = useReactFlow();
  const isWanted = useCanvasUi((state) => state.isMinimapShown);
  const isBeside = useStore(isBesideBar);
  const isPossible = useHasMinimap();
  if (!isWanted || !isPossible) return null;
  return (
    <MiniMap
      pannable
      zoomable
      ariaLabel="Minimap"
      position="bottom-right"
      nodeClassName={classOf}
      nodeComponent={MinimapNode}
      maskStrokeWidth={1.5}
      className="rounded-lg border border-line-strong shadow-sm"
      style={isBeside ? SIZE : { ...SIZE, marginBottom: ABOVE_BAR }}
      onClick={(_, { x, y }) => void flow.setCenter(x, y, { zoom: flow.getZoom(), duration: motionMs(200) })}
    />
  );
}
