"use client";

import { useState } from "react";
import { toast } from "sonner";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import type { Conflict } from "#components/workflow-editor/session/use-conflict.ts";

/** The ways out of a conflict over the draft, or over a save. Each runs once; what fails is told. */
function useConflictChoice(over: "draft" | "save") {
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
    if (over === "save") session.closeSave();
    await session.keepMine();
    if (over === "save") await session.save({ overwrites: true });
  };
  const keepBoth = async (isMineFirst: boolean) => {
    if (!(await session.keepBoth(isMineFirst)))
      return toast.info("They have changed it again, and now both of you have changed the same. Look once more at what differs.");
    editor.getState().say("Both are in the draft");
    toast.success("Both are in the draft", {
      ...(over === "save" && { description: `Save makes it version ${session.store.getState().version + 1}.` }),
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
  over: "draft" | "save";
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
