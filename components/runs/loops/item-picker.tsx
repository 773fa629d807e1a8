"use client";

import { ChevronLeft, ChevronRight } from "lucide-react";
import { useRun, useRunStore } from "#components/runs/store/run-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";

export interface ItemPickerProps {
  loopId: string;
  loopLabel: string;
  /** How many items the loop has; null when that is not known here. */
  total: number | null;
  /** What is shown while nothing is picked. */
  latest: number | null;
  /** The word for having picked nothing; left out, that cannot be chosen. */
  latestLabel?: string;
}

/** Which item of a loop is looked at: a number with a step to each side, and the way back to the latest. */
export function ItemPicker({ loopId, loopLabel, total, latest, latestLabel }: ItemPickerProps) {
  const run = useRunStore();
  const picked = useRun((state) => state.picked[loopId]);
  const now = picked ?? latest;
  const last = total === null ? Number.POSITIVE_INFINITY : total - 1;
  const pick = (index: number) => run.getState().pick(loopId, Math.max(0, Math.min(last, index)));
  return (
    <span className="inline-flex items-center gap-0.5 text-12 text-ink-soft tabular">
      <IconButton
        label="Previous item"
        size="sm"
        icon={<ChevronLeft />}
        disabled={now === null || now <= 0}
        onClick={() => pick((now ?? 0) - 1)}
      />
      <label className="inline-flex items-center gap-1">
        Item
        <input
          type="number"
          aria-label={`Item of ${loopLabel}`}
          min={1}
          {...(total !== null && { max: total })}
          value={now === null ? "" : now + 1}
          onChange={({ target }) => Number.isInteger(target.valueAsNumber) && pick(target.valueAsNumber - 1)}
          className="h-6 w-14 rounded-md border border-line-control bg-raised px-1.5 text-12 text-ink pointer-coarse:h-11 pointer-coarse:text-16"
        />
      </label>
      {total !== null && <span className="whitespace-nowrap text-ink-faint">(1–{total})</span>}
      <IconButton
        label="Next item"
        size="sm"
        icon={<ChevronRight />}
        disabled={now !== null && now >= last}
        onClick={() => pick((now ?? -1) + 1)}
      />
      {latestLabel !== undefined && picked !== undefined && (
        <button
          type="button"
          className="h-6 rounded-md px-1 text-thread-text hover:underline"
          onClick={() => run.getState().pick(loopId, null)}
        >
          {latestLabel}
        </button>
      )}
    </span>
  );
}
