"use client";

import { useQuery } from "@tanstack/react-query";
import { formatBytes } from "#components/format.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";

const PARTS = [
  ["runs", "Runs, with inputs, outputs and logs"],
  ["documents", "Documents, with their vectors"],
  ["workflows", "Workflows, all versions"],
] as const;

/** How much a project holds, and may hold. */
export function StorageSettings() {
  const trpc = useTRPC();
  const { project } = useStudio();
  const { data, error, isPending, refetch } = useQuery(trpc.projects.storage.queryOptions({ project_id: project.id }));
  return (
    <SettingsSection
      title="Storage"
      description="A project that holds as much as it may starts no run and takes no document. Keep runs for a shorter time, or delete documents. Measured once a minute."
    >
      {error && <LoadFailure error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-24" />}
      {data && (
        <>
          <p className="text-13">
            {data.quota === null
              ? `${formatBytes(data.used)}, without a limit.`
              : `${formatBytes(data.used)} of ${formatBytes(data.quota)} used.`}
          </p>
          {data.quota !== null && (
            <progress
              aria-label="Storage used"
              value={Math.min(data.used, data.quota)}
              max={data.quota}
              className="h-2 w-full max-w-100 appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-thread [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-thread"
            />
          )}
          <dl className="grid max-w-100 grid-cols-[1fr_auto] gap-x-4 gap-y-1 text-13">
            {PARTS.map(([name, label]) => (
              <div key={name} className="contents">
                <dt className="text-ink-soft">{label}</dt>
                <dd className="text-right tabular-nums">{formatBytes(data[name])}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </SettingsSection>
  );
}
