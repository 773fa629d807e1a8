"use client";

import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { saveAndTell } from "#components/workflow-editor/history/save-button.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

/** In place of what only a saved trigger has: why, and the way there. */
export function SaveFirst({ what, isReadOnly }: { what: "webhook" | "HTTP trigger"; isReadOnly: boolean }) {
  const session = useSession();
  const isSaving = useSessionState((state) => state.save.kind === "saving");
  return (
    <Notice
      {...(!isReadOnly && {
        actions: (
          <Button size="sm" isPending={isSaving} onClick={() => void saveAndTell(session)}>
            Save now
          </Button>
        ),
      })}
    >
      Save the workflow first: the saved version has no {what} yet, so nothing listens at this address.
    </Notice>
  );
}
