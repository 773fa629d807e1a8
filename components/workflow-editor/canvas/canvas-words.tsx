"use client";

import { useEffect, useRef } from "react";
import { useCanvasUi, useEditor } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** Why the node under the pointer takes no connection. */
export function RefusalTip() {
  const refusal = useCanvasUi((state) => state.refusal);
  if (!refusal) return null;
  return (
    <div
      role="status"
      className="pointer-events-none absolute top-3 left-1/2 z-20 max-w-100 -translate-x-1/2 rounded-md bg-ink px-3 py-1.5 text-12 text-paper shadow-md"
    >
      {refusal}
    </div>
  );
}

/** What happens on the canvas, in words, for those who do not see it. */
export function Announcer() {
  const { text, count } = useEditor((state) => state.announcement);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Written anew even when the words are the same as before.
    if (box.current) box.current.textContent = count % 2 ? `${text}\u00a0` : text;
  }, [text, count]);
  return <div ref={box} aria-live="polite" aria-atomic className="sr-only" data-announcer />;
}
