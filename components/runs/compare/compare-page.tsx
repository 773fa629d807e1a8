"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight, GitFork } from "lucide-react";
import { useState } from "react";
import { formatCost, formatDuration, formatTokens, plural } from "#components/format.ts";
import { NodeRow } from "#components/runs/compare/compared-node.tsx";
import { SideTexts } from "#components/runs/compare/side-texts.tsx";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { BackLink } from "#components/shell/back-link.tsx";
import { FullPageLoading } from "#components/shell/full-page-loading.tsx";
import { Page, useTitle } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { thumbRoom } from "#components/ui/styles.ts";
import { Elapsed, Time } from "#components/ui/time.tsx";
import { AgentNamesProvider } from "#components/workflow-editor/nodes/project-lookups.tsx";
import type { Comparison } from "#server/features/executions/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

/** How often both are read again while one of them goes on, in milliseconds. */
const LIVE_MS = 1000;

type Summary = Comparison["totals"]["a"];

const isOver = ({ totals: { a, b } }: Comparison) => isFinal(a.status) && isFinal(b.status);

/** Two runs side by side: what went in and came out, what was changed between them, time and cost. */
export function ComparePage({ executionId, otherId }: { executionId: string; otherId: string }) {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.executions.compare.queryOptions(
      { execution_id: executionId, other_id: otherId },
      { refetchInterval: ({ state }) => (state.data && !isOver(state.data) ? LIVE_MS : false) },
    ),
  );
  useTitle(query.data && `Compare runs of ${query.data.totals.b.workflow_name}`);
  if (query.error || !query.data)
    return (
      <FullPageLoading query={query} back={{ href: `/runs/${executionId}`, label: "The run" }} missing={{ what: "run", href: "/runs" }}>
        Comparing the runs…
      </FullPageLoading>
    );
  return (
    <AgentNamesProvider>
      <Compared comparison={query.data} />
    </AgentNamesProvider>
  );
}

/** What tells one from the other: versions where those differ, else which came first. */
function titlesOf({ a, b }: Comparison["totals"]): { a: string; b: string } {
  if (b.rerun_of === a.id) return { a: "Original", b: b.trigger === "fork" ? "Fork" : "Rerun" };
  if (a.version !== null && b.version !== null && a.version !== b.version) return { a: `Version ${a.version}`, b: `Version ${b.version}` };
  return { a: "Run A", b: "Run B" };
}

function Compared({ comparison }: { comparison: Comparison }) {
  const { canEdit } = useStudio();
  const { nodes, edges_changed, totals } = comparison;
  const { a, b } = totals;
  const titles = titlesOf(totals);
  const differing = nodes.filter(({ same, changed, a, b }) => !same || changed.length > 0 || !a || !b);
  const [isAll, setIsAll] = useState(false);
  const shown = isAll ? nodes : differing;
  return (
    <Page width="wide">
      <PageHeader
        back={<BackLink href={`/runs/${b.id}`}>{titles.b}</BackLink>}
        title="Compare runs"
        description={a.workflow_id === b.workflow_id ? b.workflow_name : `${a.workflow_name} and ${b.workflow_name}`}
        actions={
          <>
            <Button asChild icon={<ArrowLeftRight />}>
              <Link href={`/runs/${b.id}/compare/${a.id}`}>Swap sides</Link>
            </Button>
            {canEdit && isFinal(b.status) && (
              <Button asChild icon={<GitFork />}>
                <Link href={`/runs/${b.id}/fork`}>Fork {titles.b === "Fork" ? "again" : titles.b}</Link>
              </Button>
            )}
          </>
        }
      />
      <div className="grid gap-3 md:grid-cols-2">
        <SummaryCard title={titles.a} run={a} />
        <SummaryCard title={titles.b} run={b} other={a} />
      </div>
      <section aria-label="Input" className="flex flex-col gap-2">
        <h2 className="font-semibold text-16">Input</h2>
        <SideTexts titles={titles} a={a.input} b={b.input} />
      </section>
      <section aria-label="Nodes" className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h2 className="font-semibold text-16">
            {differing.length === 0
              ? "Every node came to the same"
              : `${plural(differing.length, "node")} of ${nodes.length} differ${differing.length === 1 ? "s" : ""}`}
            {edges_changed > 0 && (
              <span className="font-normal text-14 text-ink-soft"> · {plural(edges_changed, "connection")} changed</span>
            )}
          </h2>
          <Checkbox label="All nodes" checked={isAll} onCheckedChange={setIsAll} />
        </div>
        <ul className="flex flex-col gap-2">
          {shown.map((node) => (
            <NodeRow
              key={node.node_id}
              node={node}
              titles={titles}
              ids={{ a: a.id, b: b.id }}
              isOpen={!node.same || node.changed.length > 0}
            />
          ))}
        </ul>
      </section>
    </Page>
  );
}

/** "+1.2 s" or "−40 %" against the other; nothing where that is the same. */
function difference(value: number | null, other: number | null | undefined, format: (amount: number) => string): string {
  if (value === null || other === null || other === undefined || value === other) return "";
  return ` (${value > other ? "+" : "−"}${format(Math.abs(value - other))})`;
}

function SummaryCard({ title, run, other }: { title: string; run: Summary; other?: Summary }) {
  const tokens = run.input_tokens + run.output_tokens;
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2 rounded-lg border bg-surface p-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="font-semibold text-16">
          <Link href={`/runs/${run.id}`} className={cn("inline-flex min-h-6 items-center text-thread-text hover:underline", thumbRoom)}>
            {title}
          </Link>
        </h2>
        <StatusBadge status={run.status} />
        <span className="ml-auto text-12 text-ink-soft">
          <Time value={run.created_at} />
        </span>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-14 [&_dt]:text-ink-soft">
        <dt>Version</dt>
        <dd>{run.version === null ? (run.trigger === "fork" ? "Changed for this run" : "Draft") : `Version ${run.version}`}</dd>
        <dt>Trigger</dt>
        <dd>
          <TriggerLabel kind={run.trigger} />
        </dd>
        <dt>Duration</dt>
        <dd className="tabular">
          {run.duration_ms === null ? (
            <Elapsed since={run.created_at} />
          ) : (
            `${formatDuration(run.duration_ms)}${difference(run.duration_ms, other?.duration_ms, formatDuration)}`
          )}
        </dd>
        <dt>Tokens</dt>
        <dd className="tabular">{tokens > 0 ? formatTokens(run.input_tokens, run.output_tokens) : "None"}</dd>
        <dt>Cost</dt>
        <dd className="tabular">
          {run.cost === null
            ? "Price unknown"
            : `${formatCost(run.cost)}${run.cost_is_partial ? " and more" : difference(run.cost, other?.cost, formatCost)}`}
        </dd>
        {run.error !== null && (
          <>
            <dt>Error</dt>
            <dd className="break-words text-failed">{run.error}</dd>
          </>
        )}
      </dl>
    </section>
  );
}
