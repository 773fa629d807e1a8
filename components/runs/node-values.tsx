"use client";

import { useQuery } from "@tanstack/react-query";
import { Tabs as Radix } from "radix-ui";
import { useEffect, useRef } from "react";
import { formatDuration, formatTokens } from "#components/format.ts";
import { useRun } from "#components/runs/run-context.tsx";
import { cardStatus } from "#components/runs/run-picture.ts";
import { ValueView } from "#components/runs/value-view.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { labelOf } from "#server/engine/graph.ts";

const tabStyle =
  "relative h-8 px-2 font-medium text-12 text-ink-soft after:absolute after:inset-x-2 after:-bottom-px after:h-0.5 after:rounded-full hover:text-ink focus-visible:outline-offset-[-2px] data-[state=active]:text-ink data-[state=active]:after:bg-thread";

/** Output and input of one node in the run on the screen. */
export function NodeValues({ nodeId }: { nodeId: string }) {
  const node = useRun((state) => state.view?.graph.nodes.find((candidate) => candidate.id === nodeId));
  const run = useRun((state) => state.picture?.nodes[nodeId]);
  const status = useRun((state) => (state.picture ? cardStatus(state.picture, nodeId) : "idle"));
  const isStopped = useRun((state) => state.picture?.status === "cancelled");
  const format = typeof node?.data.format === "string" ? node.data.format : "text";
  if (!node || !run) return <p className="p-3 text-12 text-ink-faint">This node was not part of the run.</p>;
  return (
    <Radix.Root defaultValue="output" className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 items-center gap-2 border-b px-2">
        <Radix.List aria-label={`Values of ${labelOf(node)}`} className="flex">
          <Radix.Trigger value="output" className={tabStyle}>
            Output
          </Radix.Trigger>
          <Radix.Trigger value="input" className={tabStyle}>
            Input
          </Radix.Trigger>
        </Radix.List>
        <span className="ml-auto flex min-w-0 items-center gap-2 text-11 text-ink-faint tabular">
          <span className="truncate max-sm:hidden">{labelOf(node)}</span>
          {run.input_tokens + run.output_tokens > 0 && (
            <span className="whitespace-nowrap max-sm:hidden">{formatTokens(run.input_tokens, run.output_tokens)}</span>
          )}
          {run.duration_ms !== null && <span className="whitespace-nowrap">{formatDuration(run.duration_ms)}</span>}
          <StatusBadge status={status} />
        </span>
      </div>
      <Radix.Content value="output" className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Output" tabIndex={0}>
        {run.error !== null && (
          <Notice tone="failed" className="mb-3" title={run.status === "failed" ? "This node failed" : undefined}>
            {run.error}
          </Notice>
        )}
        {run.output !== null ? (
          <ValueView value={run.output} what="output" format={format} />
        ) : run.arriving ? (
          <Arriving text={run.arriving} />
        ) : (
          run.error === null && (
            <p className="text-12 text-ink-faint">
              {isStopped && status === "skipped"
                ? "The run was stopped before this node was done."
                : (WAITING[status] ?? "Nothing came out.")}
            </p>
          )
        )}
      </Radix.Content>
      <Radix.Content value="input" className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Input" tabIndex={0}>
        <NodeInput nodeId={nodeId} attempt={run.attempt} status={status} />
      </Radix.Content>
    </Radix.Root>
  );
}

/** Words as they arrive. The box goes along with them unless its reader has scrolled up. */
function Arriving({ text }: { text: string }) {
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new piece may need a step down
  useEffect(() => {
    const box = end.current?.parentElement?.parentElement;
    if (box && box.scrollHeight - box.scrollTop - box.clientHeight < 80) box.scrollTop = box.scrollHeight;
  }, [text]);
  return (
    <div>
      <ValueView value={text} what="output" isArriving />
      <div ref={end} />
    </div>
  );
}

const WAITING: Record<string, string> = {
  idle: "The run has not come here.",
  queued: "Waits for what comes before it.",
  running: "Working…",
  skipped: "The run went another way.",
  waiting: "Waits for a person.",
};

function NodeInput({ nodeId, attempt, status }: { nodeId: string; attempt: number; status: string }) {
  const trpc = useTRPC();
  const executionId = useRun((state) => state.executionId) ?? "";
  const { data, error, isPending, refetch } = useQuery(
    trpc.executions.logs.queryOptions({ execution_id: executionId }, { enabled: attempt > 0 }),
  );
  // The log has a line more whenever the node has moved on.
  const stage = `${attempt} ${status}`;
  const seen = useRef(stage);
  useEffect(() => {
    if (seen.current === stage) return;
    seen.current = stage;
    void refetch();
  }, [stage, refetch]);
  if (attempt === 0) return <p className="text-12 text-ink-faint">{WAITING[status] ?? "Nothing went in."}</p>;
  if (error) return <LoadFailure error={error} onRetry={() => void refetch()} />;
  if (isPending) return <p className="text-12 text-ink-faint">Loading…</p>;
  const log = data.items.findLast((item) => item.node_id === nodeId);
  return log?.input ? <ValueView value={log.input} what="input" /> : <p className="text-12 text-ink-faint italic">Empty</p>;
}
