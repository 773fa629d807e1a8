import { Ban, Check, CircleDashed, CircleStop, Clock, LoaderCircle, Pause, SkipForward, X } from "lucide-react";
import type { ComponentType } from "react";
import { Badge, type BadgeTone } from "#components/ui/badge.tsx";
import { cn } from "#components/ui/cn.ts";
import type { ExecutionStatus, NodeStatus } from "#server/runs/status-schema.ts";

/** `stopped` is a node that had begun and was ended before it was done; the API calls it skipped, with `stopped` beside it. */
export type Status = ExecutionStatus | NodeStatus | "stopped";

interface StatusLook {
  label: string;
  tone: Exclude<BadgeTone, "thread">;
  icon: ComponentType<{ className?: string; "aria-hidden"?: boolean; strokeWidth?: number }>;
  isMoving?: boolean;
}

/** The one table of how a state of a run or of a node looks and is called. Shape tells it as well as colour. */
export const statusLooks: Record<Status, StatusLook> = {
  pending: { label: "Queued", tone: "neutral", icon: Clock },
  queued: { label: "Queued", tone: "neutral", icon: Clock },
  running: { label: "Running", tone: "running", icon: LoaderCircle, isMoving: true },
  paused: { label: "Waiting", tone: "waiting", icon: Pause },
  completed: { label: "Completed", tone: "complete", icon: Check },
  failed: { label: "Failed", tone: "failed", icon: X },
  // A person's No is no warning.
  rejected: { label: "Rejected", tone: "skipped", icon: Ban },
  cancelled: { label: "Cancelled", tone: "skipped", icon: Ban },
  idle: { label: "Idle", tone: "neutral", icon: CircleDashed },
  waiting: { label: "Waiting", tone: "waiting", icon: Pause },
  complete: { label: "Completed", tone: "complete", icon: Check },
  skipped: { label: "Skipped", tone: "skipped", icon: SkipForward },
  stopped: { label: "Stopped", tone: "skipped", icon: CircleStop },
};

const INK = {
  neutral: "text-ink-faint",
  running: "text-running",
  waiting: "text-waiting",
  complete: "text-complete",
  failed: "text-failed",
  skipped: "text-skipped",
} as const;

/** The state as an icon alone. `isDecorative` where its name stands beside it. */
export function StatusIcon({ status, isDecorative = false, className }: { status: Status; isDecorative?: boolean; className?: string }) {
  const { label, tone, icon: Icon, isMoving } = statusLooks[status];
  return (
    <span
      className={cn("inline-flex size-3.5 shrink-0", INK[tone], className)}
      {...(!isDecorative && { role: "img", "aria-label": label })}
    >
      <Icon aria-hidden strokeWidth={2.25} className={cn("size-full", isMoving && "animate-spin")} />
    </span>
  );
}

/** The state with its name. */
export function StatusBadge({ status, className }: { status: Status; className?: string }) {
  const { label, tone } = statusLooks[status];
  return (
    <Badge tone={tone} className={className ?? ""}>
      <StatusIcon status={status} isDecorative className="size-3" />
      {label}
    </Badge>
  );
}
