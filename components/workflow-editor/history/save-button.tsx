"use client";

import { ChevronDown, History, Tag } from "lucide-react";
import { FormFailure } from "#components/forms/form.tsx";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Menu, MenuItem } from "#components/ui/menu.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import { useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

// Loaded when it is first looked at.
const NameVersionDialog = loadedOnUse(() =>
  import("#components/workflow-editor/history/version-naming.tsx").then((module) => module.NameVersionDialog),
);

/** Save, and beside it what else there is to do with versions. */
export function SaveControls({ isReadOnly }: { isReadOnly: boolean }) {
  const history = useHistoryStore();
  const isNaming = useHistory((state) => state.isNaming);
  return (
    <div className="flex items-center gap-0.5">
      <SaveButton isReadOnly={isReadOnly} />
      <Menu trigger={<IconButton label="Version menu" icon={<ChevronDown />} hasTooltip={false} size="sm" className="h-8" />}>
        <MenuItem icon={<Tag />} disabled={isReadOnly} onSelect={() => history.setState({ isNaming: true })}>
          Name this version…
        </MenuItem>
        <MenuItem icon={<History />} onSelect={history.getState().open}>
          History
        </MenuItem>
      </Menu>
      {isNaming && <NameVersionDialog onClose={() => history.setState({ isNaming: false })} />}
    </div>
  );
}

/** The button in the header that opens and closes the history; a phone has it in the menu beside Save. */
export function HistoryButton({ isEditorShown }: { isEditorShown: boolean }) {
  const history = useHistoryStore();
  const isOpen = useHistory((state) => state.isOpen && state.compared?.kind !== "proposal") && isEditorShown;
  return (
    <IconButton
      label="History"
      icon={<History />}
      isPressed={isOpen}
      size="lg"
      side="bottom"
      className="max-sm:hidden"
      onClick={() => (isOpen ? history.getState().close() : history.getState().open())}
    />
  );
}

/** Makes the draft the workflow's current version: what the API, schedules and webhooks run. */
function SaveButton({ isReadOnly }: { isReadOnly: boolean }) {
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
          <>
            <Button size="sm" onClick={() => void saveAndTell(session)}>
              Try again
            </Button>
            <Button size="sm" onClick={session.closeSave}>
              Dismiss
            </Button>
          </>
        }
      />
    </div>
  );
}
