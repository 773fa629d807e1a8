"use client";

import { useMemo } from "react";
import { useDebounced } from "#components/ui/use-debounced.ts";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { diffGraphs, type GraphDiff } from "#server/workflow/diff.ts";
import { type GraphMerge, mergeGraphs } from "#server/workflow/merge.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** What stands against the canvas. */
export interface Conflict {
  theirs: Graph;
  mine: Graph;
  /** On the way from theirs to mine. */
  diff: GraphDiff;
  /** Who changed what since both started, and both in one; null when it is not known what they started from. */
  merge: { base: Graph; result: GraphMerge } | null;
}

/** Putting two large graphs together takes a tenth of a second: not at every key. */
const PAUSE_MS = 300;
/** In place of a revision while there is no conflict. */
const NONE = -1;

/** The conflict over the draft, or over a save, as the canvas stands now; null while there is none, or theirs is not known yet. */
export function useConflict(over: "draft" | "save" | null): Conflict | null {
  const session = useSession();
  const editor = useEditorStore();
  const theirs = useSessionState((state): Graph | null => {
    if (over === "draft") return state.autosave.kind === "conflict" || state.elsewhere ? (state.draftConflict?.draft ?? null) : null;
    return over === "save" && state.save.kind === "conflict" ? state.save.theirs.workflow : null;
  });
  const now = useEditor((state) => (theirs ? state.revision : NONE));
  const before = useDebounced(now, PAUSE_MS);
  const revision = before === NONE ? now : before;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the revision stands for the graph that is read from the store
  return useMemo((): Conflict | null => {
    if (!theirs || !over) return null;
    const mine = editor.getState().graph();
    const base = session.baseOf(over);
    return { theirs, mine, diff: diffGraphs(theirs, mine), merge: base && { base, result: mergeGraphs(base, mine, theirs) } };
  }, [session, editor, over, theirs, revision]);
}
