"use client";

import { MiniMap, type ReactFlowState, useReactFlow, useStore } from "@xyflow/react";
import { useCanvasUi } from "#components/canvas/canvas-context.tsx";

const SIZE = { width: 160, height: 104 };
/** A smaller canvas (pixels) has no corner to spare. */
const LEAST_ROOM = { width: 480, height: 400 };
/** Where it does not fit beside the bar, it stands above it. */
const BAR_AND_MAP = 790;
const ABOVE_BAR = 60;

const hasRoom = ({ width, height }: ReactFlowState) => width >= LEAST_ROOM.width && height >= LEAST_ROOM.height;
const isBesideBar = ({ width }: ReactFlowState) => width >= BAR_AND_MAP;

/** Whether the canvas is large enough for a minimap. */
export const useHasMinimap = (): boolean => useStore(hasRoom);

/** The same function at each drawing, so that the minimap draws only what changed. */
const colorOf = ({ type }: { type?: string | undefined }) => (type === "loopNode" ? "var(--role-logic-soft)" : "var(--line-control)");

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
      nodeColor={colorOf}
      nodeBorderRadius={24}
      maskStrokeWidth={1.5}
      className="rounded-lg border border-line-strong shadow-sm"
      style={isBeside ? SIZE : { ...SIZE, marginBottom: ABOVE_BAR }}
      onClick={(_, { x, y }) => void flow.setCenter(x, y, { zoom: flow.getZoom(), duration: 200 })}
    />
  );
}
