"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { formatReviewer } from "#components/approvals/verdict.tsx";
import { formatDateTime, formatDuration, formatItem, formatTokens } from "#components/format.ts";
import { AgentVersionLink, ToolCalls, TruncatedAnswerNote } from "#components/runs/agent-answer.tsx";
import { Cost } from "#components/runs/cost.tsx";
import { ItemPicker } from "#components/runs/loops/item-picker.tsx";
import { LoopStrip } from "#components/runs/loops/loop-strip.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { childIteration, planOf, shownStatus } from "#components/runs/store/run-snapshot.ts";
import { useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { TableSkeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import { ValueView } from "#components/ui/value-view.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import type { NodeLog } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf } from "#server/workflow/graph.ts";

/** How often the inside of a loop is read again while the run goes on. */
const LIVE_MS = 2000;

/** Every attempt of every node with all that went in and came out; of a loop's body, for one item at a time. */
export function RunLog({ executionId, isShown }: { executionId: string; isShown: boolean }) {
  return (
    <div className="p-4">
      <LogScope executionId={executionId} loopId={null} path="" isShown={isShown} />
    </div>
  );
}

interface LogScopeProps {
  executionId: string;
  /** The loop whose body this is; null for the workflow. */
  loopId: string | null;
  /** Place in the loops; empty for the workflow. */
  path: string;
  isShown: boolean;
}

function LogScope({ executionId, loopId, path, isShown }: LogScopeProps) {
  const trpc = useTRPC();
  const graph = useRun((state) => state.view?.graph);
  const isOver = useRun((state) => (state.snapshot ? isFinal(state.snapshot.status) : true));
  const logs = useQuery(
    trpc.executions.logs.queryOptions(
      { execution_id: executionId, iteration: path },
      { enabled: isShown, refetchInterval: loopId === null || isOver ? false : LIVE_MS },
    ),
  );
  // Lines are added as nodes move on: what they are now says when to look again. In a loop that would be all the time.
  const stage = useRun(({ snapshot, view }) => {
    if (!snapshot || !view) return "";
    const plan = planOf(view.graph);
    const own = Object.entries(snapshot.nodes).filter(([id]) => plan.ownerOf(id) === null);
    return loopId === null ? own.map(([, node]) => `${node.attempt}${node.status}`).join() : snapshot.status;
  });
  const seen = useRef(stage);
  const { refetch } = logs;
  useEffect(() => {
    if (!isShown || seen.current === stage) return;
    seen.current = stage;
    void refetch();
  }, [isShown, stage, refetch]);

  if (logs.isError) return <LoadFailure query={logs} />;
  if (logs.isPending || !graph) return <TableSkeleton label="Loading the log" rows={loopId === null ? 5 : 2} />;
  const plan = planOf(graph);
  // Loops side by side number their items alike; and the row that keeps an item's result says what the last node said.
  const items = logs.data.items.filter(({ node_id }) => plan.ownerOf(node_id) === loopId && node_id !== loopId);
  if (items.length === 0)
    return <p className="text-14 text-ink-soft">{loopId === null ? "Nothing has started yet." : "The loop has not come to this item."}</p>;
  return (
    <ol className="flex flex-col gap-3">
      {items.map((log) => (
        <li key={`${log.node_id} ${log.attempt}`} className="min-w-0 overflow-hidden rounded-lg border bg-surface">
          <LogEntry log={log} isInner={loopId !== null} />
          {definitionOf(log.node_type)?.body && log.status !== "skipped" && (
            <LogOfLoop executionId={executionId} log={log} path={path} isShown={isShown} />
          )}
        </li>
      ))}
    </ol>
  );
}

/** Under a loop's own line: its items, and the lines of the one that is picked, at first the first. */
function LogOfLoop({ executionId, log, path, isShown }: { executionId: string; log: NodeLog; path: string; isShown: boolean }) {
  const picked = useRun((state) => state.picked[log.node_id]) ?? 0;
  const total = useRun((state) => (path === "" ? (state.snapshot?.nodes[log.node_id]?.iterations?.total ?? null) : null));
  return (
    <section aria-label={`Items of ${log.label}`} className="flex flex-col gap-3 border-t bg-paper p-3">
      <LoopStrip loopId={log.node_id} path={path} label={log.label} />
      <ItemPicker loopId={log.node_id} loopLabel={log.label} total={total} latest={0} />
      <LogScope executionId={executionId} loopId={log.node_id} path={childIteration(path, picked)} isShown={isShown} />
    </section>
  );
}

function LogEntry({ log, isInner }: { log: NodeLog; isInner: boolean }) {
  const Heading = isInner ? "h4" : "h3";
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 text-12">
        <NodeIcon type={log.node_type} className="size-5" />
        <Heading className="font-semibold text-14">{log.label}</Heading>
        {log.iteration !== null && <span className="text-ink-faint">{formatItem(log.iteration)}</span>}
        {log.attempt > 1 && <span className="text-ink-faint">try {log.attempt}</span>}
        <StatusBadge status={shownStatus(log.status, log)} />
        <span className="ml-auto flex flex-wrap gap-x-3 text-ink-faint tabular">
          {log.agent_version !== undefined && <LogAgent nodeId={log.node_id} version={log.agent_version} />}
          {log.model !== null && <span className="font-mono text-12">{log.model}</span>}
          {log.input_tokens + log.output_tokens > 0 && <span>{formatTokens(log.input_tokens, log.output_tokens, log.cached_tokens)}</span>}
          {log.model !== null && <Cost cost={log.cost} isShort />}
          {log.duration_ms !== null && <span>{formatDuration(log.duration_ms)}</span>}
          {log.started_at !== null && <time dateTime={log.started_at}>{formatDateTime(log.started_at)}</time>}
        </span>
      </div>
      <dl className="grid gap-3 p-3 text-12">
        {log.input !== null && log.input !== "" && <Value name="Input" value={log.input} />}
        {log.tool_calls.length > 0 && (
          <div className="min-w-0">
            <dt className="mb-1 font-semibold text-ink-soft">Tool calls</dt>
            <dd>
              <ToolCalls calls={log.tool_calls} />
            </dd>
          </div>
        )}
        {log.printed && <Value name="Printed" value={log.printed} />}
        {log.response && <Value name="Answer" value={JSON.stringify(log.response)} />}
        {log.output !== null && <Value name="Output" value={log.output} />}
        {log.via && (
          <div>
            <dt className="mb-1 font-semibold text-ink-soft">Decided</dt>
            <dd className="break-words text-14">
              {formatReviewer({ via: log.via, reviewer: log.reviewer ?? null, role: log.role ?? null })}
              {log.decided_at && (
                <>
                  , <Time value={log.decided_at} />
                </>
              )}
            </dd>
          </div>
        )}
        {log.truncated && (
          <div>
            <dt className="sr-only">Note</dt>
            <dd className="text-ink-soft">The log is large, so only the beginning is shown. The node in the graph shows all.</dd>
          </div>
        )}
        {log.answer_truncated && (
          <div>
            <dt className="sr-only">Note</dt>
            <dd>
              <TruncatedAnswerNote />
            </dd>
          </div>
        )}
        {log.error !== null && (
          <div>
            <dt className="mb-1 font-semibold text-failed">Error</dt>
            <dd className="whitespace-pre-wrap break-words text-14 text-failed">{log.error}</dd>
          </div>
        )}
      </dl>
    </>
  );
}

/** The agent that a line of the log asked, by the graph of the run. */
function LogAgent({ nodeId, version }: { nodeId: string; version: number }) {
  const agentId = useRun((state) => state.view?.graph.nodes.find(({ id }) => id === nodeId)?.data.agent_id);
  return typeof agentId === "string" && <AgentVersionLink agentId={agentId} version={version} />;
}

function Value({ name, value }: { name: string; value: string }) {
  return (
    <div className="min-w-0">
      <dt className="mb-1 font-semibold text-ink-soft">{name}</dt>
      <dd>
        <ValueView value={value} what={name.toLowerCase()} />
      </dd>
    </div>
  );
}
