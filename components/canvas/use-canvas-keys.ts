"use client";

import { useReactFlow } from "@xyflow/react";
import { type RefObject, useEffect } from "react";
import { useCanvasUiStore, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { fromClipboard, toClipboard } from "#components/canvas/clipboard.ts";
import { FIT } from "#components/canvas/fit.ts";
import { selectedGraph } from "#components/canvas/graph-edits.ts";

/** True where keys belong to what is being typed, or to something in front of the canvas. */
function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return Boolean(
    target.closest(
      "input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=combobox]",
    ),
  );
}

/** Shortcuts of the canvas. They work anywhere on the page except where one types. */
export function useCanvasKeys({
  area,
  onAdd,
  onPoint,
}: {
  area: RefObject<HTMLElement | null>;
  onAdd: () => void;
  onPoint: () => { x: number; y: number };
}) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const flow = useReactFlow();

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isElsewhere(event.target)) return;
      const state = editor.getState();
      const hasMod = event.metaKey || event.ctrlKey;
      const key = event.key.toLowerCase();
      const isOnCanvas = event.target === document.body || area.current?.contains(event.target as Node);
      const run = (action: () => void) => {
        event.preventDefault();
        action();
      };
      if (hasMod && !event.altKey) {
        if (key === "z") return run(event.shiftKey ? state.redo : state.undo);
        if (key === "y") return run(state.redo);
        if (key === "a" && isOnCanvas) return run(state.selectAll);
        if (key === "d") return run(state.duplicateSelected);
        return;
      }
      if (event.altKey) return;
      if (key === "n") return run(onAdd);
      // Tab walks through the nodes; on the bare canvas, where it would lead nowhere, it opens the palette.
      if (event.key === "Tab" && !event.shiftKey && event.target === area.current) return run(onAdd);
      if (event.key === "!" || (event.shiftKey && event.code === "Digit1")) return run(() => void flow.fitView({ ...FIT, duration: 160 }));
      if (event.key === "+" || event.key === "=") return run(() => void flow.zoomIn({ duration: 120 }));
      if (event.key === "-") return run(() => void flow.zoomOut({ duration: 120 }));
      if (event.shiftKey && key === "t") return run(state.tidy);
      if (key === "c" && !event.shiftKey) {
        const selected = state.nodes.filter((node) => node.selected);
        const only = selected[0];
        if (selected.length !== 1 || !only || state.isReadOnly) return run(() => state.say("Select one node, then press C to connect it."));
        return run(() => ui.setState({ connectFrom: { nodeId: only.id, handle: null } }));
      }
      if ((event.key === "Delete" || event.key === "Backspace") && isOnCanvas) return run(state.removeSelected);
      if (event.key === "Escape") state.selectOnly(null);
    };
    const onCopy = (event: ClipboardEvent) => {
      if (isElsewhere(event.target) || !event.clipboardData || window.getSelection()?.toString()) return;
      const state = editor.getState();
      const graph = selectedGraph(state);
      if (graph.nodes.length === 0) return;
      event.clipboardData.setData("text/plain", toClipboard(graph));
      event.preventDefault();
      if (event.type === "cut") state.removeSelected();
      else state.say(graph.nodes.length === 1 ? "1 node copied" : `${graph.nodes.length} nodes copied`);
    };
    const onPaste = (event: ClipboardEvent) => {
      if (isElsewhere(event.target)) return;
      const graph = fromClipboard(event.clipboardData?.getData("text/plain") ?? "");
      if (!graph) return;
      event.preventDefault();
      editor.getState().paste(graph, onPoint());
    };
    document.addEventListener("keydown", onKeyDown);
    document.addEventListener("copy", onCopy);
    document.addEventListener("cut", onCopy);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("keydown", onKeyDown);
      document.removeEventListener("copy", onCopy);
      document.removeEventListener("cut", onCopy);
      document.removeEventListener("paste", onPaste);
    };
  }, [editor, ui, flow, area, onAdd, onPoint]);
}
