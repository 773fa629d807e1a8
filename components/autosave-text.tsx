"use client";

import { CircleCheck, CloudAlert, CloudUpload } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import type { AutosaveState } from "#components/autosave.ts";
import { cn } from "#components/ui/cn.ts";

/** How what is kept on the server stands, in words. */
export function AutosaveText({ state }: { state: AutosaveState }) {
  switch (state.kind) {
    case "saved":
      return <SaveLine icon={<CircleCheck />}>Saved</SaveLine>;
    case "changed":
    case "saving":
      return <SaveLine icon={<CloudUpload />}>Saving…</SaveLine>;
    case "retrying":
      return <Countdown until={state.retryAt} detail={state.detail} />;
    case "conflict":
      return (
        <SaveLine icon={<CloudAlert />} isBad>
          Not saved: changed elsewhere
        </SaveLine>
      );
    case "held":
    case "refused": {
      const why = state.kind === "held" ? state.reason : state.detail;
      return (
        <SaveLine icon={<CloudAlert />} isBad title={why}>
          Not saved: {why}
        </SaveLine>
      );
    }
  }
}

function Countdown({ until, detail }: { until: number; detail: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <SaveLine icon={<CloudAlert />} isBad title={detail}>
      Autosave failed, retrying in {Math.max(1, Math.ceil((until - now) / 1000))} s
    </SaveLine>
  );
}

interface SaveLineProps {
  icon: ReactNode;
  isBad?: boolean;
  isWaiting?: boolean;
  title?: string;
  children: ReactNode;
}

/** A line about saving. */
export function SaveLine({ icon, isBad = false, isWaiting = false, title, children }: SaveLineProps) {
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
