import Link from "next/link";
import { formatCount, formatDuration, formatTokens } from "#components/format.ts";
import { Badge } from "#components/ui/badge.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { TableCell, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { TriggerLabel } from "#components/workflows/trigger-label.tsx";
import type { ExecutionSummary } from "#server/schemas/execution.ts";

/** One execution in the list of runs. The whole row leads to it. */
export function RunRow({ run }: { run: ExecutionSummary }) {
  return (
    <TableRow className="relative">
      <TableCell className="max-w-0 py-1.5">
        <Link href={`/runs/${run.id}`} className="block truncate font-medium after:absolute after:inset-0">
          {run.workflow_name}
        </Link>
        <span className={`block truncate text-12 ${run.error ? "text-failed" : "text-ink-faint"}`}>{run.error ?? run.input}</span>
      </TableCell>
      <TableCell>
        <StatusBadge status={run.status} />
      </TableCell>
      <TableCell className="max-md:hidden">
        <TriggerLabel kind={run.trigger} />
      </TableCell>
      <TableCell className="max-md:hidden">
        <Badge>{run.version === null ? "draft" : `v${run.version}`}</Badge>
      </TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">{run.started_by?.name ?? "—"}</TableCell>
      <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-md:hidden">
        <span title={formatTokens(run.input_tokens, run.output_tokens)}>{formatCount(run.input_tokens + run.output_tokens)}</span>
      </TableCell>
      <TableCell className="whitespace-nowrap text-right text-ink-soft tabular">
        {run.duration_ms === null ? "—" : formatDuration(run.duration_ms)}
      </TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
        <Time value={run.created_at} />
      </TableCell>
    </TableRow>
  );
}
