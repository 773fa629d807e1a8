"use client";

import { type InternalNode, type ReactFlowState, useStore } from "@xyflow/react";
import { useCallback, useDeferredValue } from "react";
import { boxOnScreen } from "#components/workflow-editor/canvas/geometry/node-size.ts";

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
const LEAST_ZOOM_OF_CONTROLS = 0.4;

/** True where cards are seen too small for controls on them. */
export const useIsSmall = (): boolean => useStore((state) => state.transform[2] < LEAST_ZOOM_OF_CONTROLS);
