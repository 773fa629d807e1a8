import { formatCount } from "#components/format.ts";

/** `37 of 200, 2 failed`: how far a loop is. */
export function formatLoopProgress({ total, complete, failed }: { total: number; complete: number; failed: number }): string {
  return `${formatCount(complete + failed)} of ${formatCount(total)}${failed > 0 ? `, ${formatCount(failed)} failed` : ""}`;
}

/** How far a loop is, in words and as a bar that needs no further reading: for cards and rows. */
export function LoopProgress({ iterations }: { iterations: { total: number; complete: number; failed: number } }) {
  const { total, complete, failed } = iterations;
  const share = (count: number) => `${total === 0 ? 0 : (count / total) * 100}%`;
  return (
    <span className="flex min-w-0 flex-col gap-1 text-12 text-ink-soft tabular">
      <span>{formatLoopProgress(iterations)}</span>
      <span aria-hidden className="flex h-1 overflow-hidden rounded-full bg-press">
        <span className="bg-complete" style={{ width: share(complete) }} />
        <span className="bg-failed" style={{ width: share(failed) }} />
      </span>
    </span>
  );
}
