"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import type { ExecutorContact } from "#server/events/schema.ts";

/** How long a run may wait to begin before anybody wonders, and how often it is looked again, in milliseconds. */
const PATIENCE_MS = 3000;
const LOOK_AGAIN_MS = 5000;

/** Says why a run does not begin that an Inngest server is to carry. Nothing while it is quick, or where we carry it ourselves. */
export function ExecutorBanner() {
  const trpc = useTRPC();
  const isPending = useRun(({ snapshot }) => snapshot?.status === "pending" || snapshot?.status === "queued");
  const since = useRun(({ snapshot }) => (isPending ? snapshot?.created_at : undefined));
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    setIsLate(false);
    if (since === undefined) return;
    const timer = setTimeout(() => setIsLate(true), Math.max(0, Date.parse(since) + PATIENCE_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [since]);
  const { data } = useQuery(trpc.install.executor.queryOptions({}, { enabled: isLate, refetchInterval: LOOK_AGAIN_MS }));
  if (!isLate || data?.kind !== "inngest") return null;
  const { problem } = data;
  return (
    <div
      role="status"
      className={cn(
        "flex shrink-0 flex-col gap-0.5 border-b px-3 py-1.5 text-14",
        problem === null ? "bg-sunken" : "border-waiting/40 bg-waiting-soft",
      )}
    >
      <p className="flex flex-wrap items-center gap-x-2">
        <StatusIcon status="pending" isDecorative />
        <strong className="font-semibold">Waiting for the Inngest server</strong>
        <span>{problem ?? "It calls when the run's turn has come."}</span>
      </p>
      <ExecutorFacts contact={data} />
    </div>
  );
}

const or = (time: string | null) => (time === null ? "never" : <Time value={time} />);

/** When an Inngest server and this service last heard of each other, and what was refused last, unless that is the problem at hand. */
export function ExecutorFacts({ contact: { problem, event_taken_at, called_at, last_refusal } }: { contact: ExecutorContact }) {
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-12 text-ink-soft [&>div]:flex [&>div]:gap-1">
      <div>
        <dt>Last event taken:</dt>
        <dd>{or(event_taken_at)}</dd>
      </div>
      <div>
        <dt>Last signed call:</dt>
        <dd>{or(called_at)}</dd>
      </div>
      <div>
        <dt>Last refusal:</dt>
        <dd>
          {or(last_refusal?.at ?? null)}
          {last_refusal && last_refusal.detail !== problem && `. ${last_refusal.detail}`}
        </dd>
      </div>
    </dl>
  );
}
