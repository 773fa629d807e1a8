"use client";

import { type FocusEvent, useEffect, useRef } from "react";
import { cn } from "#components/ui/cn.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** For how many frames the text is tried to be focused: a new note is hidden until it is measured. */
const PATIENCE = 60;

/** A note's text while somebody writes it on the canvas. It is kept as it is typed; Esc and going elsewhere leave it. */
export function NoteText({ id, text, label, isSized }: { id: string; text: string; label: string; isSized: boolean }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const area = useRef<HTMLTextAreaElement>(null);
  const isBegun = useRef(false);

  const focus = () => {
    let tries = PATIENCE;
    const attempt = () => {
      const { current } = area;
      if (!current || ui.getState().writing !== id) return;
      current.focus({ preventScroll: true });
      if (document.activeElement !== current && tries-- > 0) requestAnimationFrame(attempt);
    };
    requestAnimationFrame(attempt);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it opens
  useEffect(() => {
    const end = area.current?.value.length ?? 0;
    area.current?.setSelectionRange(end, end);
    focus();
  }, []);

  const write = (content: string) => {
    const { nodes, edges, data, setField, apply } = editor.getState();
    // However long one writes, it is one step of undo.
    if (!isBegun.current) setField(id, "content", content);
    else apply("", { nodes, edges, data: { ...data, [id]: { ...data[id], content } } }, { joins: true });
    isBegun.current = true;
  };
  const leave = () => ui.setState((state) => (state.writing === id ? { writing: null } : state));
  const onBlur = ({ relatedTarget, currentTarget }: FocusEvent) => {
    // Another window is no other place, and the card around the text is focused when the note is new, or clicked at its edge.
    if (!document.hasFocus()) return;
    if (relatedTarget !== null && relatedTarget === currentTarget.closest(".react-flow__node")) focus();
    else leave();
  };
  return (
    <textarea
      ref={area}
      aria-label={`Text of ${label}`}
      value={text}
      rows={3}
      onChange={(event) => write(event.target.value)}
      onBlur={onBlur}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        leave();
        event.currentTarget.closest<HTMLElement>(".react-flow__node")?.focus({ preventScroll: true });
      }}
      className={cn(
        "nodrag nowheel nopan field-sizing-content -m-1 min-h-17 resize-none rounded-sm bg-transparent p-1 text-13 text-ink",
        isSized ? "flex-1" : "max-h-52",
      )}
    />
  );
}
