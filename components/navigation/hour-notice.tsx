"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import Link from "next/link";
import { formatClock } from "#components/format.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";

const EVERY_MS = 60_000;
/** Part of the hour from which on people are told. */
const NEARLY = 0.8;

/** A line above every page while the project's hour is nearly, or wholly, used up. */
export function HourNotice() {
  const trpc = useTRPC();
  const { project, canAdminister } = useStudio();
  const { data } = useQuery(
    trpc.projects.hour.queryOptions({ project_id: project.id }, { refetchInterval: EVERY_MS, staleTime: EVERY_MS / 2 }),
  );
  if (!data?.limit || data.used < data.limit * NEARLY) return null;
  const { used, limit, next_at } = data;
  return (
    <div role="status" className="flex gap-2.5 border-waiting/40 border-b bg-waiting-soft px-4 py-1.5 text-13 text-ink">
      <TriangleAlert aria-hidden className="mt-0.75 size-3.5 shrink-0 text-waiting" />
      <p>
        {used < limit
          ? `${used} of the ${limit} runs that API, webhooks and schedules may start in an hour are used.`
          : `All ${limit} runs that API, webhooks and schedules may start in an hour are used${next_at ? `; the next can start at ${formatClock(next_at)}` : ""}.`}{" "}
        {canAdminister ? (
          <Link href="/settings/project" className="underline">
            Change the limit
          </Link>
        ) : (
          "An admin can change that in the project’s settings."
        )}
      </p>
    </div>
  );
}
