"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTRPC } from "#components/trpc.tsx";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/agent-names.tsx";
import { useCredentialNames } from "#components/workflow-editor/nodes/use-credential-names.ts";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { findProblems } from "#server/workflow/problems.ts";

/** Up to this many nodes the canvas looks for problems by itself; above, the server's answer at each autosave serves. */
const MOST_NODES = 80;
const PAUSE_MS = 200;

/** Keeps the list of problems up to date, a moment after the last change, without rendering anything for a change. */
export function useProblems(): void {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const session = useSession();
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { agentName, isPending } = useAgentNames();
  const credentialNames = useCredentialNames();

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    /** Python is judged by the server: asked once a condition, and looked at again with its answer. */
    const conditionFault = (condition: string): string | undefined => {
      const query = trpc.checks.condition.queryOptions({ condition }, { staleTime: Number.POSITIVE_INFINITY, retry: false });
      const known = cache.getQueryState(query.queryKey);
      if (known?.data === undefined && known?.status !== "error" && known?.fetchStatus !== "fetching")
        void cache.fetchQuery(query).then(
          ({ fault }) => fault !== null && !isOver && look(),
          () => {}, // nobody can say now: a run would be refused with the same words
        );
      return known?.data?.fault ?? undefined;
    };
    const look = () => {
      const isOurs = !isPending && editor.getState().nodes.length <= MOST_NODES;
      const problems = isOurs
        ? findProblems(editor.getState().graph(), { agentName: (id) => agentName(id) ?? undefined, conditionFault, credentialNames })
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
      isOver = true;
      clearTimeout(timer);
      stopEditor();
      stopSession();
    };
  }, [agentName, credentialNames, isPending, editor, session, ui, trpc, cache]);
}
