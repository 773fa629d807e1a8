"use client";

import { useMemo, useState } from "react";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { toast } from "#components/ui/toaster.tsx";
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

/** The conflict over the draft, or over a version, as the canvas stands now; null while there is none, or theirs is not known yet. */
export function useConflict(over: "draft" | "publish" | null): Conflict | null {
  const session = useSession();
  const editor = useEditorStore();
  const theirs = useSessionState((state): Graph | null => {
    if (over === "draft") return state.autosave.kind === "conflict" || state.elsewhere ? (state.draftConflict?.draft ?? null) : null;
    return over === "publish" && state.publish.kind === "conflict" ? state.publish.theirs.workflow : null;
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

/** The ways out of a conflict over the draft, or over a version. Each runs once; what fails is told. */
function useConflictChoice(over: "draft" | "publish") {
  const session = useSession();
  const editor = useEditorStore();
  const [isBusy, setIsBusy] = useState(false);
  const choose = async (way: () => Promise<unknown>) => {
    setIsBusy(true);
    try {
      await way();
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    } finally {
      setIsBusy(false);
    }
  };
  const keepMine = async () => {
    if (over === "publish") session.closePublish();
    await session.keepMine();
    if (over === "publish") await session.publish({ overwrites: true });
  };
  const keepBoth = async (isMineFirst: boolean) => {
    if (!(await session.keepBoth(isMineFirst)))
      return toast.info("They have changed it again, and now both of you have changed the same. Look once more at what differs.");
    editor.getState().say("Both are in the draft");
    toast.success("Both are in the draft", {
      ...(over === "publish" && { description: `Publish makes it version ${session.store.getState().version + 1}.` }),
      action: { label: "Undo", onClick: () => editor.getState().undo() },
    });
  };
  return {
    isBusy,
    loadTheirs: () => choose(session.loadTheirs),
    keepMine: () => choose(keepMine),
    keepBoth: (isMineFirst: boolean) => choose(() => keepBoth(isMineFirst)),
  };
}

/** The buttons that end a conflict. Both can be kept where it is known what both started from. */
export function ConflictChoice({
  over,
  conflict,
  size,
  onDone,
}: {
  over: "draft" | "publish";
  conflict: Conflict | null;
  size?: "sm";
  onDone?: () => void;
}) {
  const { isBusy, loadTheirs, keepMine, keepBoth } = useConflictChoice(over);
  const choose = async (way: () => Promise<void>) => {
    await way();
    onDone?.();
  };
  const merged = conflict?.merge?.result;
  // Who has changed nothing has nothing of theirs to put beside it.
  const isOnlyTheirs = merged !== undefined && [merged.mine, merged.both].every(({ nodes, edges }) => nodes.length + edges.length === 0);
  // Over a draft there is nothing to weigh then either.
  const isSettled = isOnlyTheirs && over === "draft";
  const isClean = isSettled ? undefined : merged?.isClean;
  const common = { disabled: isBusy, ...(size && { size }) };
  return (
    <>
      <Button {...common} variant={isSettled ? "primary" : "secondary"} onClick={() => void choose(loadTheirs)}>
        Load theirs
      </Button>
      <Button {...common} variant={isSettled || isClean ? "secondary" : "primary"} onClick={() => void choose(keepMine)}>
        Keep mine
      </Button>
      {isClean !== undefined && (
        <Button {...common} variant={isClean ? "primary" : "secondary"} onClick={() => void choose(() => keepBoth(!isClean))}>
          {isClean ? "Keep both" : "Keep both, mine where both changed"}
        </Button>
      )}
    </>
  );
}
