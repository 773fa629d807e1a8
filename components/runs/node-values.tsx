"use client";

import { useQuery } from "@tanstack/react-query";
import { Tabs as Radix } from "radix-ui";
import { Fragment, type ReactNode, useEffect, useRef, useState } from "react";
import { formatDuration, formatTokens } from "#components/format.ts";
import { AgentVersionLink, ToolCalls, TruncatedAnswerNote } from "#components/runs/agent-answer.tsx";
import { Cost } from "#components/runs/cost.tsx";
import { NodeValuesBar, useNodeIteration } from "#components/runs/node-values-bar.tsx";
import { NodeReviews } from "#components/runs/run-reviews.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { cardStatus, mayAsk, shownStatus } from "#components/runs/store/run-snapshot.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { ValueView } from "#components/ui/value-view.tsx";
import { waitingText } from "#components/workflow-editor/nodes/node-registry.ts";
import type { NodeStatus } from "#server/runs/status-schema.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";

const tabStyle =
  "relative h-8 whitespace-nowrap px-2 pointer-coarse:h-11 font-semibold text-14 text-ink-soft after:absolute after:inset-x-2 after:-bottom-px after:h-0.5 after:rounded-full hover:text-ink focus-visible:outline-offset-[-2px] data-[state=active]:text-ink data-[state=active]:after:bg-thread";

/** Output and input of one node in the run on the screen; of a node inside a loop, for the item that is looked at. */
export function NodeValues({ nodeId }: { nodeId: string }) {
  const node = useRun((state) => state.view?.graph.nodes.find((candidate) => candidate.id === nodeId));
  const run = useRun((state) => state.snapshot?.nodes[nodeId]);
  const status = useRun((state) => (state.snapshot ? cardStatus(state.snapshot, nodeId) : "idle"));
  const { path } = useNodeIteration(nodeId);
  // Tool calls, the headers of an answer and what code printed are in its log only.
  const hasDetails = definitionOf(node?.type ?? "")?.isEffect === true && (run?.attempt ?? 0) > 0;
  const log = useNodeLog(nodeId, path ?? run?.iteration ?? "", path !== null || hasDetails);
  const calls = log.item?.tool_calls ?? [];
  const { response, printed } = log.item ?? {};
  const [tab, setTab] = useState("output");
  if (!node || !run) return <p className="p-3 text-12 text-ink-faint">This node was not part of the run.</p>;
  const shown = path === null ? run : log.item;
  const told = path === null ? status : (log.item?.status ?? "idle");
  return (
    <Radix.Root
      value={{ output: true, input: true, tools: calls.length > 0, headers: response, printed }[tab] ? tab : "output"}
      onValueChange={setTab}
      className="@container flex h-full min-h-0 flex-col"
    >
      <div className="flex shrink-0 flex-wrap items-center gap-x-2 border-b px-2">
        <Radix.List aria-label={`Values of ${labelOf(node)}`} className="flex">
          <Radix.Trigger value="output" className={tabStyle}>
            Output
          </Radix.Trigger>
          <Radix.Trigger value="input" className={tabStyle}>
            Input
          </Radix.Trigger>
          {calls.length > 0 && (
            <Radix.Trigger value="tools" className={tabStyle}>
              Tool calls <span className="font-normal text-ink-faint tabular">{calls.length}</span>
            </Radix.Trigger>
          )}
          {response && (
            <Radix.Trigger value="headers" className={tabStyle}>
              Headers
            </Radix.Trigger>
          )}
          {printed && (
            <Radix.Trigger value="printed" className={tabStyle}>
              Printed
            </Radix.Trigger>
          )}
        </Radix.List>
        <span className="ml-auto flex min-h-8 min-w-0 items-center gap-2 text-12 text-ink-faint tabular">
          <span className="hidden truncate @2xl:inline">{labelOf(node)}</span>
          {log.item?.agent_version !== undefined && typeof node.data.agent_id === "string" && (
            <AgentVersionLink agentId={node.data.agent_id} version={log.item.agent_version} className="truncate max-sm:hidden" />
          )}
          {response && <span className="whitespace-nowrap">HTTP {response.status}</span>}
          {shown && shown.input_tokens + shown.output_tokens > 0 && (
            <span className="whitespace-nowrap max-sm:hidden">{formatTokens(shown.input_tokens, shown.output_tokens)}</span>
          )}
          {shown && (shown.input_tokens + shown.output_tokens > 0 || shown.cost === null) && (
            <Cost cost={shown.cost} className="max-sm:hidden" />
          )}
          {shown && shown.duration_ms !== null && told !== "waiting" && (
            <span className="whitespace-nowrap">{formatDuration(shown.duration_ms)}</span>
          )}
          <StatusBadge status={shownStatus(told, shown)} />
        </span>
      </div>
      <NodeValuesBar
        nodeId={nodeId}
        isReused={path === null && run.reused && !run.pinned}
        childId={path === null ? run.child_execution_id : log.item?.child_execution_id}
        output={told === "complete" && (path !== null || run.whole_length === null) ? (shown?.output ?? null) : null}
      />
      <Radix.Content value="output" className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Output" tabIndex={0}>
        {mayAsk(node.type) && <NodeReviews nodeId={nodeId} iteration={path} />}
        {path === null ? (
          <LatestOutput nodeId={nodeId} />
        ) : log.error ? (
          <LoadFailure query={log} />
        ) : log.isPending ? (
          <p className="text-12 text-ink-faint">Loading…</p>
        ) : log.item ? (
          <OutputOrError
            status={log.item.status}
            isCut={log.item.answer_truncated === true}
            error={log.item.error}
            output={
              log.item.output === null || log.item.error !== null ? null : (
                <ValueView key={path} value={log.item.output} what="output" format={formatOf(node.data)} />
              )
            }
            otherwise={log.item.stopped ? STOPPED : (WAITING[log.item.status] ?? "Nothing came out.")}
          />
        ) : (
          <p className="text-12 text-ink-faint">For this item the run has not come here.</p>
        )}
      </Radix.Content>
      <Radix.Content value="input" className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Input" tabIndex={0}>
        <NodeInput nodeId={nodeId} iteration={path ?? run.iteration} attempt={run.attempt} status={status} />
      </Radix.Content>
      {calls.length > 0 && (
        <Radix.Content value="tools" className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Tool calls" tabIndex={0}>
          <ToolCalls calls={calls} />
        </Radix.Content>
      )}
      {response && (
        <Radix.Content value="headers" className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Headers" tabIndex={0}>
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 font-mono text-12">
            {Object.entries(response.headers).map(([name, value]) => (
              <Fragment key={name}>
                <dt className="text-ink-soft">{name}</dt>
                <dd className="break-all">{value}</dd>
              </Fragment>
            ))}
          </dl>
        </Radix.Content>
      )}
      {printed && (
        <Radix.Content value="printed" className="min-h-0 flex-1 overflow-y-auto p-3" aria-label="Printed" tabIndex={0}>
          <ValueView value={printed} what="printed text" />
        </Radix.Content>
      )}
    </Radix.Root>
  );
}

const formatOf = (data: Record<string, unknown>) => (typeof data.format === "string" ? data.format : "text");

interface OutputOrErrorProps {
  status: NodeStatus;
  /** An agent's answer ended at the limit of its length. */
  isCut: boolean;
  error: string | null;
  output: ReactNode;
  otherwise: string;
}

function OutputOrError({ status, isCut, error, output, otherwise }: OutputOrErrorProps) {
  return (
    <>
      {error !== null && (
        <Notice tone="failed" className="mb-3" title={status === "failed" ? "This node failed" : undefined}>
          {error}
        </Notice>
      )}
      {isCut && <TruncatedAnswerNote className="mb-3" />}
      {output ?? (error === null && <p className="text-12 text-ink-faint">{otherwise}</p>)}
    </>
  );
}

/** What came out last, as the stream tells it. */
function LatestOutput({ nodeId }: { nodeId: string }) {
  const client = useTRPCClient();
  const executionId = useRun((state) => state.executionId) ?? "";
  const { type, data } = useRun((state) => state.view?.graph.nodes.find((node) => node.id === nodeId)) ?? {};
  const run = useRun((state) => state.snapshot?.nodes[nodeId]);
  const status = useRun((state) => (state.snapshot ? cardStatus(state.snapshot, nodeId) : "idle"));
  const isStopped = useRun((state) => state.snapshot?.status === "cancelled");
  if (!run) return null;
  // What a person is asked stands above.
  if (status === "waiting") return mayAsk(type) ? null : <OpenWait nodeId={nodeId} text={waitingText(type, data ?? {}, run.waits_until)} />;
  const { iteration, whole_length } = run;
  const load = async () =>
    (await client.executions.nodeOutput.query({ execution_id: executionId, node_id: nodeId, iteration })).output ?? "";
  const whole = whole_length === null ? null : { length: whole_length, load };
  return (
    <OutputOrError
      status={run.status}
      isCut={run.answer_truncated === true}
      error={run.error}
      output={
        run.output !== null ? (
          <ValueView key={iteration} value={run.output} what="output" format={formatOf(data ?? {})} whole={whole} />
        ) : run.arriving ? (
          <Arriving text={run.arriving} />
        ) : null
      }
      otherwise={
        status === "skipped" && run.reused
          ? "This run went only as far as another node."
          : run.stopped || (isStopped && status === "skipped")
            ? STOPPED
            : (WAITING[status] ?? "Nothing came out.")
      }
    />
  );
}

/** What a node waits for, and of one that waits for a call, where that may come. */
function OpenWait({ nodeId, text }: { nodeId: string; text: string }) {
  const executionId = useRun((state) => state.executionId) ?? "";
  const { iteration, attempt } = useRun((state) => state.snapshot?.nodes[nodeId]) ?? {};
  const trpc = useTRPC();
  const { data, refetch } = useQuery(trpc.executions.get.queryOptions({ execution_id: executionId }));
  // The next item of a loop waits at another address.
  const place = `${iteration} ${attempt}`;
  const seen = useRef(place);
  useEffect(() => {
    if (seen.current === place) return;
    seen.current = place;
    void refetch();
  }, [place, refetch]);
  const { resume_url } = data?.node_results[nodeId] ?? {};
  return (
    <div className="flex flex-col gap-2 text-12">
      <p className="text-ink-soft">{text}</p>
      {resume_url && (
        <CopyField
          label="Address to call"
          hint="One POST to this URL continues the run, with the body as output. Anyone with the URL can send it."
          value={resume_url}
          what="address"
          isCompact
        />
      )}
    </div>
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

const STOPPED = "The run was stopped before this node was done.";

const WAITING: Record<string, string> = {
  idle: "The run has not come here.",
  queued: "Waits for what comes before it.",
  running: "Working…",
  skipped: "The run went another way.",
  waiting: "It waits.",
};

function NodeInput({ nodeId, iteration, attempt, status }: { nodeId: string; iteration: string; attempt: number; status: string }) {
  const log = useNodeLog(nodeId, iteration, attempt > 0);
  if (attempt === 0) return <p className="text-12 text-ink-faint">{WAITING[status] ?? "Nothing went in."}</p>;
  if (log.error) return <LoadFailure query={log} />;
  if (log.isPending) return <p className="text-12 text-ink-faint">Loading…</p>;
  return log.item?.input ? (
    <ValueView key={iteration} value={log.item.input} what="input" />
  ) : (
    <p className="text-12 text-ink-faint italic">Empty</p>
  );
}

/** What the log keeps of a node's newest attempt at one place in the loops; read again when the node moves on there. */
export function useNodeLog(nodeId: string, iteration: string, isWanted: boolean) {
  const trpc = useTRPC();
  const executionId = useRun((state) => state.executionId) ?? "";
  const { data, error, isPending, refetch } = useQuery(
    trpc.executions.logs.queryOptions(
      { execution_id: executionId, node_id: nodeId, iteration },
      { enabled: isWanted && executionId !== "" },
    ),
  );
  const stage = useRun(({ snapshot }) => {
    const node = snapshot?.nodes[nodeId];
    const isHere = node?.iteration === iteration;
    return `${snapshot?.status} ${isHere ? `${node?.attempt} ${node?.status}` : ""}`;
  });
  const seen = useRef(stage);
  useEffect(() => {
    if (seen.current === stage) return;
    seen.current = stage;
    if (isWanted) void refetch();
  }, [stage, isWanted, refetch]);
  return { item: data?.items.at(-1), error, isPending, refetch };
}
