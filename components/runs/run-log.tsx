"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { formatDateTime, formatDuration, formatTokens } from "#components/format.ts";
import { NodeIcon } from "#components/nodes/node-icon.tsx";
import { useRun } from "#components/runs/run-context.tsx";
import { ValueView } from "#components/runs/value-view.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { TableSkeleton } from "#components/ui/table-skeleton.tsx";
import type { NodeLog } from "#server/schemas/execution.ts";

/** Every attempt of every node with all that went in and came out. */
export function RunLog({ executionId, isShown }: { executionId: string; isShown: boolean }) {
  const trpc = useTRPC();
  const logs = useQuery(trpc.executions.logs.queryOptions({ execution_id: executionId }, { enabled: isShown }));
  // Lines are added as nodes move on: what they are now says when to look again.
  const stage = useRun(({ picture }) =>
    Object.values(picture?.nodes ?? {})
      .map((node) => `${node.attempt}${node.status}`)
      .join(),
  );
  const seen = useRef(stage);
  const { refetch } = logs;
  useEffect(() => {
    if (!isShown || seen.current === stage) return;
    seen.current = stage;
    void refetch();
  }, [isShown, stage, refetch]);

  if (logs.isError)
    return (
      <div className="p-4">
        <LoadFailure error={logs.error} onRetry={() => void logs.refetch()} />
      </div>
    );
  if (logs.isPending)
    return (
      <div className="p-4">
        <TableSkeleton label="Loading the log" />
      </div>
    );
  if (logs.data.items.length === 0) return <p className="p-4 text-13 text-ink-soft">Nothing has started yet.</p>;
  return (
    <ol className="flex flex-col gap-3 p-4">
      {logs.data.items.map((log) => (
        <LogEntry key={`${log.node_id} ${log.iteration} ${log.attempt}`} log={log} />
      ))}
    </ol>
  );
}

function LogEntry({ log }: { log: NodeLog }) {
  return (
    <li className="overflow-hidden rounded-lg border bg-surface">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 text-12">
        <NodeIcon type={log.node_type} className="size-5" />
        <h3 className="font-semibold text-13">{log.label}</h3>
        {log.iteration !== null && <span className="text-ink-faint">item {log.iteration}</span>}
        {log.attempt > 1 && <span className="text-ink-faint">try {log.attempt}</span>}
        <StatusBadge status={log.status} />
        <span className="ml-auto flex flex-wrap gap-x-3 text-ink-faint tabular">
          {log.model !== null && <span className="font-mono text-11">{log.model}</span>}
          {log.input_tokens + log.output_tokens > 0 && <span>{formatTokens(log.input_tokens, log.output_tokens)}</span>}
          {log.duration_ms !== null && <span>{formatDuration(log.duration_ms)}</span>}
          {log.started_at !== null && <time dateTime={log.started_at}>{formatDateTime(log.started_at)}</time>}
        </span>
      </div>
      <dl className="grid gap-3 p-3 text-12">
        {log.input !== null && log.input !== "" && <Value name="Input" value={log.input} />}
        {log.tool_calls.length > 0 && <Value name="Tool calls" value={JSON.stringify(log.tool_calls)} />}
        {log.output !== null && <Value name="Output" value={log.output} />}
        {log.error !== null && (
          <div>
            <dt className="mb-1 font-medium text-failed">Error</dt>
            <dd className="whitespace-pre-wrap break-words text-13 text-failed">{log.error}</dd>
          </div>
        )}
      </dl>
    </li>
  );
}

function Value({ name, value }: { name: string; value: string }) {
  return (
    <div className="min-w-0">
      <dt className="mb-1 font-medium text-ink-soft">{name}</dt>
      <dd>
        <ValueView value={value} what={name.toLowerCase()} />
      </dd>
    </div>
  );
}
