"use client";

import type { ReactNode } from "react";
import { Link } from "#components/ui/link.tsx";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { Elapsed, Time } from "#components/ui/time.tsx";
import type { ExecutionSummary } from "#server/runs/schema.ts";

/** A card with a heading and rows. */
export function HomeSection({
  title,
  count,
  action,
  children,
}: {
  title: string;
  count?: number;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <div className="flex min-h-7 items-center justify-between gap-3">
        <h2 className="font-semibold text-16">
          {title}
          {count !== undefined && count > 0 && <span className="ml-2 font-normal text-12 text-ink-faint tabular">{count}</span>}
        </h2>
        {action}
      </div>
      <div className="overflow-hidden rounded-lg border bg-surface">{children}</div>
    </section>
  );
}

/** Runs as rows: state, workflow, what it says, when. */
export function RunList({ runs }: { runs: readonly ExecutionSummary[] }) {
  return (
    <ul className="divide-y">
      {runs.map((run) => (
        <li key={run.id} className="relative flex min-h-11 items-center gap-3 px-3 py-1.5 transition-colors hover:bg-hover">
          <StatusIcon status={run.status} isDecorative />
          <div className="min-w-0 flex-1">
            <Link href={`/runs/${run.id}`} className="block truncate font-semibold after:absolute after:inset-0">
              {run.workflow_name}
              <span className="sr-only">, {statusLooks[run.status].label}</span>
            </Link>
            {run.error !== null && <p className="truncate text-12 text-failed">{run.error}</p>}
          </div>
          <span className="shrink-0 whitespace-nowrap text-12 text-ink-soft tabular">
            {run.status === "running" && run.started_at !== null ? <Elapsed since={run.started_at} /> : <Time value={run.created_at} />}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** What stands where nothing runs: that it is so, and how the last run went. */
export function IdleSummary({ last }: { last: ExecutionSummary }) {
  return (
    <p className="flex min-h-11 flex-wrap items-center gap-x-2 px-3 py-1.5 text-ink-soft">
      Nothing is running. Last:
      <Link href={`/runs/${last.id}`} className="inline-flex min-h-6 min-w-0 items-center gap-1.5 text-ink hover:underline">
        <StatusIcon status={last.status} />
        <span className="truncate font-semibold">{last.workflow_name}</span>
      </Link>
      <Time value={last.created_at} className="ml-auto whitespace-nowrap text-12 tabular" />
    </p>
  );
}
