"use client";

import { useEffect, useRef } from "react";
import { toast } from "#components/ui/toaster.tsx";
import { hasSingleKeys } from "#components/workflow-editor/canvas/shortcuts.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";

/**
 * Publishes what is on the canvas: it becomes the version that the API, schedules and webhooks run. Where problems stand in the
 * way it shows them instead; where nothing is new it says so.
 */
export function usePublish(): () => Promise<void> {
  const session = useSession();
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const history = useHistoryStore();
  return async () => {
    const { isAhead, publish } = session.store.getState();
    if (editor.getState().isReadOnly || publish.kind === "publishing") return;
    editor.getState().settle();
    if (!isAhead) return editor.getState().say("Nothing to publish: the canvas is the published version");
    if (ui.getState().problems.length > 0) await ui.getState().checkNow();
    if (ui.getState().problems.length > 0) return history.setState({ isPublishOpen: true });
    history.setState({ isPublishOpen: false });
    if (await session.publish()) toast.success(`Version ${session.store.getState().version} published`);
  };
}

/** ⌘/Ctrl+S publishes wherever one types, Shift+P where one does not. */
export function usePublishKeys(): void {
  const publish = useRef(usePublish());
  publish.current = usePublish();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target, key, metaKey, ctrlKey, shiftKey, altKey } = event;
      const isTyping =
        target instanceof Element && target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]");
      const isSave = key.toLowerCase() === "s" && (metaKey || ctrlKey) && !shiftKey && !altKey;
      const isLetter = key.toLowerCase() === "p" && shiftKey && !metaKey && !ctrlKey && !altKey && !isTyping && hasSingleKeys();
      if (!isSave && !isLetter) return;
      event.preventDefault();
      publish.current();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
