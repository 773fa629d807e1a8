"use client";

import { useQuery } from "@tanstack/react-query";
import { formatCost, formatDateTime, formatDuration } from "#components/format.ts";
import { useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { Execution, ExecutionLogs, ExecutionView } from "#server/runs/schema.ts";

interface ComparisonProps {
  view: ExecutionView;
  output_label: string | null;
  /** The run before, where the widget knows it; else it is looked for among the newest. */
  before: string | undefined;
}

/** Runs among which the one before is looked for. */
const LOOKED_AT = 200;

/** A run beside the one before it: what differs is marked. */
export function Comparison({ view: { execution, graph }, output_label, before }: ComparisonProps) {
  const trpc = useTRPC();
  const list = useQuery(
    trpc.executions.list.queryOptions(
      { workflow_id: execution.workflow_id, status: "completed", per_page: LOOKED_AT },
      { enabled: before === undefined },
    ),
  );
  const earlier = list.data?.items.find((one) => (one.completed_at ?? "") < (execution.completed_at ?? ""))?.id;
  const id = before ?? earlier;
  const other = useQuery(trpc.executions.get.queryOptions({ execution_id: id ?? "" }, { enabled: id !== undefined, retry: false }));
  const agent = graph.nodes.find(({ type, id: node }) => type === "agentNode" && execution.node_results[node]?.started_at)?.id;
  const logOf = (execution_id: string | undefined) =>
    trpc.executions.logs.queryOptions(
      { execution_id: execution_id ?? "", ...(agent && { node_id: agent }) },
      { enabled: agent !== undefined && execution_id !== undefined },
    );
  const [mine, theirs] = [useQuery(logOf(execution.id)), useQuery(logOf(id))];
  if (list.error) return <LoadFailure query={list} />;
  if (other.error) return <p className="text-14 text-ink-soft">The run before is not kept any more.</p>;
  if (list.data && id === undefined) return <p className="text-14 text-ink-soft">No earlier run has completed.</p>;
  if (!other.data) return <Skeleton className="h-40 w-full" />;
  const rows = differences(other.data, execution, output_label, [modelOf(theirs.data), modelOf(mine.data)]);
  return (
    <table aria-label="Compared with the run before" className="w-full table-fixed border-collapse text-12">
      <thead className="text-left text-ink-faint">
        <tr>
          <th className="w-16 py-1 font-semibold">
            <span className="sr-only">What</span>
          </th>
          <th className="py-1 pr-2 font-semibold">
            <Link href={`/runs/${other.data.id}`} className="text-thread-text hover:underline">
              Before
            </Link>
          </th>
          <th className="py-1 font-semibold">This one</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ what, before: left, after }) => (
          <tr key={what} className={cn("border-t align-top", left !== after && "bg-waiting-soft")}>
            <th scope="row" className="py-1.5 pr-1 pl-1 text-left font-semibold text-ink-soft">
              {what}
              {left !== after && <span className="sr-only"> (changed)</span>}
            </th>
            <td className="py-1.5 pr-2">
              <Cell text={left} />
            </td>
            <td className="py-1.5 pr-1">
              <Cell text={after} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Cell = ({ text }: { text: string }) => (
  <span className="line-clamp-6 whitespace-pre-wrap [overflow-wrap:anywhere]">{text || "–"}</span>
);

const modelOf = (logs: ExecutionLogs | undefined): string => logs?.items.find(({ model }) => model !== null)?.model ?? "";

/** What one may want to know of two runs, each in words. */
export function differences(
  before: Execution,
  after: Execution,
  output_label: string | null,
  [modelBefore, modelAfter]: readonly [string, string],
): { what: string; before: string; after: string }[] {
  const given = ({ outputs, output }: Execution) =>
    (output_label === null ? output : outputs.find(({ label }) => label === output_label)?.value) ?? "";
  const facts = (execution: Execution, model: string) => ({
    When: execution.completed_at ? formatDateTime(execution.completed_at) : "",
    Version: execution.version === null ? "Draft" : `Version ${execution.version}`,
    ...((modelBefore || modelAfter) && { Model: model }),
    Input: execution.input,
    Output: given(execution),
    Time: execution.duration_ms === null ? "" : formatDuration(execution.duration_ms),
    ...(((before.cost ?? 0) > 0 || (after.cost ?? 0) > 0) && { Cost: execution.cost === null ? "Unknown" : formatCost(execution.cost) }),
  });
  const [left, right] = [facts(before, modelBefore), facts(after, modelAfter)];
  return Object.entries(right).map(([what, text]) => ({ what, before: String(left[what as keyof typeof left] ?? ""), after: text }));
}
