import { formatDuration } from "#components/format.ts";

const LEAST_WIDTH = 0.5;

/**
 * A node's bar in the timeline, in percent of the run, and the words of its tooltip.
 * @param span all in milliseconds; `begin` and `start` since the epoch
 */
export function barOf({ begin, total, start, duration }: { begin: number; total: number; start: number; duration: number }) {
  const offset = Math.max(0, start - begin);
  const left = Math.min(100 - LEAST_WIDTH, (offset / total) * 100);
  const width = Math.min(100 - left, Math.max(LEAST_WIDTH, (duration / total) * 100));
  return {
    left,
    width,
    duration: formatDuration(duration),
    offset: formatDuration(offset),
    share: `${Math.round((duration / total) * 100)} %`,
  };
}
