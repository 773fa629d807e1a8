"use client";

import { type ReactFlowState, useStoreApi, type Viewport } from "@xyflow/react";
import { type PointerEvent, type RefObject, useEffect, useState } from "react";

/** While somebody moves the view, everything that follows it is brought up to date this often, in milliseconds. */
const CATCH_UP_MS = 300;
const START: Viewport = { x: 0, y: 0, zoom: 1 };

interface Store {
  getState(): ReactFlowState;
  setState(part: Partial<ReactFlowState>): void;
}

/** React Flow's minimap shows the view as a hole in its mask; it is the second part of the mask's path. */
function moveMask(mask: Element, { x, y, zoom }: Viewport, { width, height }: ReactFlowState): void {
  const around = mask.getAttribute("d")?.split("z")[0] ?? "";
  const size = { width: width / zoom, height: height / zoom };
  mask.setAttribute("d", `${around}z\n        M${-x / zoom},${-y / zoom}h${size.width}v${size.height}h${-size.width}z`);
}

/**
 * Moves the view without asking every node and edge whether it looks different now. React Flow keeps the view in its store,
 * which each of them reads: with hundreds, that alone takes longer than a frame. So while wheel or drag move the view, only
 * the layer itself is moved, and the store follows a few times a second and at the end. Every other change (buttons, keys,
 * the minimap, dragging a node over the edge) goes to the store at once.
 */
function createViewMotion(store: Store, area: RefObject<HTMLElement | null>) {
  /** What is moved, while somebody moves it. */
  let moved: { layer: HTMLElement | null; mask: Element | null } | null = null;
  /** The pointer holds something that reads the store: a node, a port, the minimap. */
  let isHolding = false;
  /** Where the view is, while the store does not know yet. */
  let ahead: Viewport | null = null;
  let due: ReturnType<typeof setTimeout> | undefined;
  /** What the pointer came upon last, while the view moved below it. */
  let postponed: (() => void) | null = null;

  const catchUp = () => {
    clearTimeout(due);
    due = undefined;
    if (!ahead) return;
    const { x, y, zoom } = ahead;
    ahead = null;
    store.setState({ transform: [x, y, zoom] });
  };
  const end = () => {
    moved = null;
    area.current?.removeAttribute("data-moving");
    catchUp();
    postponed?.();
    postponed = null;
  };
  const release = () => {
    isHolding = false;
  };
  return {
    /** For React Flow, which leaves its store alone when it is given a view. */
    flow: {
      viewport: START,
      onViewportChange(view: Viewport) {
        ahead = view;
        if (!moved) return catchUp();
        if (moved.layer) moved.layer.style.transform = `translate(${view.x}px,${view.y}px) scale(${view.zoom})`;
        if (moved.mask) moveMask(moved.mask, view, store.getState());
        due ??= setTimeout(catchUp, CATCH_UP_MS);
      },
      onMoveStart(event: unknown) {
        const { userSelectionActive, connection } = store.getState();
        // Without an event it is not a person who moves the view.
        if (!event || moved || isHolding || userSelectionActive || connection.inProgress) return;
        const find = (part: string) => area.current?.querySelector<HTMLElement>(`.react-flow__${part}`) ?? null;
        moved = { layer: find("viewport"), mask: find("minimap-mask") };
        area.current?.setAttribute("data-moving", "");
      },
      onMoveEnd: end,
    },
    /** For the element around: whatever begins now finds the view where it is. */
    area: {
      onPointerDownCapture({ target, button }: PointerEvent) {
        const isOnPane = target instanceof Element && target.classList.contains("react-flow__pane");
        isHolding = !isOnPane && button === 0;
        // What is taken hold of while a wheel still turns follows the pointer, and the view goes on through the store.
        if (isHolding) end();
        else catchUp();
      },
      onKeyDownCapture: catchUp,
      onDragOverCapture: catchUp,
    },
    /** Does it at once, or when the view has come to rest; then only the last of what was asked for. */
    whenStill(act: () => void) {
      if (moved) postponed = act;
      else act();
    },
    listen() {
      for (const type of ["pointerup", "pointercancel"]) addEventListener(type, release, { capture: true });
      return () => {
        for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, release, { capture: true });
        end();
      };
    },
  };
}

/** Props for React Flow and for the element around it, with which the view of a large workflow moves smoothly. */
export function useViewMotion(area: RefObject<HTMLElement | null>) {
  const store = useStoreApi();
  const [motion] = useState(() => createViewMotion(store, area));
  useEffect(() => motion.listen(), [motion]);
  return motion;
}
