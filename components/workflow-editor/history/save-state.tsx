"use client";

import { PencilLine, UserRoundPen } from "lucide-react";
import { AutosaveText, SaveLine } from "#components/autosave-text.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

/** How the draft stands, in words beside the name. */
export function SaveStateText({ isReadOnly }: { isReadOnly: boolean }) {
  const session = useSession();
  const autosave = useSessionState((state) => state.autosave);
  const elsewhere = useSessionState((state) => state.elsewhere);
  if (isReadOnly) return <SaveLine icon={<PencilLine />}>View only</SaveLine>;
  if (autosave.kind === "saved" && elsewhere) return <ChangedElsewhere who={elsewhere.who} />;
  if (autosave.kind === "retrying")
    return (
      <span className="flex min-w-0 items-center gap-1">
        <AutosaveText state={autosave} />
        <StateButton onClick={() => void session.flush()}>Try now</StateButton>
      </span>
    );
  return <AutosaveText state={autosave} />;
}

/** What is on the canvas is no longer what the server has, and the way to see the difference. */
function ChangedElsewhere({ who }: { who: string | null }) {
  const session = useSession();
  const history = useHistoryStore();
  const { user } = useStudio();
  const show = async () => {
    try {
      await session.look();
      history.getState().compare({ kind: "conflict", over: "draft" });
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    }
  };
  return (
    <span className="flex min-w-0 items-center gap-1 text-12">
      <SaveLine icon={<UserRoundPen />} isWaiting>
        {who === user.name ? "Changed in another tab" : `Changed by ${who ?? "a former member"}`}
      </SaveLine>
      <StateButton label="Show what was changed" onClick={() => void show()}>
        Show
      </StateButton>
    </span>
  );
}

const StateButton = ({ label, onClick, children }: { label?: string; onClick: () => void; children: string }) => (
  <button
    type="button"
    {...(label !== undefined && { "aria-label": label })}
    className="inline-flex h-6 shrink-0 items-center rounded-sm px-1 font-semibold text-12 text-thread-text hover:underline pointer-coarse:h-11"
    onClick={onClick}
  >
    {children}
  </button>
);
