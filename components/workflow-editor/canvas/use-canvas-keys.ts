"use client";

import { useReactFlow } from "@xyflow/react";
import { type RefObject, useEffect } from "react";
import { isComposing } from "#components/is-composing.ts";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { fromClipboard, toClipboard } from "#components/workflow-editor/canvas/document/clipboard.ts";
import { selectedGraph } from "#components/workflow-editor/canvas/document/edits.ts";
import { arrowOf, nudge } from "#components/workflow-editor/canvas/layout/arrange.ts";
import { hasSingleKeys, isOnlyOnCanvas, isSingleKey, type ShortcutId, shortcutOf } from "#components/workflow-editor/canvas/shortcuts.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { canvasItemId, useCanvasFocus } from "#components/workflow-editor/canvas/use-canvas-focus.ts";
import { FIT } from "#components/workflow-editor/canvas/use-view.ts";

/** True where keys belong to what is being typed, or to something in front of the canvas. */
function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return Boolean(
    target.closest(
      "input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=combobox]",
    ),
  );
}

/** Shortcuts that act on what is selected. What somebody has gone to without selecting it is selected first. */
const ON_SELECTION: ReadonlySet<ShortcutId> = new Set(["add", "connect", "rename", "disable", "duplicate", "remove", "menu"]);

/** True for the bare canvas, a node or a connection, and not for a control in one. */
const isItself = (target: EventTarget | null, area: Element | null) =>
  target === area || (target instanceof Element && target.matches(".react-flow__node, .react-flow__edge"));

/** True while text is selected that copying means: not one that stayed selected elsewhere while one works on the canvas. */
function isTextSelected(area: Element | null): boolean {
  const selection = window.getSelection();
  const focused = document.activeElement;
  if (!selection?.toString()) return false;
  return !area?.contains(focused) || focused?.contains(selection.anchorNode) === true;
}

/** Shortcuts of the canvas (see shortcuts.ts). They work anywhere on the page except where one types. */
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
  const visited = useCanvasFocus(area);

  useEffect(() => {
    // A canvas that is hidden, behind the runs or a comparison, hears nothing.
    const isAway = (target: EventTarget | null) => isElsewhere(target) || area.current?.offsetParent === null;
    const selectFocused = (target: EventTarget | null) => {
      const state = editor.getState();
      const [node, edge] = [canvasItemId(target, "node"), canvasItemId(target, "edge")];
      const isAnySelected = [...state.nodes, ...state.edges].some(({ selected }) => selected);
      // The focus is on its way to what an edit has just selected.
      if (isAnySelected && visited.current === null) return;
      if (node !== undefined && !state.nodes.some(({ id, selected }) => id === node && selected)) state.selectOnly(node);
      if (edge !== undefined && !state.edges.some(({ id, selected }) => id === edge && selected)) {
        state.selectOnly(null);
        state.onEdgesChange([{ type: "select", id: edge, selected: true }]);
      }
    };
    const chosen = () =>
      editor
        .getState()
        .nodes.filter((node) => node.selected)
        .map(({ id }) => id);
    const actions: Partial<Record<ShortcutId, () => void>> = {
      undo: () => editor.getState().undo(),
      redo: () => editor.getState().redo(),
      find: () => ui.getState().openSearch(),
      help: () => ui.setState({ isHelpOpen: true }),
      outline: () => ui.setState({ isOutlineAsked: true }),
      add: onAdd,
      connect() {
        const { say, isReadOnly } = editor.getState();
        const [only, ...others] = chosen();
        if (isReadOnly || only === undefined || others.length > 0) return say("Select one node, then press C to connect it.");
        ui.setState({ connectFrom: { nodeId: only, handle: null } });
      },
      rename() {
        const [only, ...others] = chosen();
        if (only === undefined || others.length > 0) return;
        // Nobody sees a note's name on the canvas: what one renames there is its text.
        const { nodes, isReadOnly } = editor.getState();
        if (!isReadOnly && nodes.some((node) => node.id === only && node.type === "noteNode")) ui.setState({ writing: only });
        else ui.getState().goTo(only, "label");
      },
      disable() {
        const { data, setDisabled } = editor.getState();
        const ids = chosen();
        if (ids.length > 0) setDisabled(ids, !ids.every((id) => data[id]?.disabled === true));
      },
      duplicate: () => editor.getState().duplicateSelected(),
      remove: () => editor.getState().removeSelected(),
      selectAll: () => editor.getState().selectAll(),
      deselect: () => editor.getState().selectOnly(null),
      fit: () => void flow.fitView({ ...FIT, duration: motionMs(160) }),
      zoomIn: () => void flow.zoomIn({ duration: motionMs(120) }),
      zoomOut: () => void flow.zoomOut({ duration: motionMs(120) }),
      tidy: () => void editor.getState().tidy(),
      pointer: () => ui.setState({ tool: "pointer" }),
      hand: () => ui.setState({ tool: "hand" }),
    };
    /** Arrow keys on the bare canvas; on a node that is selected React Flow does the same. */
    const move = (event: KeyboardEvent): boolean => {
      const by = arrowOf(event);
      if (!by || !isItself(event.target, area.current)) return false;
      const state = editor.getState();
      const id = canvasItemId(event.target, "node") ?? canvasItemId(event.target, "edge");
      const isSelected = [...state.nodes, ...state.edges].some((item) => item.id === id && item.selected);
      const changes = id !== undefined && visited.current === id && !isSelected ? [] : nudge(state, by, ui.getState().isSnapping);
      if (changes.length > 0) state.onNodesChange(changes);
      return changes.length > 0;
    };
    const onKeyDown = (event: KeyboardEvent) => {
      // A canvas behind another tab of the page takes no keys.
      if (event.defaultPrevented || isComposing(event) || isAway(event.target)) return;
      if (move(event)) return event.preventDefault();
      // Tab walks through the nodes; on the bare canvas, where it would lead nowhere, it opens the palette.
      const isBareTab = event.key === "Tab" && !event.shiftKey && event.target === area.current && !editor.getState().isReadOnly;
      const id = isBareTab ? "add" : shortcutOf(event);
      const action = id && actions[id];
      if (!id || !action) return;
      const isOnCanvas = event.target === document.body || area.current?.contains(event.target as Node);
      if ((isOnlyOnCanvas(id) && !isOnCanvas) || (isSingleKey(id) && !isBareTab && !hasSingleKeys())) return;
      event.preventDefault();
      if (ON_SELECTION.has(id)) selectFocused(event.target);
      action();
    };
    const onCopy = (event: ClipboardEvent) => {
      // The browser sends it to where text is selected, even when that is not where the keyboard is.
      const target = area.current?.contains(document.activeElement) ? document.activeElement : event.target;
      if (isAway(target) || !event.clipboardData || isTextSelected(area.current)) return;
      if (canvasItemId(target, "node") !== undefined) selectFocused(target);
      const state = editor.getState();
      const graph = selectedGraph(state);
      if (graph.nodes.length === 0) return;
      event.clipboardData.setData("text/plain", toClipboard(graph));
      event.preventDefault();
      if (event.type === "cut") state.removeSelected();
      else state.say(graph.nodes.length === 1 ? "1 node copied" : `${graph.nodes.length} nodes copied`);
    };
    const onPaste = (event: ClipboardEvent) => {
      if (isAway(event.target)) return;
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
  }, [editor, ui, flow, area, visited, onAdd, onPoint]);
}
