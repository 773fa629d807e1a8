"use client";

import { useReactFlow, useStoreApi, type Viewport } from "@xyflow/react";
import { useCallback, useEffect, useRef } from "react";
import { FIT } from "#components/workflow-editor/canvas/fit.ts";

/** By how much of its width the window must change for the whole workflow to be fitted anew. */
const LARGE = 0.2;
/** How long the canvas must have kept its size, in milliseconds: a window that is dragged wider passes many. */
const SETTLED_MS = 150;

/**
 * A view that shows the whole workflow goes on showing it when the window becomes much wider or narrower, as long as nobody
 * has moved the view since it was fitted.
 * @returns to be called when a move of the view has ended, with the event of the person who made it
 */
export function useKeepFit(): (event: MouseEvent | TouchEvent | null, view: Viewport) => void {
  const flow = useReactFlow();
  const store = useStoreApi();
  /** The view as it was fitted last, and the width of the window then. */
  const fitted = useRef<{ view: Viewport; width: number } | null>(null);
  /** The width of the window when a fit began whose move has not ended. */
  const begun = useRef<number | null>(null);

  const refit = useCallback(() => {
    const [x, y, zoom] = store.getState().transform;
    const known = fitted.current;
    if (!known || Math.abs(innerWidth - known.width) < known.width * LARGE) return;
    const isUntouched = x === known.view.x && y === known.view.y && zoom === known.view.zoom;
    if (isUntouched) void flow.fitView(FIT);
  }, [flow, store]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = store.subscribe((state, before) => {
      // Every fit, whoever asks for it, waits here until the nodes are measured.
      if (before.fitViewQueued && !state.fitViewQueued) begun.current = innerWidth;
      if (state.width === before.width || state.width === 0 || before.width === 0) return;
      clearTimeout(timer);
      timer = setTimeout(refit, SETTLED_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [store, refit]);

  return useCallback(
    (event, view) => {
      const width = begun.current;
      begun.current = null;
      if (event || width === null) return;
      fitted.current = { view, width };
      // The window may have changed on while the view was on its way.
      refit();
    },
    [refit],
  );
}
