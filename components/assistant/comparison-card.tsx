"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowUpRight, Check, Scale } from "lucide-react";
import { useProposalDecision } from "#components/assistant/proposal-card.tsx";
import { Card } from "#components/assistant/request-cards.tsx";
import { formatDuration } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { Cost } from "#components/runs/cost.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import type { ExecutionView } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

/** How often a run that has not ended is looked at, in milliseconds. */
const WATCH_MS = 2000;
/** Longest beginning of an output that is shown. */
const SHOWN = 280;

/**
 * A run and what came of it after a repair, side by side.
 * @param proposalId the change that the second run was made with; null when there was none
 */
export function ComparisonCard({ before, after, proposalId }: { before: string; after: string; proposalId: string | null }) {
  const trpc = useTRPC();
  const { canEdit } = useStudio();
  const proposal = useQuery(
    trpc.assistant.getProposal.queryOptions(
      { proposal_id: proposalId ?? "" },
      { enabled: proposalId !== null, refetchOnWindowFocus: false },
    ),
  ).data;
  const [first, second] = [useExecution(before), useExecution(after)];
  const hasHelped = first.data?.execution.status !== "completed" && second.data?.execution.status === "completed";
  return (
    <Card label="Before and after">
      <div className="flex items-center gap-2.5">
        <Scale aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <h4 className="font-semibold text-14 text-ink">Before and after</h4>
      </div>
      <div className="grid grid-cols-2 gap-2">
        <Side title="Before" query={first} />
        <Side title="After" query={second} />
      </div>
      {hasHelped && canEdit && proposal?.status === "open" && <KeepButton proposal={proposal} />}
    </Card>
  );
}

function KeepButton({ proposal }: { proposal: Parameters<typeof useProposalDecision>[0] }) {
  const { decision } = useProposalDecision(proposal);
  return (
    <>
      <FormFailure failure={decision.error ? errorBodyOf(decision.error) : null} />
      <Button
        variant="primary"
        icon={<Check />}
        disabled={decision.isPending || decision.isSuccess}
        className="self-start"
        onClick={() => decision.mutate("accept")}
      >
        Keep the repair
      </Button>
    </>
  );
}

/** The run with the graph that ran, which names its nodes. */
function useExecution(execution_id: string) {
  const client = useTRPCClient();
  return useQuery({
    // Not that of the run's page, which follows what it has read once.
    queryKey: ["assistant-run", execution_id],
    queryFn: () => client.executions.view.query({ execution_id }),
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) => (state.data && !isFinal(state.data.execution.status) ? WATCH_MS : false),
  });
}

function Side({ title, query }: { title: string; query: ReturnType<typeof useExecution> }) {
  const { data } = query;
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2 rounded-md border bg-surface p-2.5 text-12">
      <h5 className="font-semibold text-12 text-ink-faint">{title}</h5>
      {query.isError && <LoadFailure query={query} />}
      {query.isPending && <Skeleton className="h-20" />}
      {data && <Facts {...data} />}
    </section>
  );
}

function Facts({ execution, graph }: ExecutionView) {
  const { id, status, duration_ms, cost, cost_is_partial, output, error } = execution;
  const failed = graph.nodes.find((node) => execution.node_results[node.id]?.status === "failed");
  const said = status === "completed" ? output : ((failed && execution.node_results[failed.id]?.error) ?? error);
  return (
    <>
      <StatusBadge status={status} className="self-start" />
      {failed && status === "failed" && <p className="break-words font-semibold">{labelOf(failed.data, failed.type)}</p>}
      {said && (
        <p className={cn("line-clamp-6 break-words", status === "completed" ? "text-ink" : "text-failed")}>{said.slice(0, SHOWN)}</p>
      )}
      <p className="mt-auto text-ink-soft tabular">
        {duration_ms !== null && <>{formatDuration(duration_ms)} · </>}
        <Cost cost={cost} isPartial={cost_is_partial} isLinked={false} />
      </p>
      <Link
        href={`/runs/${id}`}
        className="inline-flex min-h-6 items-center gap-0.5 self-start font-semibold text-thread-text hover:underline"
      >
        Run
        <ArrowUpRight aria-hidden className="size-3" />
      </Link>
    </>
  );
}
