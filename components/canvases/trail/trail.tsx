"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight, ExternalLink, X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Comparison } from "#components/canvases/trail/comparison.tsx";
import type { Opening } from "#components/canvases/widgets/opening.ts";
import { formatDateTime, formatDuration } from "#components/format.ts";
import { ToolCalls } from "#components/runs/agent-answer.tsx";
import { citedIn, eachOnce, SourceList } from "#components/runs/sources.tsx";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { isMissing, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { useFocusReturn } from "#components/ui/dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import { ValueView } from "#components/ui/value-view.tsx";
import type { Widget } from "#server/features/canvases/schema.ts";
import type { ExecutionView } from "#server/runs/schema.ts";
import { labelOf } from "#server/workflow/graph.ts";

interface TrailProps {
  widget: Widget;
  at: Opening;
  onClose: () => void;
}

/**
 * Where a value comes from, beside the canvas and over it on a phone: the run, its Output, and back from there each node that led to
 * it, with what agents were asked and answered and what they looked up. The canvas stays in use: another value takes this one's place.
 */
export function Trail({ widget, at, onClose }: TrailProps) {
  const focusReturn = useFocusReturn();
  return (
    <Radix.Root open modal={false} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Content
          aria-describedby={undefined}
          {...focusReturn}
          onInteractOutside={(event) => event.preventDefault()}
          className="fixed inset-y-0 right-0 z-40 flex w-110 max-w-full animate-appear flex-col border-l border-line-strong bg-raised shadow-lg max-md:w-full print:hidden"
        >
          <header className="flex items-start gap-3 border-b px-4 py-3">
            <div className="min-w-0 flex-1">
              <p className="truncate text-12 text-ink-faint">{widget.title || "Widget"}</p>
              <Radix.Title className="font-semibold text-16 [overflow-wrap:anywhere]">{at.what}</Radix.Title>
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" icon={<X />} hasTooltip={false} />
            </Radix.Close>
          </header>
          <div key={at.execution_id} className="min-h-0 flex-1 overflow-y-auto px-4 py-4">
            <TrailOf widget={widget} at={at} />
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function TrailOf({ widget, at }: Omit<TrailProps, "onClose">) {
  const trpc = useTRPC();
  const [isCompared, setCompared] = useState(false);
  const view = useQuery(trpc.executions.view.queryOptions({ execution_id: at.execution_id }, { retry: false }));
  if (view.isError && isMissing(view.error))
    return (
      <Notice title="This run is not kept any more">
        It completed on {formatDateTime(at.completed_at)}. Runs are deleted after the time that the project keeps them.
      </Notice>
    );
  if (view.error) return <LoadFailure query={view} />;
  if (!view.data) return <Skeleton className="h-64 w-full" />;
  const { execution } = view.data;
  return (
    <div className="flex flex-col gap-5">
      <RunFacts view={view.data} />
      <div className="flex flex-wrap gap-2">
        <Button asChild size="sm" icon={<ExternalLink />}>
          <Link href={`/runs/${execution.id}`}>Open run</Link>
        </Button>
        <Button size="sm" icon={<ArrowLeftRight />} aria-expanded={isCompared} onClick={() => setCompared(!isCompared)}>
          Compare with the one before
        </Button>
      </div>
      {isCompared && <Comparison view={view.data} output_label={widget.output_label} before={at.before} />}
      <Steps view={view.data} output_label={widget.output_label} />
    </div>
  );
}

function RunFacts({ view: { execution } }: { view: ExecutionView }) {
  const { status, workflow_name, version, trigger, started_by, completed_at, duration_ms } = execution;
  return (
    <section aria-label="Run" className="flex flex-col gap-1.5">
      <div className="flex items-center gap-2">
        <StatusBadge status={status} />
        <span className="min-w-0 truncate font-semibold">{workflow_name}</span>
      </div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-ink-soft">
        {completed_at && <Time value={completed_at} />}
        {duration_ms !== null && <span>{formatDuration(duration_ms)}</span>}
        <span>{version === null ? "Draft" : `Version ${version}`}</span>
        <TriggerLabel kind={trigger} />
        <span>{started_by?.name ?? "Automatically"}</span>
      </p>
    </section>
  );
}

type Node = ExecutionView["graph"]["nodes"][number];

/**
 * The nodes that led to an Output, from it back to the trigger: only those that the run came through.
 * @param output_label null: what the whole run gave
 */
export function nodesBehind({ graph, execution }: Pick<ExecutionView, "graph" | "execution">, output_label: string | null): Node[] {
  const output = execution.outputs.find(({ label }) => label === output_label)?.node_id;
  const reached = new Set<string>(output ? [output] : execution.outputs.map(({ node_id }) => node_id));
  const queue = [...reached];
  for (let id = queue.shift(); id !== undefined; id = queue.shift())
    for (const { source, target } of graph.edges)
      if (target === id && !reached.has(source)) {
        reached.add(source);
        queue.push(source);
      }
  const startOf = (node: Node) => execution.node_results[node.id]?.started_at ?? "";
  // Those that began in one millisecond stay as they were reached: from the Output back.
  return [...reached]
    .flatMap((id) => graph.nodes.filter((node) => node.id === id && startOf(node) !== ""))
    .sort((a, b) => (startOf(a) < startOf(b) ? 1 : startOf(a) > startOf(b) ? -1 : 0));
}

function Steps({ view, output_label }: { view: ExecutionView; output_label: string | null }) {
  const nodes = nodesBehind(view, output_label);
  return (
    <ol aria-label="Where it comes from" className="flex flex-col">
      {nodes.map((node, index) => {
        const result = view.execution.node_results[node.id];
        const isAgent = node.type === "agentNode";
        return (
          <li
            key={node.id}
            className="relative flex flex-col gap-1.5 border-line-strong border-l pb-5 pl-5 last:border-transparent last:pb-0"
          >
            <span aria-hidden className="absolute top-1 -left-1.25 size-2.5 rounded-full border-2 border-raised bg-thread" />
            <div className="flex flex-wrap items-baseline gap-x-2">
              <h3 className="font-semibold text-14">
                <Link href={`/runs/${view.execution.id}?node=${encodeURIComponent(node.id)}`} className="hover:underline">
                  {labelOf(node)}
                </Link>
              </h3>
              {result?.completed_at && <Time value={result.completed_at} className="text-12 text-ink-faint" />}
              {result?.reused && <span className="text-12 text-ink-faint">taken from the run before</span>}
            </div>
            {isAgent && <AgentDetails executionId={view.execution.id} nodeId={node.id} />}
            {result?.output != null && !isAgent && (
              <Folded summary="What it gave" isOpen={index === 0}>
                <ValueView value={result.output} what="output" />
              </Folded>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** What an agent was asked and answered, and what it used for that. */
function AgentDetails({ executionId, nodeId }: { executionId: string; nodeId: string }) {
  const trpc = useTRPC();
  const log = useQuery(trpc.executions.logs.queryOptions({ execution_id: executionId, node_id: nodeId }));
  if (log.error) return <LoadFailure query={log} />;
  const item = log.data?.items.at(-1);
  if (!item) return log.isPending ? <Skeleton className="h-16 w-full" /> : null;
  const read = eachOnce(item.tool_calls.flatMap(({ sources = [] }) => sources));
  const cited = citedIn(item.output ?? "", read);
  return (
    <>
      {item.model && <p className="font-mono text-12 text-ink-soft">{item.model}</p>}
      {item.input && (
        <Folded summary="What it was asked">
          <ValueView value={item.input} what="prompt" />
        </Folded>
      )}
      {item.output && (
        <Folded summary="What it answered" isOpen>
          <ValueView value={item.output} what="answer" />
        </Folded>
      )}
      {read.length > 0 && (
        <Folded
          summary={cited.length > 0 ? `What the answer cites (${cited.length})` : `What it read for the answer (${read.length})`}
          isOpen
        >
          <SourceList sources={cited.length > 0 ? cited : read} hasExcerpts />
        </Folded>
      )}
      {item.tool_calls.length > 0 && (
        <Folded summary={`What it looked up and did (${item.tool_calls.length})`} isOpen={read.length === 0}>
          <ToolCalls calls={item.tool_calls} />
        </Folded>
      )}
    </>
  );
}

function Folded({ summary, isOpen = false, children }: { summary: string; isOpen?: boolean; children: ReactNode }) {
  return (
    <details open={isOpen} className="min-w-0">
      <summary className="w-fit cursor-pointer rounded-sm py-0.5 text-12 text-ink-soft hover:text-ink">{summary}</summary>
      <div className="mt-1 max-h-80 min-w-0 overflow-y-auto rounded-md border bg-surface p-3">{children}</div>
    </details>
  );
}
