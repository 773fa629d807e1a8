"use client";

import { useStoreApi } from "@xyflow/react";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { sizeOf } from "#components/workflow-editor/canvas/geometry/node-size.ts";
import { roleStyle } from "#components/workflow-editor/nodes/node-icon.tsx";

/** What fits on a far card in two lines. */
const MOST_LETTERS = { far: 22, plain: 28 };

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
  const name = label.length > MOST_LETTERS[face] ? `${label.slice(0, MOST_LETTERS[face] - 1)}…` : label;
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
