"use client";

import { ChevronRight } from "lucide-react";
import { Fragment, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { formatDuration, formatItem } from "#components/format.ts";
import { formatLoopProgress } from "#components/runs/loops/loop-progress.tsx";
import { LoopTimes } from "#components/runs/loops/loop-times.tsx";
import { barPosition, TimeBar } from "#components/runs/loops/time-bar.tsx";
import { useNodeLog } from "#components/runs/node-values.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { planOf, shownStatus } from "#components/runs/store/run-snapshot.ts";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";

/** Pixels for each loop around a node. */
const INDENT = 12;

const rowOf = (tree: HTMLElement | null, id: string) => tree?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`);

/** When each node worked, as bars from the start of the run. Arrow keys move from row to row. */
export function RunTimeline({ selected, isShown }: { selected: string | null; isShown: boolean }) {
  const editor = useEditorStore();
  const snapshot = useRun((state) => state.snapshot);
  const graph = useRun((state) => state.view?.graph);
  const now = useNow(snapshot?.status);
  const tree = useRef<HTMLDivElement>(null);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const fold = (id: string, isOpen: boolean) =>
    setUnfolded((before) => new Set(isOpen ? [...before, id] : [...before].filter((one) => one !== id)));
  // A run that fails shows the node that did, wherever it stands.
  useEffect(() => {
    if (selected && isShown) rowOf(tree.current, selected)?.scrollIntoView({ block: "nearest" });
  }, [selected, isShown]);
  if (!snapshot || !graph || snapshot.order.length === 0) return <p className="p-4 text-13 text-ink-soft">Nothing has started yet.</p>;
  const plan = planOf(graph);
  const begin = Date.parse(snapshot.created_at);
  const total = Math.max(1, snapshot.duration_ms ?? now - begin);

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    // Items of a loop are reached by Tab; the arrows move over nodes.
    if (!(event.target instanceof HTMLElement) || event.target.dataset.id === undefined) return;
    const folds: Record<string, boolean> = { ArrowRight: true, ArrowLeft: false };
    const isOpen = folds[event.key];
    if (isOpen !== undefined && event.target.ariaExpanded !== null) {
      event.preventDefault();
      return fold(event.target.dataset.id, isOpen);
    }
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const next = snapshot.order[snapshot.order.indexOf(selected ?? "") + move];
    if (!next) return;
    editor.getState().selectOnly(next);
    rowOf(event.currentTarget, next)?.focus();
  };
  return (
    <div className="p-2">
      <div ref={tree} role="tree" tabIndex={-1} aria-label="Timeline" className="flex flex-col focus:outline-none" onKeyDown={onKeyDown}>
        {snapshot.order.map((id) => {
          const run = snapshot.nodes[id];
          const node = graph.nodes.find((candidate) => candidate.id === id);
          if (!run?.started_at) return null;
          const depth = plan.loopsAround(id).length;
          const start = Date.parse(run.started_at);
          const bar = barPosition({ begin, total, start, duration: run.duration_ms ?? now - start });
          const isLoop = definitionOf(node?.type ?? "")?.body !== undefined && run.iterations !== undefined && depth === 0;
          const isUnfolded = isLoop && unfolded.has(id);
          return (
            <Fragment key={id}>
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the row that has the focus is the one selected; the tree handles the arrows */}
              <div
                role="treeitem"
                aria-level={depth + 1}
                aria-selected={id === selected}
                {...(isLoop && { "aria-expanded": isUnfolded })}
                data-id={id}
                tabIndex={id === (selected ?? snapshot.order[0]) ? 0 : -1}
                title={`${bar.duration} · +${bar.offset} · ${bar.share} of the run`}
                className={cn("flex flex-col gap-1 rounded-md px-2 py-1.5 hover:bg-hover", id === selected && "bg-press")}
                style={{ paddingLeft: 8 + depth * INDENT }}
                onClick={() => editor.getState().selectOnly(id)}
                onFocus={() => editor.getState().selectOnly(id)}
              >
                <span className="flex items-center gap-2 text-12">
                  {isLoop && (
                    <button
                      type="button"
                      tabIndex={-1}
                      aria-label={`${isUnfolded ? "Fold" : "Unfold"} the items of ${node ? labelOf(node) : id}`}
                      className="-my-1 grid size-6 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-press"
                      onClick={(event) => {
                        event.stopPropagation();
                        fold(id, !isUnfolded);
                      }}
                    >
                      <ChevronRight aria-hidden className={cn("size-3.5 transition-transform", isUnfolded && "rotate-90")} />
                    </button>
                  )}
                  <NodeIcon type={node?.type} className="size-5" />
                  <span className={cn("min-w-0 flex-1 truncate font-semibold", run.status === "failed" && "text-failed")}>
                    {node ? labelOf(node) : id}
                  </span>
                  {run.reused && <span className="shrink-0 text-12 text-ink-soft">Reused</span>}
                  {run.iteration !== "" && <span className="shrink-0 text-12 text-ink-soft tabular">{formatItem(run.iteration)}</span>}
                  {run.iterations && <span className="shrink-0 text-12 text-ink-soft tabular">{formatLoopProgress(run.iterations)}</span>}
                  <span className="sr-only">
                    , {statusLooks[shownStatus(run.status, run)].label}, after {bar.offset}
                  </span>
                  <StatusIcon status={shownStatus(run.status, run)} isDecorative />
                  <span className="w-16 text-right text-ink-soft tabular">{bar.duration}</span>
                </span>
                <TimeBar bar={bar} status={run.status} inset={8 + depth * INDENT} />
                {id === selected && isShown && run.duration_ms !== null && definitionOf(node?.type ?? "")?.isEffect && (
                  <CallAttempts nodeId={id} iteration={run.iteration} />
                )}
              </div>
              {isUnfolded && <LoopTimes loopId={id} path="" depth={depth + 1} begin={begin} total={total} now={now} />}
            </Fragment>
          );
        })}
      </div>
      <div aria-hidden className="flex justify-between pt-2 pr-2 pl-9 text-12 text-ink-faint tabular">
        <span>0</span>
        <span>{formatDuration(total)}</span>
      </div>
    </div>
  );
}

/** Tries of the model or HTTP calls of a node that were made more than once. */
function CallAttempts({ nodeId, iteration }: { nodeId: string; iteration: string }) {
  const { item } = useNodeLog(nodeId, iteration, true);
  if (!item?.attempts) return null;
  return (
    <ol aria-label="Attempts" className="flex flex-col gap-0.5 pl-7 text-12 text-ink-soft">
      {item.attempts.map(({ started_at, duration_ms, error }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attempts are only added, and two may start in one millisecond
        <li key={`${index} ${started_at}`} className="flex gap-2">
          <span className="shrink-0 tabular">Attempt {index + 1}</span>
          <span className={cn("min-w-0 flex-1 break-words", error !== null && "text-failed")}>{error ?? "Answered"}</span>
          <span className="w-16 shrink-0 text-right tabular">{formatDuration(duration_ms)}</span>
        </li>
      ))}
    </ol>
  );
}

/** The time now, moving while the run does. */
function useNow(status: ExecutionStatus | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const isMoving = status !== undefined && !isFinal(status);
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [isMoving]);
  return now;
}
