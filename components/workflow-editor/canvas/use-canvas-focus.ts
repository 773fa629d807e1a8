"use client";

import { type RefObject, useEffect, useRef } from "react";
import { isFocusLost } from "#components/ui/focus.ts";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { EditorState } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { visibleIdOf } from "#server/workflow/layout/loop-frames.ts";

/** For how many frames a node that was just added is waited for: it is drawn a moment later, and hidden until it is measured. */
const PATIENCE = 30;

/** The node or connection of the canvas that an element is, or lies in. */
export function canvasItemId(target: EventTarget | null, kind: "node" | "edge"): string | undefined {
  const item = target instanceof Element ? target.closest<HTMLElement | SVGElement>(`.react-flow__${kind}`) : null;
  return item?.dataset.id;
}

const selectedOf = ({ nodes, edges }: Pick<EditorState, "nodes" | "edges">): string[] =>
  [...nodes, ...edges].filter((item) => item.selected).map(({ id }) => id);

/**
 * Keeps the keyboard with what an edit selects: copies, what undo brings back. And what the focus was on may be gone with an
 * edit; then the keyboard goes on with what is selected, or on the bare canvas.
 * @returns the node or connection that somebody went to by themselves since an edit last selected something; what is selected
 *   gives way to it
 */
export function useCanvasFocus(area: RefObject<HTMLElement | null>): RefObject<string | null> {
  const editor = useEditorStore();
  const visited = useRef<string | null>(null);

  useEffect(() => {
    const find = (id: string) =>
      area.current?.querySelector<HTMLElement | SVGElement>(
        `.react-flow__node[data-id="${CSS.escape(id)}"], .react-flow__edge[data-id="${CSS.escape(id)}"]`,
      );
    /** Focuses the first of these that can be, and the canvas when none can; gives way as soon as somebody goes elsewhere. */
    const focus = (ids: readonly string[], from: Element | null) => {
      let tries = PATIENCE;
      const attempt = () => {
        const now = document.activeElement;
        if (now !== from && now !== area.current && !isFocusLost()) return;
        for (const id of ids) {
          const element = find(id);
          element?.focus({ preventScroll: true });
          if (element && document.activeElement === element) return;
        }
        if (isFocusLost()) area.current?.focus({ preventScroll: true });
        if (ids.length > 0 && tries-- > 0) requestAnimationFrame(attempt);
      };
      requestAnimationFrame(attempt);
    };
    const onFocusIn = ({ target }: FocusEvent) => {
      if (!(target instanceof Node && area.current?.contains(target))) return;
      visited.current = canvasItemId(target, "node") ?? canvasItemId(target, "edge") ?? null;
    };
    const stop = editor.subscribe((state, before) => {
      if (state.nodes === before.nodes && state.edges === before.edges && state.data === before.data) return;
      const from = document.activeElement;
      const isOnFlow = from === area.current || (area.current?.contains(from) === true && from?.closest(".react-flow") !== null);
      const isEdit = state.revision !== before.revision;
      const selected = isEdit ? selectedOf(state) : [];
      const known = new Set(isEdit ? selectedOf(before) : []);
      const focused = canvasItemId(from, "node") ?? canvasItemId(from, "edge");
      if (selected.some((id) => !known.has(id)) || (selected.length > 0 && selected.length !== known.size)) {
        visited.current = null;
        if (isOnFlow && (focused === undefined || !selected.includes(focused))) focus(selected, from);
      }
      // The outline and dialogs look after their own focus.
      if (isFocusLost() || (!isEdit && !isOnFlow) || from?.closest("[role=tree], [role=dialog], [role=alertdialog]")) return;
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          if (!isFocusLost() || area.current?.offsetParent === null) return;
          const now = editor.getState();
          const stays = focused !== undefined && now.nodes.some(({ id }) => id === focused) ? [visibleIdOf(now, focused)] : [];
          focus([...stays, ...selectedOf(now)], null);
        }),
      );
    });
    document.addEventListener("focusin", onFocusIn);
    return () => {
      stop();
      document.removeEventListener("focusin", onFocusIn);
    };
  }, [editor, area]);
  return visited;
}
