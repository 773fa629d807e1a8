import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";

const TONES = {
  neutral: "bg-sunken text-ink-soft",
  thread: "bg-thread-soft text-thread-text",
  complete: "bg-complete-soft text-complete",
  failed: "bg-failed-soft text-failed",
  waiting: "bg-waiting-soft text-waiting",
  running: "bg-running-soft text-running",
  skipped: "bg-skipped-soft text-skipped",
} as const;
export type BadgeTone = keyof typeof TONES;

export function Badge({ tone = "neutral", className, children }: { tone?: BadgeTone; className?: string; children: ReactNode }) {
  return (
    <span
      className={cn(
        "inline-flex h-5 shrink-0 items-center gap-1 whitespace-nowrap rounded-sm px-1.5 font-semibold text-12",
        TONES[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}
