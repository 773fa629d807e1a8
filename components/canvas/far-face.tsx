"use client";

import { useStore, useStoreApi } from "@xyflow/react";
import { roleStyle } from "#components/nodes/node-icon.tsx";
import { cn } from "#components/ui/cn.ts";

/** Below this zoom the words of a card cannot be read. */
const FAR = 0.25;
/** Workflows of fewer nodes are drawn whole at any zoom. */
const MANY = 100;
const GUESSED_HEIGHT = 96;

/** True while a large workflow is seen from so far that cards show their name alone: a fifth of what there is to draw. */
export const useIsFar = (): boolean => useStore((state) => state.transform[2] < FAR && state.nodes.length > MANY);

/** What a far card does without: shadows, round corners and ports are too small to be seen, and dear to draw by the hundred. */
export const FAR_CARD = "rounded-none shadow-none [&>.react-flow__handle]:invisible";

/** A card from far: its colour and name, large, and as high as the whole card was. What it is about is in its description. */
export function FarFace({ id, type, label, isOff }: { id: string; type: string; label: string; isOff: boolean }) {
  const flow = useStoreApi();
  const height = flow.getState().nodeLookup.get(id)?.measured.height ?? GUESSED_HEIGHT;
  return (
    // The border of the card is part of its height.
    <div className="flex items-start gap-3 overflow-hidden p-3" style={{ height: height - 2 }}>
      <span className={cn("size-10 shrink-0", roleStyle(type))} />
      <span className={cn("line-clamp-2 min-w-0 flex-1 break-words font-semibold text-[28px] leading-8", isOff && "line-through")}>
        {label}
      </span>
    </div>
  );
}
