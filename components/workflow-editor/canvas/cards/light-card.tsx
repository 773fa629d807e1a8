"use client";

import { type InternalNode, type ReactFlowState, useStore, useStoreApi } from "@xyflow/react";
import { type ReactNode, type RefObject, useCallback, useDeferredValue, useLayoutEffect } from "react";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { READABLE_ZOOM } from "#components/workflow-editor/canvas/geometry/first-view.ts";
import { useCanvasUi } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon, roleStyle } from "#components/workflow-editor/nodes/node-icon.tsx";
import { SeverityIcon } from "#components/workflow-editor/problems/severity.tsx";
import { boxOnScreen, sizeOf } from "#server/workflow/layout/node-size.ts";
import type { Problem } from "#server/workflow/schema.ts";

/** What fits on a card in one line. */
const MAX_LETTERS = 28;

/** A border as thin as on the whole card cannot be seen from far; how thick it is follows the zoom, see canvas.css. */
const FAR_STATES: Record<string, string> = {
  running: "bg-running-soft shadow-[inset_0_0_0_var(--far-ring)_var(--running)]",
  failed: "bg-failed-soft shadow-[inset_0_0_0_var(--far-ring)_var(--failed)]",
  waiting: "bg-waiting-soft shadow-[inset_0_0_0_var(--far-ring)_var(--waiting)]",
  complete: "bg-complete-soft shadow-[inset_0_0_0_var(--far-ring)_var(--complete)]",
};

export interface LightCardProps {
  id: string;
  type: string;
  face: "plain" | "small" | "far";
  label: string;
  isOff: boolean;
  /** Severity of its worst problem; null without one. */
  severity: Problem["severity"] | null;
  isFrame: boolean;
  /** Classes that tell its state. */
  className: string;
  status: string;
  /** Ports, and what is said to assistive technology. */
  children: ReactNode;
}

/**
 * A card of which nobody could read more than its icon, name and state, as high as the whole card was. The name is so large that it can
 * be read, see canvas.css; of hundreds seen from far there is the colour alone: each part would be one more for the browser to think of
 * in every frame.
 */
export function LightCard({ id, type, face, label, isOff, severity, isFrame, className, status, children }: LightCardProps) {
  const flow = useStoreApi();
  const { width, height } = sizeOf(flow.getState().nodeLookup.get(id) ?? {});
  const isPlain = face === "plain";
  const isTarget = useCanvasUi((state) => isFrame && state.dropLoop === id);
  const isLeft = useCanvasUi((state) => isFrame && state.leftLoop === id);
  return (
    <div
      data-status={status}
      data-face={face}
      className={cn(
        "border border-line-strong",
        face !== "small" && "[&>.react-flow__handle]:invisible [&>.react-flow__handle]:after:hidden",
        isFrame ? "size-full border-dashed bg-role-logic-soft/40" : "bg-raised",
        className,
        !isPlain && FAR_STATES[status],
        isTarget && "border-thread bg-thread-soft/50 shadow-[inset_0_0_0_6px_var(--thread)]",
        isLeft && "border-waiting shadow-[inset_0_0_0_6px_var(--waiting)]",
        face === "far" ? "rounded-none" : "rounded-xl",
      )}
      // A filter, such as that of what was skipped, is one more layer.
      style={isFrame ? { filter: "none" } : { width, height, filter: "none" }}
    >
      {face === "small" ? (
        <div className={cn("flex h-full items-center gap-3 px-4", isFrame && "loop-head pointer-events-auto h-20 items-center")}>
          <NodeIcon type={type} className="size-12 rounded-lg [&>svg]:size-7" />
          <span className={cn("far-name min-w-0 flex-1 break-words hyphens-auto font-semibold text-ink", isOff && "line-through")}>
            {label}
          </span>
          {severity ? (
            <SeverityIcon severity={severity} className="size-8" />
          ) : (
            isCardStatus(status) && (
              <span className="shrink-0 [&_svg]:size-8">
                <StatusIcon status={status} isDecorative />
              </span>
            )
          )}
        </div>
      ) : (
        <p className="h-10 break-words py-2.5 pr-3 pl-11 font-semibold text-14">
          <span className={cn("absolute left-3", isPlain ? "top-2 size-6 rounded-md" : "size-10", roleStyle(type))} />
          {isPlain && (label.length > MAX_LETTERS ? `${label.slice(0, MAX_LETTERS - 1)}…` : label)}
        </p>
      )}
      {children}
    </div>
  );
}

/** What has a sign of its own; what is queued or has none is told by nothing. */
const isCardStatus = (status: string): status is keyof typeof statusLooks =>
  status in statusLooks && status !== "idle" && status !== "queued";

/** Below this zoom not even large names on cards could be read. */
const FAR = 0.25;
/** In workflows of more nodes what nobody could see is not drawn. */
const MANY = 100;

/**
 * `full`: everything on it. `small`: icon, name and state, large enough to be read. `plain`: its name, since it lies outside the view.
 * `far`: its colour alone.
 */
export type CardFace = "full" | "plain" | "small" | "far";

type View = Pick<ReactFlowState, "transform" | "width" | "height">;

/** How far around the view cards are drawn whole, in screens. */
const AROUND = 1 / 3;

/** True for what the view shows or soon will. */
function isNear({ transform, width, height }: View, node: InternalNode): boolean {
  const { left, top, right, bottom } = boxOnScreen(node, node.internals.positionAbsolute, transform);
  return left < width * (1 + AROUND) && right > -width * AROUND && top < height * (1 + AROUND) && bottom > -height * AROUND;
}

/**
 * How much of a card is worth drawing: what can be read, and in large workflows what is seen. The answer
 * comes a moment late, so that drawing hundreds of cards anew gives way to input.
 */
export function useCardFace(id: string): CardFace {
  const face = useStore(
    useCallback(
      (state: ReactFlowState): CardFace => {
        const [, , zoom] = state.transform;
        const isMany = state.nodes.length > MANY;
        if (isMany && zoom < FAR) return "far";
        const node = state.nodeLookup.get(id);
        if (isMany && node && !isNear(state, node)) return "plain";
        return zoom < READABLE_ZOOM ? "small" : "full";
      },
      [id],
    ),
  );
  return useDeferredValue(face);
}

/** From which zoom up texts of 12 pixels on a card are at least nine high, and below which large names take fewer letters, or none. */
const STEPS = [
  [0.75, "near"],
  [READABLE_ZOOM, "readable"],
  [0.4, "small"],
  [0.2, "tiny"],
] as const;

/** Tells the canvas's sheet of styles how large things are seen. @param area what holds the cards */
export function useSeenSize(area: RefObject<HTMLElement | null>): void {
  const seen = useStore(({ transform: [, , zoom] }) => STEPS.find(([least]) => zoom >= least)?.[1] ?? "far");
  useLayoutEffect(() => {
    if (area.current) area.current.dataset.seen = seen;
  }, [area, seen]);
}
