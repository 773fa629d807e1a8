"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import Link from "next/link";
import { formatBytes } from "#components/format.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";

const EVERY_MS = 10 * 60_000;
/** Part of the quota from which on people are told. */
const NEARLY = 0.8;

/** A line above every page while the project holds nearly as much as it may, or more. */
export function StorageNotice() {
  const trpc = useTRPC();
  const { project } = useStudio();
  const { data } = useQuery(
    trpc.projects.storage.queryOptions({ project_id: project.id }, { refetchInterval: EVERY_MS, staleTime: EVERY_MS / 2 }),
  );
  if (!data?.quota || data.used < data.quota * NEARLY) return null;
  const isFull = data.used > data.quota;
  return (
    <div role="status" className="flex gap-2.5 border-waiting/40 border-b bg-waiting-soft px-4 py-1.5 text-13 text-ink">
      <TriangleAlert aria-hidden className="mt-0.75 size-3.5 shrink-0 text-waiting" />
      <p>
        {isFull
          ? `The project holds ${formatBytes(data.used)}, more than its ${formatBytes(data.quota)}: no run starts and no document is taken.`
          : `The project holds ${formatBytes(data.used)} of the ${formatBytes(data.quota)} that it may.`}{" "}
        <Link href="/settings/project" className="underline">
          See what it holds
        </Link>
      </p>
    </div>
  );
}
