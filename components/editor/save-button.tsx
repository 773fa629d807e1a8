"use client";

import { toast } from "sonner";
import { MOD } from "#components/canvas/control-bar.tsx";
import { useSession, useSessionState } from "#components/editor/session-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";

/** Makes the draft the workflow's current version: what the API, schedules and webhooks run. */
export function SaveButton({ isReadOnly }: { isReadOnly: boolean }) {
  const session = useSession();
  const isAhead = useSessionState((state) => state.isAhead);
  const version = useSessionState((state) => state.version);
  const save = useSessionState((state) => state.save);
  const hint = isReadOnly
    ? "You may look, not change. Ask an admin of the project for the editor role."
    : save.kind === "failed"
      ? save.error.detail
      : isAhead
        ? `Make this the current version (${version + 1}): the API, schedules and webhooks run it`
        : `Version ${version} is current; there is nothing to save`;
  const isOff = isReadOnly || (!isAhead && save.kind !== "failed");
  return (
    <Tooltip content={hint} shortcut={[MOD, "S"]} side="bottom">
      <Button
        isPending={save.kind === "saving"}
        aria-disabled={isOff || undefined}
        aria-label="Save"
        aria-keyshortcuts="Control+S Meta+S"
        className="w-19 aria-disabled:cursor-not-allowed aria-disabled:opacity-55"
        onClick={() => !isOff && void saveAndTell(session)}
      >
        {save.kind === "saving" ? "Saving…" : isAhead || isReadOnly ? "Save" : "Saved"}
        {isAhead && save.kind !== "saving" && (
          <span
            aria-hidden
            className={`absolute -top-1 -right-1 size-2 rounded-full ring-2 ring-surface ${save.kind === "failed" ? "bg-failed" : "bg-waiting"}`}
          />
        )}
      </Button>
    </Tooltip>
  );
}

/** Saves, and says so. What went wrong is shown by SaveFailure. */
export async function saveAndTell(session: ReturnType<typeof useSession>): Promise<void> {
  if (await session.save()) toast.success(`Version ${session.store.getState().version} saved`);
}
