"use client";

import { useEffect } from "react";
import { useCanvasUiStore, useEditor, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { useSessionState } from "#components/editor/session-context.tsx";
import { useAgentNames } from "#components/nodes/agent-names.tsx";
import { findProblems } from "#server/engine/graph.ts";

/** Up to this many nodes the canvas looks for problems by itself; above, the server's answer at each autosave serves. */
const MOST_NODES = 80;
const PAUSE_MS = 200;

/** Keeps the list of problems up to date, a moment after the last change. */
export function useProblems(): void {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const revision = useEditor((state) => state.revision);
  const fromServer = useSessionState((state) => state.serverProblems);
  const { agentName, isPending } = useAgentNames();

  // biome-ignore lint/correctness/useExhaustiveDependencies: the revision stands for the document, which is read when the pause is over
  useEffect(() => {
    if (isPending || editor.getState().nodes.length > MOST_NODES) {
      ui.getState().setProblems(fromServer);
      return;
    }
    const timer = setTimeout(() => {
      ui.getState().setProblems(findProblems(editor.getState().graph(), { agentName: (id) => agentName(id) ?? undefined }));
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [revision, fromServer, agentName, isPending, editor, ui]);
}
