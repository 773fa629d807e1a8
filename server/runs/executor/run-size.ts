import type { LedgerRow } from "#server/runs/ports.ts";
import { MAX_HELD, MAX_OUTPUT, tooLarge, tooMuch } from "#server/workflow/output-size.ts";

/** What is counted of a frame. */
export interface Held {
  rows: ReadonlyMap<string, Pick<LedgerRow, "output">>;
  loops: Iterable<{ row: Pick<LedgerRow, "input">; size: number; active: ReadonlyMap<number, Held> }>;
}

/** Characters that the nodes of a frame have left behind, what its loops work on and have gathered, and all of the iterations under way. */
function heldBy(frame: Held): number {
  let sum = 0;
  for (const { output } of frame.rows.values()) sum += output?.length ?? 0;
  for (const loop of frame.loops) {
    sum += loop.size + (loop.row.input?.length ?? 0);
    for (const inner of loop.active.values()) sum += heldBy(inner);
  }
  return sum;
}

/** Bounds what a run holds in memory, which one process has for all the runs that it executes. */
export class RunSize {
  readonly #top: Held;
  readonly #kept: () => number;
  /** About what the run holds. What ended iterations have let go of is found out when the bound is reached. */
  #sum: number;

  /** @param kept characters that Outputs inside loops have left behind */
  constructor(top: Held, kept: () => number) {
    this.#top = top;
    this.#kept = kept;
    this.#sum = heldBy(top) + kept();
  }

  /** Why the run cannot hold this too; undefined when it can, and then it counts. */
  refusalOf(text: string | null | undefined): string | undefined {
    const length = text?.length ?? 0;
    if (length === 0) return undefined;
    if (length > MAX_OUTPUT) return tooLarge(length);
    if (this.#sum + length > MAX_HELD) this.#sum = heldBy(this.#top) + this.#kept();
    if (this.#sum + length > MAX_HELD) return tooMuch(this.#sum + length, MAX_HELD);
    this.#sum += length;
    return undefined;
  }
}
