import { formatDuration } from "#components/format.ts";
import { cn } from "#components/ui/cn.ts";
import type { NodeStatus } from "#server/runs/status-schema.ts";

const BARS: Partial<Record<NodeStatus, string>> = {
  failed: "bg-failed",
  running: "bg-running",
  waiting: "bg-waiting",
  skipped: "bg-line-strong",
};

/** Pixels from a row's edge to where all bars begin, however deep the row is. */
const ORIGIN = 36;

interface TimeBarProps {
  bar: { left: number; width: number };
  status: NodeStatus;
  /** Pixels that the row is set in. */
  inset: number;
}

/** A bar of the timeline, under its row. */
export const TimeBar = ({ bar: { left, width }, status, inset }: TimeBarProps) => (
  <span aria-hidden className="relative block h-[3px] rounded-full bg-sunken" style={{ marginLeft: ORIGIN - inset }}>
    <span className={cn("absolute h-full rounded-full", BARS[status] ?? "bg-complete")} style={{ left: `${left}%`, width: `${width}%` }} />
  </span>
);

const MIN_WIDTH = 0.5;

/**
 * A node's bar in the timeline, in percent of the run, and the words of its tooltip.
 * @param span all in milliseconds; `begin` and `start` since the epoch
 */
export function barPosition({ begin, total, start, duration }: { begin: number; total: number; start: number; duration: number }) {
  const offset = Math.max(0, start - begin);
  const left = Math.min(100 - MIN_WIDTH, (offset / total) * 100);
  const width = Math.min(100 - left, Math.max(MIN_WIDTH, (duration / total) * 100));
  return {
    left,
    width,
    duration: formatDuration(duration),
    offset: formatDuration(offset),
    share: `${Math.round((duration / total) * 100)} %`,
  };
}
