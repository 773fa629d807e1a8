"use client";

import { useQueries } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { formatCount } from "#components/format.ts";
import { barPosition, TimeBar } from "#components/runs/loops/time-bar.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { childIteration, shownStatus } from "#components/runs/store/run-snapshot.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import type { LoopTimes as Times } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";

/** How often the items of a loop that goes on are read again, in milliseconds. */
const LIVE_MS = 2000;
/** Pixels for each level. */
const INDENT = 12;

export interface LoopTimesProps {
  loopId: string;
  /** Place of the loop in those around it; empty outside loops. */
  path: string;
  depth: number;
  /** The run: its beginning since the epoch and its length, in milliseconds, and now. */
  begin: number;
  total: number;
  now: number;
}

/** The items of a loop as bars, a hundred at a time; each unfolds to the nodes in it. */
export function LoopTimes({ loopId, path, ...scale }: LoopTimesProps) {
  const trpc = useTRPC();
  const executionId = useRun((state) => state.executionId) ?? "";
  const isOver = useRun((state) => (state.snapshot ? isFinal(state.snapshot.status) : true));
  const [froms, setFroms] = useState([0]);
  const pages = useQueries({
    queries: froms.map((from) =>
      trpc.executions.loopTimes.queryOptions(
        { execution_id: executionId, node_id: loopId, iteration: path, from },
        { refetchInterval: isOver ? false : LIVE_MS },
      ),
    ),
  });
  const failed = pages.find(({ error }) => error !== null);
  if (failed) return <LoadFailure query={failed} />;
  const isPending = pages.some((page) => page.isPending);
  const { next_from: next = null, total: all = 0 } = pages.at(-1)?.data ?? {};
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of rows in a tree
    <div role="group">
      {pages.map(({ data }) => data?.items.map((item) => <ItemRow key={item.index} item={item} path={path} {...scale} />))}
      {isPending && <p className="px-2 py-1.5 text-12 text-ink-soft">Loading the items…</p>}
      {next !== null && (
        <div style={{ paddingLeft: 8 + scale.depth * INDENT }}>
          <Button size="sm" variant="ghost" onClick={() => setFroms([...froms, next])}>
            Further items, {formatCount(all - next)} of {formatCount(all)}
          </Button>
        </div>
      )}
    </div>
  );
}

type Item = Times["items"][number];
type Scale = Omit<LoopTimesProps, "loopId" | "path">;

function ItemRow({ item, path, ...scale }: { item: Item; path: string } & Scale) {
  const [isOpen, setIsOpen] = useState(false);
  if (item.started_at === null) return null;
  const { begin, total, now, depth } = scale;
  const start = Date.parse(item.started_at);
  const bar = barPosition({ begin, total, start, duration: item.duration_ms ?? Math.max(0, now - start) });
  return (
    // Rows out of sight are not laid out: a loop may have hundreds.
    <div className="[contain-intrinsic-size:auto_36px] [content-visibility:auto]">
      <button
        type="button"
        role="treeitem"
        aria-level={depth + 1}
        aria-expanded={isOpen}
        title={`${bar.duration} · +${bar.offset} · ${bar.share} of the run`}
        className="flex w-full flex-col gap-1 rounded-md px-2 py-1.5 text-left hover:bg-hover"
        style={{ paddingLeft: 8 + depth * INDENT }}
        onClick={() => setIsOpen(!isOpen)}
      >
        <span className="flex items-center gap-2 text-12">
          <ChevronRight aria-hidden className={cn("size-3.5 shrink-0 text-ink-faint transition-transform", isOpen && "rotate-90")} />
          <span className={cn("min-w-0 flex-1 truncate tabular", item.status === "failed" && "text-failed")}>
            Item {formatCount(item.index + 1)}
          </span>
          <span className="sr-only">
            , {statusLooks[item.status].label}, after {bar.offset}
          </span>
          <StatusIcon status={item.status} isDecorative />
          <span className="w-16 text-right text-ink-soft tabular">{bar.duration}</span>
        </span>
        <TimeBar bar={bar} status={item.status} inset={8 + depth * INDENT} />
      </button>
      {isOpen && <ItemNodes item={item} path={path} {...scale} />}
    </div>
  );
}

function ItemNodes({ item, path, depth, ...scale }: { item: Item; path: string } & Scale) {
  const editor = useEditorStore();
  const run = useRun((state) => state.pick);
  const graph = useRun((state) => state.view?.graph);
  return item.nodes.map((worked) => {
    const node = graph?.nodes.find(({ id }) => id === worked.node_id);
    if (!node || worked.started_at === null) return null;
    const start = Date.parse(worked.started_at);
    const bar = barPosition({
      begin: scale.begin,
      total: scale.total,
      start,
      duration: worked.duration_ms ?? Math.max(0, scale.now - start),
    });
    const status = shownStatus(worked.status, worked);
    const isLoop = definitionOf(node.type)?.body !== undefined;
    return (
      <div key={worked.node_id}>
        <button
          type="button"
          role="treeitem"
          aria-level={depth + 2}
          className="flex w-full flex-col gap-1 rounded-md px-2 py-1.5 text-left hover:bg-hover"
          style={{ paddingLeft: 8 + (depth + 2) * INDENT }}
          onClick={() => {
            const owner = node.parentId;
            if (typeof owner === "string") run(owner, item.index);
            editor.getState().selectOnly(worked.node_id);
          }}
        >
          <span className="flex items-center gap-2 text-12">
            <NodeIcon type={node.type} className="size-5" />
            <span className={cn("min-w-0 flex-1 truncate", worked.status === "failed" && "text-failed")}>{labelOf(node)}</span>
            <span className="sr-only">, {statusLooks[status].label}</span>
            <StatusIcon status={status} isDecorative />
            <span className="w-16 text-right text-ink-soft tabular">{bar.duration}</span>
          </span>
          <TimeBar bar={bar} status={worked.status} inset={8 + (depth + 2) * INDENT} />
        </button>
        {isLoop && <LoopTimes loopId={worked.node_id} path={childIteration(path, item.index)} depth={depth + 3} {...scale} />}
      </div>
    );
  });
}
