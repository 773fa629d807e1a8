"use client";

import { Unplug } from "lucide-react";
import { formatDuration, formatTokens } from "#components/format.ts";
import { Cost } from "#components/runs/cost.tsx";
import { useRun, useRunShallow } from "#components/runs/store/run-context.tsx";
import { totalUsage } from "#components/runs/store/run-snapshot.ts";
import { Badge } from "#components/ui/badge.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Elapsed } from "#components/ui/time.tsx";
import { hasNeverStarted, isFinal } from "#server/shared/execution-status.ts";

/** State, time, tokens and cost of the run on the screen, and whether the line to it is down. */
export function RunSummary() {
  const status = useRun((state) => state.snapshot?.status);
  const line = useRun((state) => state.line);
  const isRefused = useRun(({ view }) => view !== null && hasNeverStarted(view.execution));
  const { duration, since, input, output, cost, isPartial } = useRunShallow(({ snapshot }) => ({
    duration: snapshot?.duration_ms ?? null,
    since: snapshot?.created_at ?? "",
    ...(snapshot ? totalUsage(snapshot) : { input: 0, output: 0, cost: 0, isPartial: false }),
  }));
  if (!status) return null;
  return (
    <span className="flex min-w-0 items-center gap-2 text-12 text-ink-soft tabular">
      <StatusBadge status={status} />
      <span className="whitespace-nowrap">
        {isRefused ? "Never started" : isFinal(status) ? duration !== null && formatDuration(duration) : <Elapsed since={since} />}
      </span>
      {input + output > 0 && <span className="whitespace-nowrap max-sm:hidden">{formatTokens(input, output)}</span>}
      {(input + output > 0 || isPartial) && <Cost cost={cost} isPartial={isPartial} className="max-sm:hidden" />}
      {line === "reconnecting" && (
        <Badge tone="waiting">
          <Unplug aria-hidden className="size-3" />
          Reconnecting…
        </Badge>
      )}
    </span>
  );
}
