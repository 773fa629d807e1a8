"use client";

import { formatClock } from "#components/format.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { formatDiff, formatMerge } from "#components/workflow-editor/history/version-format.ts";
import { ConflictChoice, useConflict } from "#components/workflow-editor/session/conflict.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { diffGraphs } from "#server/workflow/diff.ts";

/** The draft was written by somebody else, or in another tab: which side shall it be? */
export function DraftConflict() {
  const history = useHistoryStore();
  const { user } = useStudio();
  const autosave = useSessionState((state) => state.autosave);
  const theirs = useSessionState((state) => state.draftConflict);
  const conflict = useConflict("draft");
  if (autosave.kind !== "conflict") return null;
  const who = theirs?.draft.updated_by;
  const text = theirs
    ? `${who === user.name ? "You" : (who ?? "A former member")} changed this draft at ${formatClock(theirs.draft.updated_at)} in another tab or window.`
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
          <ConflictChoice over="draft" conflict={conflict} size="sm" />
        </>
      }
    >
      {conflict?.merge && <p>{formatMerge(conflict.merge.result)}.</p>}
      Your changes are safe in this tab, but are not saved until you choose. Undo brings yours back after “Load theirs” or “Keep both”.
    </Notice>
  );
}

/** Publishing was refused: somebody published a newer version meanwhile. */
export function PublishConflictDialog() {
  const session = useSession();
  const { user } = useStudio();
  const publish = useSessionState((state) => state.publish);
  const history = useHistoryStore();
  const compared = useHistory((state) => state.compared);
  const conflict = useConflict("publish");
  // While both sides are looked at, the choice stands above them.
  if (publish.kind !== "conflict" || compared?.kind === "conflict") return null;
  const { workflow } = publish.theirs;
  const since = conflict?.merge && { ...conflict.merge, version: session.store.getState().version };
  // The server's sentence begins with the name; without it the dialog says as much as it knows.
  const publisher = /^(.{1,120}?) saved version/.exec(publish.detail)?.[1] ?? "A former member";
  const isMe = publisher === user.name;
  return (
    <Dialog
      onClose={() => session.closePublish()}
      title={`Version ${workflow.version} was published meanwhile`}
      description={`${isMe ? "You" : publisher} published version ${workflow.version} at ${formatClock(workflow.updated_at)}${isMe ? " in another tab or window" : ""}, while you were editing an older one${isMe ? " here" : ""}.`}
    >
      <dl className="grid grid-cols-2 gap-3 text-14">
        <div className="rounded-md border p-3">
          <dt className="font-semibold">Theirs: version {workflow.version}</dt>
          <dd className="text-ink-soft">
            {since
              ? `${formatDiff(diffGraphs(since.base, conflict.theirs))} since version ${since.version}`
              : `${workflow.nodes.length} nodes`}
          </dd>
        </div>
        <div className="rounded-md border p-3">
          <dt className="font-semibold">Yours</dt>
          <dd className="text-ink-soft">
            {since
              ? `${formatDiff(diffGraphs(since.base, conflict.mine))} since version ${since.version}`
              : conflict && `against theirs: ${formatDiff(conflict.diff)}`}
          </dd>
        </div>
      </dl>
      {since && <p className="text-14">{formatMerge(since.result)}.</p>}
      <p className="text-14 text-ink-soft">
        “Keep mine” becomes version {workflow.version + 1}; theirs stays in the history.{" "}
        {since
          ? `“Keep both” puts both into the draft, and Publish makes that version ${workflow.version + 1}. This and “Load theirs” can be undone.`
          : "“Load theirs” can be undone."}
      </p>
      <DialogFooter>
        <Button variant="ghost" onClick={session.closePublish}>
          Decide later
        </Button>
        <Button onClick={() => history.getState().compare({ kind: "conflict", over: "publish" })}>See what differs</Button>
        <ConflictChoice over="publish" conflict={conflict} />
      </DialogFooter>
    </Dialog>
  );
}
