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
  const autosave = useSessionState((state) => state.autosave);
  const elsewhere = useSessionState((state) => state.elsewhere);
  if (isReadOnly) return <SaveLine icon={<PencilLine />}>View only</SaveLine>;
  if (autosave.kind === "saved" && elsewhere) return <ChangedElsewhere who={elsewhere.who} />;
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
        {who === user.name ? "Changed in another tab" : `Changed by ${who ?? "somebody"}`}
      </SaveLine>
      <button
        type="button"
        aria-label="Show what was changed"
        className="inline-flex h-6 shrink-0 items-center rounded-sm px-1 font-medium text-thread-text hover:underline"
        onClick={() => void show()}
      >
        Show
      </button>
    </span>
  );
}
