"use client";

import { Workflow } from "lucide-react";
import { formatCount, formatDuration } from "#components/format.ts";
import { Cost } from "#components/runs/cost.tsx";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Elapsed, Time } from "#components/ui/time.tsx";
import type { ExecutionSummary } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

export interface RunsTableProps {
  runs: readonly ExecutionSummary[];
  hasWorkflow: boolean;
  /** In the editor: shows a run on the canvas. */
  onShow?: (executionId: string) => void;
}

/** Executions as rows; the whole row leads to the run. */
export function RunsTable({ runs, hasWorkflow, onShow }: RunsTableProps) {
  return (
    <Table label="Runs" className={hasWorkflow ? "md:min-w-230" : "md:min-w-190"}>
      <TableHead>
        <TableHeader>Status</TableHeader>
        <TableHeader className="w-full">{hasWorkflow ? "Workflow" : "Result"}</TableHeader>
        <TableHeader className="max-md:hidden">Version</TableHeader>
        <TableHeader className="max-md:hidden">Trigger</TableHeader>
        <TableHeader className="max-md:hidden">Started by</TableHeader>
        <TableHeader className="text-right max-md:hidden">Tokens</TableHeader>
        <TableHeader className="text-right max-md:hidden">Cost</TableHeader>
        <TableHeader className="text-right max-md:hidden">Duration</TableHeader>
        <TableHeader>When</TableHeader>
        {onShow && (
          <TableHeader>
            <span className="sr-only">Show on canvas</span>
          </TableHeader>
        )}
      </TableHead>
      <TableBody>
        {runs.map((run) => (
          <TableRow key={run.id} className="relative">
            <TableCell>
              <StatusBadge status={run.status} />
            </TableCell>
            <TableCell className="max-w-0">
              <Link href={`/runs/${run.id}`} className="block truncate font-medium after:absolute after:inset-0">
                {hasWorkflow ? run.workflow_name : runResultText(run)}
              </Link>
              {hasWorkflow && (run.error ?? run.output) && (
                <span className={`block truncate text-12 ${run.error === null ? "text-ink-faint" : "text-failed"}`}>
                  {run.error ?? run.output}
                </span>
              )}
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft tabular max-md:hidden">
              {run.version === null ? "Draft" : `v${run.version}`}
            </TableCell>
            <TableCell className="max-md:hidden">
              {run.rerun_of === null ? (
                <TriggerLabel kind={run.trigger} />
              ) : (
                <Link
                  href={`/runs/${run.rerun_of}`}
                  title="The run that this one repeats"
                  className="relative z-1 inline-flex min-h-6 items-center hover:underline"
                >
                  <TriggerLabel kind={run.trigger} />
                  <span className="ml-1 font-mono text-11 text-ink-faint">of {run.rerun_of.slice(-6)}</span>
                </Link>
              )}
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">{run.started_by?.name ?? "—"}</TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-md:hidden">
              {run.input_tokens + run.output_tokens > 0 ? formatCount(run.input_tokens + run.output_tokens) : "—"}
            </TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft max-md:hidden">
              {run.input_tokens + run.output_tokens > 0 || run.cost_is_partial ? (
                <Cost cost={run.cost} isPartial={run.cost_is_partial} isLinked={false} />
              ) : (
                "—"
              )}
            </TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-md:hidden">
              {run.duration_ms !== null ? formatDuration(run.duration_ms) : isFinal(run.status) ? "—" : <Elapsed since={run.created_at} />}
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft">
              <Time value={run.created_at} />
            </TableCell>
            {onShow && (
              <TableCell className="relative z-1 py-0">
                <IconButton label="Show on canvas" icon={<Workflow />} onClick={() => onShow(run.id)} />
              </TableCell>
            )}
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

/** What came of a run, in a row of a list: why it failed, what came out, or that nothing did. What went in is no result. */
export function runResultText({ status, error, output }: Pick<ExecutionSummary, "status" | "error" | "output">): string {
  const told = error || output;
  if (told) return told;
  if (!isFinal(status)) return "No result yet";
  if (status === "completed") return "No text";
  return status === "cancelled" ? "Cancelled" : status === "rejected" ? "Rejected" : "Failed";
}
