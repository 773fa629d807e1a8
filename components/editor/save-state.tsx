"use client";

import { CircleCheck, CloudAlert, CloudUpload, PencilLine } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useSessionState } from "#components/editor/session-context.tsx";
import { cn } from "#components/ui/cn.ts";

/** How the draft stands, in words beside the name. */
export function SaveStateText({ isReadOnly }: { isReadOnly: boolean }) {
  const autosave = useSessionState((state) => state.autosave);
  if (isReadOnly) return <Line icon={<PencilLine />}>View only</Line>;
  switch (autosave.kind) {
    case "saved":
      return <Line icon={<CircleCheck />}>Saved</Line>;
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

function Line({ icon, isBad = false, title, children }: { icon: ReactNode; isBad?: boolean; title?: string; children: ReactNode }) {
  return (
    <span
      role="status"
      title={title}
      className={cn("flex min-w-0 items-center gap-1 text-12 [&>svg]:size-3.5 [&>svg]:shrink-0", isBad ? "text-failed" : "text-ink-faint")}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  );
}
