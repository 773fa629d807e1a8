"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runResultText } from "#components/runs/run-result-text.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";

const SHOWN = 20;
const PAUSE_MS = 250;

interface ChooseOtherDialogProps {
  executionId: string;
  workflowId: string;
  /** The run that this one repeats. */
  originalId: string | null;
  onClose: () => void;
}

/** Asks which other run of the workflow to compare with: the latest, or what is found among all of them. */
export function ChooseOtherDialog({ executionId, workflowId, originalId, onClose }: ChooseOtherDialogProps) {
  const trpc = useTRPC();
  const [typed, setTyped] = useState("");
  const q = useDebounced(typed.trim(), PAUSE_MS);
  const runs = useQuery(trpc.executions.list.queryOptions({ workflow_id: workflowId, per_page: SHOWN + 1, ...(q && { q }) }));
  const others = runs.data?.items.filter(({ id }) => id !== executionId).slice(0, SHOWN) ?? [];
  const more = (runs.data?.total ?? 0) - 1 - others.length;
  return (
    <Dialog title="Compare with" onClose={onClose}>
      <SearchField label="Search runs" value={typed} onValueChange={setTyped} />
      {runs.error && <LoadFailure query={runs} />}
      <ul className="-mx-2 flex max-h-96 flex-col overflow-y-auto">
        {others.map((run) => (
          <li key={run.id}>
            <Link
              href={`/runs/${run.id}/compare/${executionId}`}
              className="flex min-h-11 items-center gap-3 rounded-md px-2 py-1.5 text-14 hover:bg-hover"
            >
              <StatusBadge status={run.status} className="shrink-0" />
              <span className="flex min-w-0 flex-1 flex-col">
                <span className="truncate">{runResultText(run)}</span>
                <span className="text-12 text-ink-faint">
                  {run.version === null ? "Draft" : `Version ${run.version}`}
                  {run.id === originalId && " · what this one repeats"}
                </span>
              </span>
              <span className="shrink-0 text-12 text-ink-soft">
                <Time value={run.created_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <p role="status" className="text-12 text-ink-faint">
        {runs.isPending
          ? "Loading…"
          : others.length === 0
            ? "No other run is found."
            : more > 0
              ? "Older ones are found by searching."
              : ""}
      </p>
    </Dialog>
  );
}
