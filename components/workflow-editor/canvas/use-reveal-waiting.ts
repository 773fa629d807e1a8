"use client";

import { useStoreApi } from "@xyflow/react";
import { useEffect } from "react";
import { useRunStore } from "#components/runs/store/run-context.tsx";
import { useCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** When a run waits for a decision, its panel takes room from the canvas: the node that waits comes into what is left. */
export function useRevealWaiting(): void {
  const ui = useCanvasUiStore();
  const run = useRunStore();
  const view = useStoreApi();
  useEffect(
    () =>
      view.subscribe((state, before) => {
        if (before.height === 0 || state.height >= before.height) return;
        const [waiting] = Object.keys(run.getState().picture?.waiting ?? {});
        if (waiting !== undefined) ui.getState().reveal(waiting);
      }),
    [ui, run, view],
  );
}
