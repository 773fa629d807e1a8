"use client";

import { useEffect } from "react";
import { useCanvasUiStore, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { useSession } from "#components/editor/session-context.tsx";
import { useAgentNames } from "#components/nodes/agent-names.tsx";
import { findProblems } from "#server/engine/problems.ts";

/** Up to this many nodes the canvas looks for problems by itself; above, the server's answer at each autosave serves. */
const MOST_NODES = 80;
const PAUSE_MS = 200;

/** Keeps the list of problems up to date, a moment after the last change, without rendering anything for a change. */
export function useProblems(): void {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const session = useSession();
  const { agentName, isPending } = useAgentNames();

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      const isOurs = !isPending && editor.getState().nodes.length <= MOST_NODES;
      const problems = isOurs
        ? findProblems(editor.getState().graph(), { agentName: (id) => agentName(id) ?? undefined })
        : session.store.getState().serverProblems;
      ui.getState().setProblems(problems);
    };
    const plan = () => {
      clearTimeout(timer);
      timer = setTimeout(look, PAUSE_MS);
    };
    const stopEditor = editor.subscribe((state, before) => {
      if (state.revision !== before.revision) plan();
    });
    const stopSession = session.store.subscribe((state, before) => {
      if (state.serverProblems !== before.serverProblems) plan();
    });
    look();
    return () => {
      clearTimeout(timer);
      stopEditor();
      stopSession();
    };
  }, [agentName, isPending, editor, session, ui]);
}
