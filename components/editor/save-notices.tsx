"use client";

import { useState } from "react";
import { toast } from "sonner";
import { useEditorStore } from "#components/canvas/canvas-context.tsx";
import { useHistory, useHistoryStore } from "#components/editor/history-context.tsx";
import { useSession, useSessionState } from "#components/editor/session-context.tsx";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";

const clock = (time: string) => new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** The two ways out of a conflict over the draft, or over a save. Each runs once; what fails is told. */
export function useConflictChoice(over: "draft" | "save") {
  const session = useSession();
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
  return { isBusy, loadTheirs: () => choose(session.loadTheirs), keepMine: () => choose(keepMine) };
}

/** The draft was written by somebody else, or in another tab: which side shall it be? */
export function DraftConflict() {
  const history = useHistoryStore();
  const { user } = useStudio();
  const autosave = useSessionState((state) => state.autosave);
  const theirs = useSessionState((state) => state.draftConflict);
  const { isBusy, loadTheirs, keepMine } = useConflictChoice("draft");
  if (autosave.kind !== "conflict") return null;
  const who = theirs?.draft.updated_by;
  const text = theirs
    ? `${who === user.name ? "You" : (who ?? "Somebody")} changed this draft at ${clock(theirs.draft.updated_at)} in another tab or window.`
    : autosave.detail;
  return (
    <Notice
      tone="waiting"
      title={text}
      className="mx-3 mt-3 shadow-md"
      actions={
        <>
          {theirs && (
            <Button size="sm" onClick={() => history.getState().compare({ kind: "conflict", over: "draft" })}>
              See what differs
            </Button>
          )}
          <Button size="sm" disabled={isBusy} onClick={() => void loadTheirs()}>
            Load theirs
          </Button>
          <Button size="sm" disabled={isBusy} onClick={() => void keepMine()}>
            Keep mine
          </Button>
        </>
      }
    >
      Your changes are safe in this tab, but are not saved until you choose. Undo brings yours back after “Load theirs”.
    </Notice>
  );
}

/** Save was refused: somebody saved a newer version meanwhile. */
export function SaveConflictDialog() {
  const session = useSession();
  const editor = useEditorStore();
  const save = useSessionState((state) => state.save);
  const history = useHistoryStore();
  const compared = useHistory((state) => state.compared);
  const { isBusy, loadTheirs, keepMine } = useConflictChoice("save");
  // While both sides are looked at, the choice stands above them.
  if (save.kind !== "conflict" || compared?.kind === "conflict") return null;
  const { workflow } = save.theirs;
  const nodes = editor.getState().nodes.length;
  // The server's sentence begins with the name; without it the dialog says as much as it knows.
  const saver = /^(.{1,120}?) saved version/.exec(save.detail)?.[1] ?? "Somebody";
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && session.closeSave()}
      title={`Version ${workflow.version} was saved meanwhile`}
      description={`${saver} saved version ${workflow.version} at ${clock(workflow.updated_at)}, while you were editing an older one.`}
    >
      <dl className="grid grid-cols-2 gap-3 text-13">
        <div className="rounded-md border p-3">
          <dt className="font-medium">Theirs: version {workflow.version}</dt>
          <dd className="text-ink-soft">
            {workflow.nodes.length} nodes, saved at {clock(workflow.updated_at)}
          </dd>
        </div>
        <div className="rounded-md border p-3">
          <dt className="font-medium">Yours</dt>
          <dd className="text-ink-soft">{nodes} nodes, not saved as a version</dd>
        </div>
      </dl>
      <p className="text-13 text-ink-soft">
        “Keep mine” becomes version {workflow.version + 1}; theirs stays in the history. “Load theirs” can be undone.
      </p>
      <DialogFooter>
        <Button variant="ghost" disabled={isBusy} onClick={session.closeSave}>
          Decide later
        </Button>
        <Button disabled={isBusy} onClick={() => history.getState().compare({ kind: "conflict", over: "save" })}>
          See what differs
        </Button>
        <Button disabled={isBusy} onClick={() => void loadTheirs()}>
          Load theirs
        </Button>
        <Button variant="primary" isPending={isBusy} onClick={() => void keepMine()}>
          Keep mine
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

/** Why the last Save did not go through. */
export function SaveFailure() {
  const session = useSession();
  const save = useSessionState((state) => state.save);
  if (save.kind !== "failed") return null;
  return (
    <div className="mx-3 mt-3 shadow-md">
      <FormFailure
        title="Not saved as a version"
        failure={save.error}
        actions={
          <Button size="sm" onClick={session.closeSave}>
            Dismiss
          </Button>
        }
      />
    </div>
  );
}
