"use client";

import { type ReactFlowState, useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { plural } from "#components/format.ts";
import { cn } from "#components/ui/cn.ts";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { moveTowards, outOfView, type Side } from "#components/workflow-editor/canvas/geometry/first-view.ts";
import { boxOnScreen } from "#server/workflow/layout/node-size.ts";

/** Where the chip stands, and its arrow: clear of the bar and the minimap, and of the middle, where most cards are. */
const LOOKS: Record<Side, { at: string; arrow: ReactNode }> = {
  right: { at: "right-3 bottom-34 flex-row max-md:bottom-18", arrow: <ArrowRight /> },
  left: { at: "bottom-18 left-3 flex-row-reverse", arrow: <ArrowLeft /> },
  below: { at: "bottom-18 left-1/2 -translate-x-1/2 max-sm:bottom-28", arrow: <ArrowDown /> },
  above: { at: "top-3 left-1/2 -translate-x-1/2", arrow: <ArrowUp /> },
};

const seenBoxes = ({ nodeLookup, transform }: ReactFlowState) =>
  [...nodeLookup.values()].map((node) => boxOnScreen(node, node.internals.positionAbsolute, transform));

/** Below this height of the canvas, in pixels, the chip would lie on the bar, or on what stands above the canvas. */
const MIN_HEIGHT = 180;

/** "right 12": equal texts draw nothing anew. */
function outside(state: ReactFlowState): string | null {
  if (state.width === 0 || state.height < MIN_HEIGHT) return null;
  const out = outOfView(seenBoxes(state), state);
  return out && `${out.side} ${out.count}`;
}

/** At the edge of the canvas, how much of the workflow lies beyond it, and the way there. */
export function MoreNodes() {
  const flow = useReactFlow();
  const view = useStoreApi();
  const out = useStore(outside);
  if (out === null) return null;
  const [side, count] = out.split(" ") as [Side, string];
  const { at, arrow } = LOOKS[side];
  const go = () => {
    const state = view.getState();
    const by = moveTowards(side, seenBoxes(state), state);
    const [x, y, zoom] = state.transform;
    void flow.setViewport({ x: x + by.x, y: y + by.y, zoom }, { duration: motionMs(200) });
  };
  return (
    <button
      type="button"
      onClick={go}
      className={cn(
        "absolute z-10 inline-flex min-h-7 items-center gap-1 rounded-full border border-line-strong bg-raised px-2.5 font-semibold text-12 text-ink-soft tabular shadow-md hover:text-ink pointer-coarse:min-h-11 [&>svg]:size-3.5",
        at,
      )}
    >
      {plural(Number(count), "more node")}
      {arrow}
    </button>
  );
}
