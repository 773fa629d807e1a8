"use client";

import { useQuery } from "@tanstack/react-query";
import type { KeyboardEvent, PointerEvent } from "react";
import { formatCount } from "#components/format.ts";
import { formatLoopProgress, LoopProgress } from "#components/runs/loops/loop-progress.tsx";
import { useRun, useRunStore } from "#components/runs/store/run-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import type { LoopItems } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

const LIVE_MS = 1500;
/** Up to so many cells there is a gap between two. */
const FEW = 80;
type Cell = LoopItems["cells"][number];

const PARTS = [
  ["failed", "var(--failed)"],
  ["waiting", "var(--waiting)"],
  ["running", "var(--running)"],
  ["complete", "var(--complete)"],
  ["skipped", "var(--line-control)"],
] as const;

/** A cell of several items is coloured in the shares of how they stand, what needs a look at the bottom. */
function background(cell: Cell, size: number): string {
  const stops: string[] = [];
  let from = 0;
  for (const [part, colour] of PARTS) {
    if (cell[part] === 0) continue;
    // One failed item among many must still be seen.
    const to = Math.min(100, from + Math.max(part === "failed" ? 34 : 0, (cell[part] / size) * 100));
    stops.push(`${colour} ${from}% ${to}%`);
    from = to;
  }
  if (from < 100) stops.push(`var(--line) ${from}% 100%`);
  return `linear-gradient(to top, ${stops.join(", ")})`;
}

const wordsOf = (cell: Cell): string => {
  const parts = PARTS.filter(([part]) => cell[part] > 0);
  return parts.length === 0 ? "not reached" : parts.map(([part]) => (cell[part] === 1 ? part : `${cell[part]} ${part}`)).join(", ");
};

/**
 * The items of a loop as a strip of coloured cells; picking one shows what the nodes inside did for it. One control,
 * moved by arrow keys: hundreds of buttons would be no help.
 * @param path the loop's own place, empty unless it lies in another loop
 */
export function LoopStrip({ loopId, path, label }: { loopId: string; path: string; label: string }) {
  const trpc = useTRPC();
  const run = useRunStore();
  const executionId = useRun((state) => state.executionId) ?? "";
  const isOver = useRun((state) => (state.snapshot ? isFinal(state.snapshot.status) : true));
  const picked = useRun((state) => state.picked[loopId]);
  const loop = useRun((state) => state.snapshot?.nodes[loopId]);
  // The stream is ahead of what was read, where it tells of this very turn of the loop.
  const iterations = loop?.iteration === path ? loop.iterations : undefined;
  const { data } = useQuery(
    trpc.executions.loopItems.queryOptions(
      { execution_id: executionId, node_id: loopId, iteration: path },
      { enabled: executionId !== "", refetchInterval: isOver ? false : LIVE_MS, retry: false },
    ),
  );
  if (!data) return iterations ? <LoopProgress iterations={iterations} /> : null;
  const { total, per_cell, cells } = data;
  if (total === 0) return <p className="text-12 text-ink-soft">The list was empty.</p>;
  const pick = (index: number) => run.getState().pick(loopId, Math.max(0, Math.min(total - 1, index)));
  const pickCell = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.min(cells.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * cells.length)));
    pick(cells[index]?.first_failed ?? index * per_cell);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const now = picked ?? -1;
    const moves: Record<string, number> = {
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      PageUp: now + 10,
      PageDown: now - 10,
      Home: 0,
      End: total - 1,
    };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    pick(next);
  };
  const sum = (part: keyof Omit<Cell, "first_failed">) => cells.reduce((count, cell) => count + cell[part], 0);
  const cellOf = picked === undefined ? -1 : Math.floor(picked / per_cell);
  const here = cells[cellOf];
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3 text-12 text-ink-soft tabular">
        <span>
          <strong className="font-semibold text-ink">
            {formatLoopProgress(iterations ?? { total, complete: sum("complete"), failed: sum("failed") })}
          </strong>
          {sum("waiting") > 0 && <span className="text-waiting">, {formatCount(sum("waiting"))} waiting</span>}
        </span>
        {per_cell > 1 && <span className="text-12 text-ink-faint">{per_cell} items in each cell</span>}
      </p>
      <div
        role="slider"
        tabIndex={0}
        aria-label={`Items of ${label}`}
        aria-valuemin={1}
        aria-valuemax={total}
        aria-valuenow={(picked ?? 0) + 1}
        aria-valuetext={picked === undefined ? "No item picked" : `Item ${picked + 1}${here ? `: ${wordsOf(here)}` : ""}`}
        className={cn("flex h-6 cursor-pointer items-stretch rounded-sm py-0.5", cells.length <= FEW && "gap-px")}
        onPointerDown={pickCell}
        onKeyDown={onKeyDown}
      >
        {cells.map((cell, index) => (
          <span
            key={index.toString()}
            aria-hidden
            title={`${per_cell === 1 ? `Item ${index + 1}` : `Items ${index * per_cell + 1} to ${Math.min(total, (index + 1) * per_cell)}`}: ${wordsOf(cell)}`}
            className={cn("min-w-0 flex-1 rounded-[1px]", index === cellOf && "-my-0.5 outline outline-[1.5px] outline-ink")}
            style={{ background: background(cell, Math.min(per_cell, total - index * per_cell)) }}
          />
        ))}
      </div>
    </div>
  );
}
