"use client";

import { CopyCheck } from "lucide-react";
import Link from "next/link";
import { ItemPicker } from "#components/runs/item-picker.tsx";
import { LoopStrip } from "#components/runs/loop-strip.tsx";
import { RunAgainFromHere } from "#components/runs/run-again.tsx";
import { useRun } from "#components/runs/run-context.tsx";
import { useNodeIteration } from "#components/runs/use-node-iteration.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { definitionOf, labelOf } from "#server/engine/graph.ts";
import { isFinal } from "#server/schemas/execution.ts";

/** That a result was taken over, and from where. */
export function ReusedMark() {
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

/** Under the tabs of a node's values: which item is looked at, where the result is from, and the way to run from here. */
export function NodeValuesBar({ nodeId, isReused }: { nodeId: string; isReused: boolean }) {
  const { canEdit } = useStudio();
  const graph = useRun((state) => state.view?.graph);
  const isOver = useRun((state) => (state.picture ? isFinal(state.picture.status) : false));
  const run = useRun((state) => state.picture?.nodes[nodeId]);
  const nodes = useRun((state) => state.picture?.nodes);
  const { loops, path } = useNodeIteration(nodeId);
  const node = graph?.nodes.find((candidate) => candidate.id === nodeId);
  const isLoop = node !== undefined && definitionOf(node.type)?.body !== undefined;
  const hasStrip = isLoop && run?.iterations !== undefined;
  const canRunAgain = isOver && canEdit;
  if (!node || !(isReused || hasStrip || loops.length > 0 || canRunAgain)) return null;
  const place = path ?? run?.iteration ?? "";
  const at = place === "" ? [] : place.split(".").map(Number);
  return (
    <div className="flex shrink-0 flex-col gap-1.5 border-b px-3 py-1.5">
      {(loops.length > 0 || isReused || canRunAgain) && (
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
          {isReused && <ReusedMark />}
          {canRunAgain && (
            <span className="ml-auto">
              <RunAgainFromHere nodeId={nodeId} />
            </span>
          )}
        </div>
      )}
      {hasStrip && <LoopStrip loopId={nodeId} path={place} label={labelOf(node)} />}
    </div>
  );
}
