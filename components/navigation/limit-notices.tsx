"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { formatBytes, formatClock } from "#components/format.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Link } from "#components/ui/link.tsx";

const HOUR_EVERY_MS = 60_000;
const STORAGE_EVERY_MS = 10 * 60_000;
/** Part of a limit from which on people are told. */
const NEARLY = 0.8;

/** Lines above every page while the project's hour, or what it may hold, is nearly or wholly used up. */
export function LimitNotices() {
  const trpc = useTRPC();
  const { project, canAdminister } = useStudio();
  const of = { project_id: project.id };
  const often = (ms: number) => ({ refetchInterval: ms, staleTime: ms / 2 });
  const { data: hour } = useQuery(trpc.projects.hour.queryOptions(of, often(HOUR_EVERY_MS)));
  const { data: storage } = useQuery(trpc.projects.storage.queryOptions(of, often(STORAGE_EVERY_MS)));
  return (
    <>
      {hour?.limit && hour.used >= hour.limit * NEARLY ? (
        <Line>
          {hour.used < hour.limit
            ? `${hour.used} of the ${hour.limit} runs that API, webhooks and schedules may start in an hour are used.`
            : `All ${hour.limit} runs that API, webhooks and schedules may start in an hour are used${hour.next_at ? `; the next can start at ${formatClock(hour.next_at)}` : ""}.`}{" "}
          {canAdminister ? (
            <Link href="/settings/limits" className="underline">
              Change the limit
            </Link>
          ) : (
            "An admin can change that in the project’s settings."
          )}
        </Line>
      ) : null}
      {storage?.quota && storage.used >= storage.quota * NEARLY ? (
        <Line>
          {storage.used > storage.quota
            ? `The project holds ${formatBytes(storage.used)}, more than its ${formatBytes(storage.quota)}: no run starts and no document is taken.`
            : `The project holds ${formatBytes(storage.used)} of the ${formatBytes(storage.quota)} that it may.`}{" "}
          <Link href="/settings/limits" className="underline">
            See what it holds
          </Link>
        </Line>
      ) : null}
    </>
  );
}

function Line({ children }: { children: ReactNode }) {
  return (
    <div role="status" className="flex gap-2.5 border-waiting/40 border-b bg-waiting-soft px-4 py-1.5 text-14 text-ink">
      <TriangleAlert aria-hidden className="mt-0.75 size-3.5 shrink-0 text-waiting" />
      <p>{children}</p>
    </div>
  );
}
