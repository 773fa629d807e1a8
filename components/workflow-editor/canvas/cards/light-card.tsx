"use client";

import { type InternalNode, type ReactFlowState, useStore, useStoreApi } from "@xyflow/react";
import { type ReactNode, useCallback, useDeferredValue } from "react";
import { cn } from "#components/ui/cn.ts";
import { roleStyle } from "#components/workflow-editor/nodes/node-icon.tsx";
import { boxOnScreen, sizeOf } from "#server/workflow/layout/node-size.ts";

/** What fits on a far card in two lines. */
const MAX_LETTERS = { far: 22, plain: 28 };

/** A border as thin as on the whole card cannot be seen from far. */
const FAR_STATES: Record<string, string> = {
  running: "bg-running-soft shadow-[inset_0_0_0_12px_var(--running)]",
  failed: "bg-failed-soft shadow-[inset_0_0_0_12px_var(--failed)]",
  waiting: "bg-waiting-soft shadow-[inset_0_0_0_12px_var(--waiting)]",
  complete: "bg-complete-soft shadow-[inset_0_0_0_12px_var(--complete)]",
};

export interface LightCardProps {
  id: string;
  type: string;
  face: "plain" | "far";
  label: string;
  isOff: boolean;
  isFrame: boolean;
  /** Classes that tell its state. */
  className: string;
  status: string;
  /** Ports, and what is said to assistive technology. */
  children: ReactNode;
}

/**
 * A card of which nobody could see more than its colour and name, as high as the whole card was. Nothing in it is clipped
 * or shifted: each such part would be one more for the browser to think of in every frame, by the hundred.
 */
export function LightCard({ id, type, face, label, isOff, isFrame, className, status, children }: LightCardProps) {
  const flow = useStoreApi();
  const { width, height } = sizeOf(flow.getState().nodeLookup.get(id) ?? {});
  const isFar = face === "far";
  const name = label.length > MAX_LETTERS[face] ? `${label.slice(0, MAX_LETTERS[face] - 1)}…` : label;
  return (
    <div
      data-status={status}
      className={cn(
        "border border-line-strong [&>.react-flow__handle]:invisible [&>.react-flow__handle]:after:hidden",
        isFrame ? "size-full border-dashed bg-role-logic-soft/40" : "bg-raised",
        className,
        isFar ? ["rounded-none", FAR_STATES[status]] : "rounded-xl",
      )}
      // A filter, such as that of what was skipped, is one more layer.
      style={isFrame ? { filter: "none" } : { width, height, filter: "none" }}
    >
      <p
        className={cn(
          "break-words font-semibold",
          isFar ? "min-h-16 py-3 pr-3 pl-16 text-[28px] leading-8" : "h-10 py-2.5 pr-3 pl-11 text-13",
          isOff && "line-through",
        )}
      >
        <span className={cn("absolute left-3", isFar ? "size-10" : "top-2 size-6 rounded-md", roleStyle(type))} />
        {name}
      </p>
      {children}
    </div>
  );
}

/** Below this zoom the words of a card cannot be read. */
const FAR = 0.25;
/** Workflows of fewer nodes are drawn whole at any zoom. */
const MANY = 100;

/** `full`: everything on it. `plain`: its name, since it lies outside the view. `far`: its name in large letters, readable from far. */
export type CardFace = "full" | "plain" | "far";

type View = Pick<ReactFlowState, "transform" | "width" | "height">;

/** How far around the view cards are drawn whole, in screens. */
const AROUND = 1 / 3;

/** True for what the view shows or soon will. */
function isNear({ transform, width, height }: View, node: InternalNode): boolean {
  const { left, top, right, bottom } = boxOnScreen(node, node.internals.positionAbsolute, transform);
  return left < width * (1 + AROUND) && right > -width * AROUND && top < height * (1 + AROUND) && bottom > -height * AROUND;
}

/**
 * How much of a card is worth drawing. In large workflows that is its name alone wherever nobody could see more. The answer
 * comes a moment late, so that drawing hundreds of cards anew gives way to input.
 */
export function useCardFace(id: string): CardFace {
  const face = useStore(
    useCallback(
      (state: ReactFlowState): CardFace => {
        if (state.nodes.length <= MANY) return "full";
        if (state.transform[2] < FAR) return "far";
        const node = state.nodeLookup.get(id);
        return !node || isNear(state, node) ? "full" : "plain";
      },
      [id],
    ),
  );
  return useDeferredValue(face);
}

/** Below this zoom a control on a card is too small to be hit, and has its equal elsewhere: in the menu, or in the panel. */
const MIN_ZOOM_OF_CONTROLS = 0.4;

/** True where cards are seen too small for controls on them. */
export const useIsSmall = (): boolean => useStore((state) => state.transform[2] < MIN_ZOOM_OF_CONTROLS);
