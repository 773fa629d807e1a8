"use client";

import { useReactFlow, useStoreApi } from "@xyflow/react";
import { useEffect } from "react";
import { useCanvasUiStore, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { FIT } from "#components/canvas/fit.ts";
import { shownAs } from "#components/canvas/loop-frames.ts";
import { CARD_WIDTH } from "#components/canvas/node-size.ts";

const MARGIN = 48;
const GUESSED_HEIGHT = 140;
const PHONE_WIDTH = 768;

/** How far a span must move to lie between two limits; none when it does, and its beginning first when it is too long. */
export function shiftInto(from: number, to: number, low: number, high: number): number {
  if (from < low || to - from > high - low) return low - from;
  return to > high ? high - to : 0;
}

/** Brings a node that was just added, or that one asked to see, into view; what is in view stays where it is. */
export function useReveal(): void {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const flow = useReactFlow();
  const view = useStoreApi();

  useEffect(() => {
    const reveal = (id: string) => {
      const document = editor.getState();
      const shown = shownAs(document, id);
      const node = document.nodes.find((candidate) => candidate.id === shown);
      const { width, height, transform } = view.getState();
      if (!node || width === 0) return;
      const [x, y, zoom] = transform;
      const left = node.position.x * zoom + x;
      const top = node.position.y * zoom + y;
      const right = left + (node.measured?.width ?? CARD_WIDTH) * zoom;
      const bottom = top + (node.measured?.height ?? GUESSED_HEIGHT) * zoom;
      const by = { x: shiftInto(left, right, MARGIN, width - MARGIN), y: shiftInto(top, bottom, MARGIN, height - MARGIN * 1.5) };
      if (by.x !== 0 || by.y !== 0) void flow.setViewport({ x: x + by.x, y: y + by.y, zoom }, { duration: 200 });
    };
    const stopEditor = editor.subscribe((state, before) => {
      if (state.nodes.length <= before.nodes.length) return;
      const known = new Set(before.nodes.map((node) => node.id));
      const added = state.nodes.filter((node) => !known.has(node.id));
      if (added.length === 1 && added[0]) reveal(added[0].id);
    });
    const stopUi = ui.subscribe((state, before) => {
      if (state.focusField && state.focusField !== before.focusField) reveal(state.focusField.nodeId);
      if (state.revealed && state.revealed !== before.revealed) reveal(state.revealed.nodeId);
    });
    // On a phone the run's sheet takes half of the canvas; what is left shows the whole workflow again.
    const stopView = view.subscribe((state, before) => {
      const isPhone = state.width > 0 && state.width < PHONE_WIDTH;
      if (isPhone && before.height > 0 && state.height !== before.height) void flow.fitView(FIT);
    });
    return () => {
      stopEditor();
      stopUi();
      stopView();
    };
  }, [editor, ui, flow, view]);
}
