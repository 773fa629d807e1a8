import { memoryAccount } from "#server/runs/memory-account.ts";
import type { LedgerRow, RunState } from "#server/runs/ports.ts";
import { MAX_HELD, MAX_OUTPUT, tooLarge, tooMuch } from "#server/workflow/output-size.ts";

/** What is counted of a frame. */
export interface Held {
  rows: ReadonlyMap<string, Pick<LedgerRow, "output">>;
  loops: Iterable<{ row: Pick<LedgerRow, "input">; size: number; active: ReadonlyMap<number, Held> }>;
}

/** Characters from which a text is examined for its width. */
const LONG = 16 * 1024;

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

/** Characters of all texts in a value. */
export function charactersOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce((sum, [key, part]) => sum + key.length + charactersOf(part), 0);
}

/** True of a text that V8 may hold with two bytes per character. */
const isWide = (text: string): boolean => text.length > LONG && Buffer.byteLength(text) > text.length;

/** Bounds what a run holds in memory, alone and together with the other runs of this process. */
export class RunSize {
  readonly #run: RunState;
  readonly #top: Held;
  readonly #kept: () => number;
  /** Characters of the run's input and parameters. */
  readonly #given: number;
  /** Includes ended iterations until a bound is reached. */
  #sum: number;
  /** Characters of the text that is being counted, which no frame has yet. */
  #added = 0;
  /** Characters that calls in flight work on. */
  #inFlight = 0;
  /** Bytes per character. */
  #width: 1 | 2 = 1;
  #isOver = false;

  /** @param kept characters that Outputs inside loops have left behind */
  constructor(run: RunState, top: Held, kept: () => number) {
    this.#run = run;
    this.#top = top;
    this.#kept = kept;
    this.#given = run.input.length + charactersOf(run.params);
    this.#sum = heldBy(top) + kept();
    if (isWide(run.input) || run.ledger.some(({ output }) => output !== null && isWide(output))) this.#width = 2;
    this.#record();
  }

  /** True once the run has to leave memory, because this process has no room for it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Characters of what the nodes hold, as an upper bound. */
  get held(): number {
    return this.#sum;
  }

  /** Why the run cannot hold this too; undefined when it can, and then it counts. */
  refusalOf(text: string | null | undefined): string | undefined {
    const length = text?.length ?? 0;
    if (length === 0) return undefined;
    if (length > MAX_OUTPUT) return tooLarge(length);
    if (this.#width === 1 && text && isWide(text)) this.#width = 2;
    const most = Math.min(MAX_HELD, memoryAccount.limit / this.#width);
    if (this.#sum + length > most) this.#measure();
    if (this.#sum + length > most) return tooMuch(this.#sum + length, most);
    this.#sum += length;
    this.#added = length;
    this.#record();
    this.#added = 0;
    return undefined;
  }

  /** Counts what a call works on. @returns ends that */
  beginCall(characters: number): () => void {
    this.#inFlight += characters;
    this.#record();
    return () => {
      this.#inFlight -= characters;
    };
  }

  get #bytes(): number {
    return this.#width * (this.#given + this.#sum + this.#inFlight);
  }

  #measure(): number {
    this.#sum = heldBy(this.#top) + this.#kept() + this.#added;
    return this.#bytes;
  }

  #record(): void {
    if (!this.#isOver) this.#isOver = !memoryAccount.record(this.#run, this.#bytes, () => this.#measure());
  }
}
