"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ExecutorFacts } from "#components/runs/executor-facts.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon } from "#components/ui/status.tsx";

/** How long a run may wait to begin before anybody wonders, and how often it is looked again, in milliseconds. */
const PATIENCE_MS = 3000;
const LOOK_AGAIN_MS = 5000;

/** Says why a run does not begin that an Inngest server is to carry. Nothing while it is quick, or where we carry it ourselves. */
export function ExecutorBanner() {
  const trpc = useTRPC();
  const isPending = useRun(({ picture }) => picture?.status === "pending" || picture?.status === "queued");
  const since = useRun(({ picture }) => (isPending ? picture?.created_at : undefined));
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    setIsLate(false);
    if (since === undefined) return;
    const timer = setTimeout(() => setIsLate(true), Math.max(0, Date.parse(since) + PATIENCE_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [since]);
  const { data } = useQuery(trpc.executor.contact.queryOptions({}, { enabled: isLate, refetchInterval: LOOK_AGAIN_MS }));
  if (!isLate || data?.kind !== "inngest") return null;
  const { problem } = data;
  return (
    <div
      role="status"
      className={cn(
        "flex shrink-0 flex-col gap-0.5 border-b px-3 py-1.5 text-13",
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
