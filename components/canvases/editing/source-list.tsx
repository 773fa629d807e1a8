"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CanvasSourceChoice as Source } from "#components/shell/add-to-canvas.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { TableLoading } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import type { CanvasSource } from "#server/features/canvases/schema.ts";

const MANY = 6;

/** The Outputs of the project's workflows, each with the beginning of its latest value; one is chosen by a click. */
export function SourceList({ onChoose }: { onChoose: (source: Source) => void }) {
  const trpc = useTRPC();
  const [search, setSearch] = useState("");
  const wanted = useDebounced(search.trim(), 150);
  const sources = useQuery(trpc.canvases.sources.queryOptions(wanted ? { search: wanted } : {}, { placeholderData: keepPreviousData }));
  const { items = [], has_more = false } = sources.data ?? {};
  const withRuns = items.filter(({ completed_at }) => completed_at !== null);
  const without = items.filter(({ completed_at }) => completed_at === null);
  if (sources.data && items.length === 0 && wanted === "")
    return (
      <EmptyState
        size="panel"
        title="No workflow yet"
        actions={
          <Link href="/workflows" className="text-14 text-thread-text underline">
            Workflows
          </Link>
        }
      >
        Widgets show what the Outputs of workflows give. Make a workflow, run it once, and come back.
      </EmptyState>
    );
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {(items.length > MANY || wanted !== "") && (
        <SearchField label="Search workflows" value={search} onValueChange={setSearch} className="sm:max-w-72" />
      )}
      <TableLoading query={sources} label="Loading workflows" rows={3} />
      {sources.data && items.length === 0 && <p className="py-4 text-14 text-ink-soft">No workflow has “{wanted}” in its name.</p>}
      {withRuns.length > 0 && (
        <ul aria-label="Workflows with results" className="flex flex-col divide-y rounded-lg border bg-surface">
          {withRuns.map((source) => (
            <SourceRow key={source.workflow_id} source={source} onChoose={onChoose} />
          ))}
        </ul>
      )}
      {without.length > 0 && (
        <p className="text-12 text-ink-faint">
          No run of these has completed yet, so there is nothing to show:{" "}
          {without.slice(0, 5).map(({ workflow_id, name }, index) => (
            <span key={workflow_id}>
              {index > 0 && ", "}
              <Link href={`/workflows/${workflow_id}`} className="text-thread-text underline underline-offset-2">
                {name}
              </Link>
            </span>
          ))}
          {without.length > 5 && ` and ${without.length - 5} more`}.
        </p>
      )}
      {has_more && <p className="text-12 text-ink-faint">There are more. Search for the one that you mean.</p>}
    </div>
  );
}

function SourceRow({
  source: { workflow_id, name, completed_at, outputs },
  onChoose,
}: {
  source: CanvasSource;
  onChoose: (source: Source) => void;
}) {
  return (
    <li className="flex min-w-0 flex-col gap-1 p-2">
      <p className="flex min-w-0 items-baseline justify-between gap-3 px-2 pt-1">
        <span className="truncate font-semibold text-14">{name}</span>
        {completed_at && <Time value={completed_at} className="shrink-0 text-12 text-ink-faint" />}
      </p>
      <ul aria-label={`Outputs of ${name}`}>
        {outputs.map(({ label, glimpse }) => (
          <li key={label ?? ""}>
            <button
              type="button"
              onClick={() => onChoose({ workflow_id, output_label: label, name: label ?? name })}
              className="flex min-h-8 w-full min-w-0 items-center gap-3 rounded-md px-2 py-1 text-left hover:bg-hover pointer-coarse:min-h-11"
            >
              <span className="shrink-0 rounded-sm bg-role-output-soft px-1.5 py-0.5 text-12 text-role-output">
                {label ?? "Output of the run"}
              </span>
              <span className="min-w-0 flex-1 truncate font-mono text-12 text-ink-soft">
                {glimpse?.replace(/\s+/g, " ") ?? "nothing in the latest run"}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </li>
  );
}
