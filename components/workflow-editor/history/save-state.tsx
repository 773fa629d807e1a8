"use client";

import { CircleCheck, CloudAlert, CloudUpload, PencilLine, UserRoundPen } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { toast } from "sonner";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

/** How the draft stands, in words beside the name. */
export function SaveStateText({ isReadOnly }: { isReadOnly: boolean }) {
  const autosave = useSessionState((state) => state.autosave);
  const elsewhere = useSessionState((state) => state.elsewhere);
  if (isReadOnly) return <Line icon={<PencilLine />}>View only</Line>;
  switch (autosave.kind) {
    case "saved":
      return elsewhere ? <ChangedElsewhere who={elsewhere.who} /> : <Line icon={<CircleCheck />}>Saved</Line>;
    case "changed":
      return <Line icon={<PencilLine />}>Unsaved changes</Line>;
    case "saving":
      return <Line icon={<CloudUpload />}>Saving…</Line>;
    case "retrying":
      return <Countdown until={autosave.retryAt} detail={autosave.detail} />;
    case "conflict":
      return (
        <Line icon={<CloudAlert />} isBad>
          Not saved: changed elsewhere
        </Line>
      );
    case "held":
      return (
        <Line icon={<CloudAlert />} isBad title={autosave.reason}>
          Not saved: {autosave.reason}
        </Line>
      );
    case "refused":
      return (
        <Line icon={<CloudAlert />} isBad title={autosave.detail}>
          Not saved: {autosave.detail}
        </Line>
      );
  }
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
      <Line icon={<UserRoundPen />} isWaiting>
        {who === user.name ? "Changed in another tab" : `Changed by ${who ?? "somebody"}`}
      </Line>
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

function Countdown({ until, detail }: { until: number; detail: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <Line icon={<CloudAlert />} isBad title={detail}>
      Autosave failed, retrying in {Math.max(1, Math.ceil((until - now) / 1000))} s
    </Line>
  );
}

interface LineProps {
  icon: ReactNode;
  isBad?: boolean;
  isWaiting?: boolean;
  title?: string;
  children: ReactNode;
}

function Line({ icon, isBad = false, isWaiting = false, title, children }: LineProps) {
  return (
    <span
      role="status"
      title={title}
      className={cn(
        "flex min-w-0 items-center gap-1 text-12 [&>svg]:size-3.5 [&>svg]:shrink-0",
        isBad ? "text-failed" : isWaiting ? "text-waiting" : "text-ink-faint",
      )}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  );
}
