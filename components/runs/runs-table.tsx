"use client";

import { formatCost, formatCount, formatDuration } from "#components/format.ts";
import { PRICES_PLACE } from "#components/runs/cost.tsx";
import { excerptOf } from "#components/runs/list/excerpt.ts";
import { runResultText } from "#components/runs/run-result-text.ts";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Link } from "#components/ui/link.tsx";
import { Marked } from "#components/ui/marked.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { selectColumn, Table, TableActionsHeader, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Elapsed, Time } from "#components/ui/time.tsx";
import type { ExecutionSummary } from "#server/runs/schema.ts";
import { hasNeverStarted, isFinal } from "#server/shared/execution-status.ts";

export interface RunsTableProps {
  runs: readonly ExecutionSummary[];
  hasWorkflow: boolean;
  /** In the editor: shows a run on the canvas. */
  onShow?: (executionId: string) => void;
  /** What was looked for, to be marked. */
  finder?: RegExp | null;
  /** Rows can be chosen. */
  selection?: { ids: ReadonlySet<string>; onChange: (ids: ReadonlySet<string>) => void };
}

/** Executions as rows; the whole row leads to the run. */
export function RunsTable({ runs, hasWorkflow, onShow, finder = null, selection }: RunsTableProps) {
  const isUnpriced = runs.some((run) => hasUse(run) && (run.cost === null || run.cost_is_partial));
  return (
    <>
      {isUnpriced && (
        <p className="-mb-3 text-12 text-ink-soft">
          Price unknown for some models, shown as “—” or “+”.{" "}
          <Link href={PRICES_PLACE} className="text-thread-text underline underline-offset-2">
            Set prices
          </Link>
        </p>
      )}
      <RunRows {...{ runs, hasWorkflow, finder }} {...(onShow && { onShow })} {...(selection && { selection })} />
    </>
  );
}

const hasUse = (run: ExecutionSummary): boolean => run.input_tokens + run.output_tokens > 0 || run.cost_is_partial;

/** What a run cost, as far as that is known; why it is not stands once above the table. */
function costText(run: ExecutionSummary): string {
  if (!hasUse(run) || run.cost === null) return "—";
  return run.cost_is_partial ? `${formatCost(run.cost)} +` : formatCost(run.cost);
}

function RunRows({ runs, hasWorkflow, onShow, finder = null, selection }: RunsTableProps) {
  const allChosen = selection !== undefined && runs.length > 0 && runs.every(({ id }) => selection.ids.has(id));
  const choose = (ids: readonly string[], isOn: boolean) => {
    const next = new Set(selection?.ids);
    for (const id of ids) {
      if (isOn) next.add(id);
      else next.delete(id);
    }
    selection?.onChange(next);
  };
  return (
    <Table label="Runs" className={hasWorkflow ? "md:min-w-230" : "md:min-w-190"}>
      <TableHead>
        {selection && (
          <TableHeader className={selectColumn}>
            <Checkbox
              label={<span className="sr-only">Select all on this page</span>}
              checked={allChosen}
              onCheckedChange={(isOn) =>
                choose(
                  runs.map(({ id }) => id),
                  isOn,
                )
              }
            />
          </TableHeader>
        )}
        <TableHeader>Status</TableHeader>
        <TableHeader className="w-full">{hasWorkflow ? "Workflow" : "Result"}</TableHeader>
        <TableHeader className="max-md:hidden">Version</TableHeader>
        <TableHeader className="max-md:hidden">Trigger</TableHeader>
        <TableHeader className="max-md:hidden">Started by</TableHeader>
        <TableHeader className="text-right max-md:hidden">Tokens</TableHeader>
        <TableHeader className="text-right max-md:hidden">Cost</TableHeader>
        <TableHeader className="text-right max-md:hidden">Duration</TableHeader>
        <TableHeader>When</TableHeader>
        {onShow && <TableActionsHeader />}
      </TableHead>
      <TableBody>
        {runs.map((run) => (
          <TableRow key={run.id} className="relative">
            {selection && (
              <TableCell className={selectColumn}>
                <Checkbox
                  label={
                    <span className="sr-only">
                      Choose the run of {run.workflow_name}, {run.id.slice(-6)}
                    </span>
                  }
                  checked={selection.ids.has(run.id)}
                  onCheckedChange={(isOn) => choose([run.id], isOn)}
                />
              </TableCell>
            )}
            <TableCell>
              <StatusBadge status={run.status} />
            </TableCell>
            <TableCell className="max-w-0">
              <Link href={`/runs/${run.id}`} className="block truncate font-semibold after:absolute after:inset-0">
                {hasWorkflow ? run.workflow_name : runResultText(run)}
              </Link>
              {hasWorkflow && <ResultLine run={run} finder={finder} />}
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
                  <span className="ml-1 font-mono text-12 text-ink-faint">of {run.rerun_of.slice(-6)}</span>
                </Link>
              )}
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">{run.started_by?.name ?? "—"}</TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-md:hidden">
              {run.input_tokens + run.output_tokens > 0 ? formatCount(run.input_tokens + run.output_tokens) : "—"}
            </TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-md:hidden">{costText(run)}</TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-md:hidden">
              <RunDuration run={run} />
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft">
              <Time value={run.created_at} />
            </TableCell>
            {onShow && (
              <TableCell className="relative z-1 py-0 text-right">
                <Button size="sm" variant="ghost" onClick={() => onShow(run.id)}>
                  <span>
                    Show<span className="max-md:sr-only"> on canvas</span>
                  </span>
                </Button>
              </TableCell>
            )}
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

function RunDuration({ run }: { run: ExecutionSummary }) {
  if (hasNeverStarted(run)) return "Never started";
  if (run.duration_ms !== null) return formatDuration(run.duration_ms);
  return isFinal(run.status) ? "—" : <Elapsed since={run.created_at} />;
}

/** What came of a run, or where in it stands what was looked for. */
function ResultLine({ run, finder }: { run: ExecutionSummary; finder: RegExp | null }) {
  const found = finder && excerptOf([run.error, run.output, run.input], finder);
  const text = found ?? run.error ?? run.output;
  if (!text) return null;
  const isError = run.error !== null && (!found || excerptOf([run.error], finder) !== null);
  return (
    <span className={`block truncate text-12 ${isError ? "text-failed" : "text-ink-faint"}`}>
      <Marked text={text} finder={found === null ? null : finder} />
    </span>
  );
}
