"use client";

import { ArrowUpRight, CopyCheck, Pin, PinOff, StepForward } from "lucide-react";
import { AskAboutRun } from "#components/runs/ask-about-run.tsx";
import { ItemPicker } from "#components/runs/loops/item-picker.tsx";
import { LoopStrip } from "#components/runs/loops/loop-strip.tsx";
import { RunAgainFromHere } from "#components/runs/run-again.tsx";
import { type EditorRun, useEditorRun, useRun, useRunShallow } from "#components/runs/store/run-context.tsx";
import { planOf } from "#components/runs/store/run-snapshot.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";
import { useEditor } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";
import { canPin } from "#server/workflow/pins.ts";

/** That a result was taken over, and from where. */
export function ReusedBadge() {
  const original = useRun((state) => state.view?.execution.rerun_of ?? null);
  const mark = (
    <Badge>
      <CopyCheck aria-hidden className="size-3" />
      Reused
    </Badge>
  );
  if (original === null) return mark;
  return (
    <span className="inline-flex items-center gap-1.5 text-12">
      {mark}
      <Link href={`/runs/${original}`} className="inline-flex min-h-6 items-center text-thread-text hover:underline">
        from the run before
      </Link>
    </span>
  );
}

export interface NodeValuesBarProps {
  nodeId: string;
  isReused: boolean;
  /** The run that it has started, of a node that runs another workflow. */
  childId: string | undefined;
  /** What is shown as its output, as far as it can be pinned; null when there is none. */
  output: string | null;
}

/** Under the tabs of a node's values: which item is looked at, where the result is from, and the ways to use it. */
export function NodeValuesBar({ nodeId, isReused, childId, output }: NodeValuesBarProps) {
  const { canEdit } = useStudio();
  const graph = useRun((state) => state.view?.graph);
  const isOver = useRun((state) => (state.snapshot ? isFinal(state.snapshot.status) : false));
  const run = useRun((state) => state.snapshot?.nodes[nodeId]);
  const nodes = useRun((state) => state.snapshot?.nodes);
  const { loops, path } = useNodeIteration(nodeId);
  const node = graph?.nodes.find((candidate) => candidate.id === nodeId);
  const isLoop = node !== undefined && definitionOf(node.type)?.body !== undefined;
  const hasStrip = isLoop && run?.iterations !== undefined;
  const editorRun = useEditorRun();
  const canRunAgain = isOver && canEdit;
  const type = useEditor((state) => state.nodes.find(({ id }) => id === nodeId)?.type);
  const isPinned = useEditor((state) => (state.data[nodeId]?.pinned ?? null) !== null);
  const canChangePin =
    editorRun !== null && !editorRun.isReadOnly && type !== undefined && canPin({ type }) && (isPinned || output !== null);
  const canRunFrom = canRunAgain && (editorRun === null || (type !== undefined && definitionOf(type)?.group !== "trigger"));
  if (!node) return null;
  const place = path ?? run?.iteration ?? "";
  const at = place === "" ? [] : place.split(".").map(Number);
  return (
    <div className="flex shrink-0 flex-col gap-1.5 border-b px-3 py-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {loops.map((id, depth) => {
          const loop = graph?.nodes.find((candidate) => candidate.id === id);
          return (
            <ItemPicker
              key={id}
              loopId={id}
              loopLabel={loop ? labelOf(loop) : id}
              total={depth === 0 ? (nodes?.[id]?.iterations?.total ?? null) : null}
              latest={at[depth] ?? null}
              latestLabel="Latest"
            />
          );
        })}
        {isReused && <ReusedBadge />}
        {childId !== undefined && (
          <Link href={`/runs/${childId}`} className="inline-flex min-h-6 items-center gap-1 text-12 text-thread-text hover:underline">
            Open its run
            <ArrowUpRight aria-hidden className="size-3" />
          </Link>
        )}
        <span className="ml-auto flex flex-wrap items-center gap-1.5">
          <AskAboutRun nodeId={nodeId} />
          {canChangePin && isPinned && (
            <Button size="sm" icon={<PinOff />} onClick={() => editorRun.unpin(nodeId)}>
              Unpin output
            </Button>
          )}
          {canChangePin && !isPinned && (
            <Button size="sm" icon={<Pin />} onClick={() => output !== null && editorRun.pin(nodeId, output)}>
              Pin output
            </Button>
          )}
          {canRunFrom && (editorRun ? <RunFromHere nodeId={nodeId} editorRun={editorRun} /> : <RunAgainFromHere nodeId={nodeId} />)}
        </span>
      </div>
      {hasStrip && <LoopStrip loopId={nodeId} path={place} label={labelOf(node)} />}
    </div>
  );
}

/** In the editor: this node and what depends on it again, on the canvas as it is now. */
function RunFromHere({ nodeId, editorRun }: { nodeId: string; editorRun: EditorRun }) {
  const executionId = useRun((state) => state.executionId);
  if (!executionId) return null;
  return (
    <Button size="sm" icon={<StepForward />} disabled={editorRun.isBusy} onClick={() => editorRun.runFrom(nodeId, executionId)}>
      Run from here
    </Button>
  );
}

/** The loops around a node, and where in them the reader looks. */
export interface NodeIteration {
  /** Ids of the loops, the outermost first. */
  loops: readonly string[];
  /** The place that was picked; null while the latest is shown, and outside loops. */
  path: string | null;
}

const outside: readonly string[] = [];

/** Items picked of some loops only hold for the others' latest: a place is whole or it is the latest. */
export function useNodeIteration(nodeId: string): NodeIteration {
  const { loops, path } = useRunShallow(({ view, picked, snapshot }) => {
    const around = view ? planOf(view.graph).loopsAround(nodeId) : outside;
    const node = snapshot?.nodes[nodeId];
    if (around.length === 0 || around.every((id) => picked[id] === undefined))
      // While somebody is waited for there, the questions are what is to be seen.
      return { loops: around, path: node?.isPast && !snapshot?.waiting[nodeId] ? node.iteration : null };
    const latest = node?.iteration.split(".") ?? [];
    return { loops: around, path: around.map((id, depth) => picked[id] ?? latest[depth] ?? 0).join(".") };
  });
  return { loops, path };
}
