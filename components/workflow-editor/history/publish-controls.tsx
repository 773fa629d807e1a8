"use client";

import { ChevronDown, History, Rocket, TriangleAlert } from "lucide-react";
import { plural } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { useCommands } from "#components/shell/commands.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import { useCanvasUi } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { usePublish } from "#components/workflow-editor/history/use-publish.ts";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

// Loaded when it is first looked at.
const PublishPanel = loadedOnUse(() =>
  import("#components/workflow-editor/history/publish-panel.tsx").then((module) => module.PublishPanel),
);

/** Publish, and beside it what that would change, a note of it, and the history. */
export function PublishControls({ isReadOnly }: { isReadOnly: boolean }) {
  const history = useHistoryStore();
  const isOpen = useHistory((state) => state.isPublishOpen);
  const setOpen = (isPublishOpen: boolean) => history.setState({ isPublishOpen });
  return (
    <div className="flex items-center gap-0.5">
      <PublishButton isReadOnly={isReadOnly} />
      <Popover
        label="Publish"
        open={isOpen}
        onOpenChange={setOpen}
        className="max-h-[min(75dvh,36rem)] w-88 overflow-y-auto p-0"
        trigger={<IconButton label="What would be published" icon={<ChevronDown />} hasTooltip={false} size="sm" className="h-8" />}
      >
        <PublishPanel isReadOnly={isReadOnly} onClose={() => setOpen(false)} />
      </Popover>
    </div>
  );
}

/** The button in the header that opens and closes the history; a phone has it in the panel beside Publish. */
export function HistoryButton({ isEditorShown }: { isEditorShown: boolean }) {
  const history = useHistoryStore();
  const isOpen = useHistory((state) => state.isOpen && state.compared?.kind !== "proposal") && isEditorShown;
  const toggle = () => (isOpen ? history.getState().close() : history.getState().open());
  useCommands([isEditorShown && { label: isOpen ? "Close the history" : "History of versions", icon: History, run: toggle }]);
  return (
    <IconButton label="History" icon={<History />} isPressed={isOpen} size="lg" side="bottom" className="max-sm:hidden" onClick={toggle} />
  );
}

/** Makes the draft the workflow's current version, and shows whether it is. */
function PublishButton({ isReadOnly }: { isReadOnly: boolean }) {
  const publish = usePublish();
  const isAhead = useSessionState((state) => state.isAhead);
  const isBare = useSessionState((state) => state.isBare);
  const version = useSessionState((state) => state.version);
  const state = useSessionState(({ publish }) => publish);
  const problems = useCanvasUi(({ problems }) => problems.length);
  const isPending = state.kind === "publishing";
  const isBlocked = isAhead && problems > 0 && !isReadOnly;
  const isPublished = !isAhead && !isBare && !isPending;
  const hint = isReadOnly
    ? "You may look, not change. Ask an admin of the project for the editor role."
    : state.kind === "failed"
      ? `Not published: ${state.error.detail}`
      : isBlocked
        ? `${plural(problems, "problem")} to fix before it can be published; press to see them`
        : !isAhead
          ? isBare
            ? "Nothing to publish yet"
            : `Version ${version} is published, and the canvas is the same`
          : isBare
            ? "Publish: the API, schedules and webhooks then run what is on the canvas"
            : `There are changes since version ${version}: publish them as version ${version + 1}`;
  const isOff = isReadOnly || !isAhead;
  useCommands([!isOff && { label: "Publish", icon: Rocket, shortcut: [MOD, "S"], run: () => publish() }]);
  return (
    <Tooltip content={hint} shortcut={[MOD, "S"]} side="bottom">
      <Button
        isPending={isPending}
        aria-disabled={isOff || isBlocked || undefined}
        aria-label="Publish"
        aria-keyshortcuts="Control+S Meta+S Shift+P"
        className={cn("w-27 aria-disabled:cursor-not-allowed", isOff && !isPublished && "opacity-55")}
        {...(isBlocked && { icon: <TriangleAlert className="text-waiting" /> })}
        onClick={() => !isReadOnly && publish()}
      >
        {!isPending && !isBlocked && (isPublished || (isAhead && !isBare) || state.kind === "failed") && (
          <span
            aria-hidden
            data-dot
            className={cn(
              "size-2 shrink-0 rounded-full",
              state.kind === "failed" ? "bg-failed" : isPublished ? "bg-complete" : "bg-waiting",
            )}
          />
        )}
        {isPending ? "Publishing…" : isPublished ? "Published" : "Publish"}
      </Button>
    </Tooltip>
  );
}

/** Why the last publication did not go through. */
export function PublishFailure() {
  const session = useSession();
  const publish = usePublish();
  const state = useSessionState((session) => session.publish);
  if (state.kind !== "failed") return null;
  return (
    <div className="mx-3 mt-3 shadow-md">
      <FormFailure
        title="Not published"
        failure={state.error}
        actions={
          <>
            <Button size="sm" onClick={publish}>
              Try again
            </Button>
            <Button size="sm" onClick={session.closePublish}>
              Dismiss
            </Button>
          </>
        }
      />
    </div>
  );
}
