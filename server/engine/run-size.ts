import { MAX_HELD, MAX_OUTPUT, MAX_RESULT, tooLarge, tooMuch } from "#server/engine/output-size.ts";
import type { LedgerRow } from "#server/engine/ports.ts";

/** What is counted of a frame. */
export interface Held {
  rows: ReadonlyMap<string, Pick<LedgerRow, "output">>;
  loops: Iterable<{ size: number; active: ReadonlyMap<number, Held> }>;
}

/** Characters that the nodes of a frame have left behind, and those of the iterations under way in it. */
function heldBy(frame: Held): number {
  let sum = 0;
  for (const { output } of frame.rows.values()) sum += output?.length ?? 0;
  for (const loop of frame.loops) {
    sum += loop.size;
    for (const inner of loop.active.values()) sum += heldBy(inner);
  }
  return sum;
}

/** Bounds what a run holds in memory, which one process has for all the runs that it carries. */
export class RunSize {
  readonly #top: Held;
  readonly #kept: () => number;
  /** At least what the run holds. What ended iterations have let go of is found out when the bound is reached. */
  #sum: number;

  /** @param kept characters that Outputs inside loops have left behind */
  constructor(top: Held, kept: () => number) {
    this.#top = top;
    this.#kept = kept;
    this.#sum = heldBy(top) + kept();
  }

  /**
   * Why a node cannot leave this behind; undefined when it can, and then it counts.
   * @param isKept it is an Output inside a loop: all of them come into the run's result, so what is too much for that ends early
   */
  refusalOf(output: string | undefined, isKept: boolean): string | undefined {
    const length = output?.length ?? 0;
    if (length > MAX_OUTPUT) return tooLarge(length);
    const kept = isKept ? this.#kept() + length : 0;
    if (kept > MAX_RESULT) return tooMuch(kept, MAX_RESULT);
    if (this.#sum + length > MAX_HELD) this.#sum = heldBy(this.#top) + this.#kept();
    if (this.#sum + length > MAX_HELD) return tooMuch(this.#sum + length, MAX_HELD);
    this.#sum += length;
    return undefined;
  }
}
