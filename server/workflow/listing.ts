import { shorten } from "#server/shared/shorten.ts";

// Bounded lists of what is wrong with a graph. Pure and browser-safe.

/** Entries that an answer lists; the rest is only counted. */
export const MAX_LISTED = 50;

/** Characters of each text in an entry. */
export const MAX_LISTED_LENGTH = 500;

/** A bounded list with the number of all entries. */
export interface Listed<Entry> {
  items: Entry[];
  total: number;
}

/** Counts entries, and builds the texts of the first `limit` of them only. */
export class Listing<Entry extends { message: string }> implements Listed<Entry> {
  readonly items: Entry[] = [];
  total = 0;
  readonly #limit: number;

  constructor(limit = MAX_LISTED) {
    this.#limit = limit;
  }

  add(build: () => Entry): void {
    this.total++;
    if (this.items.length >= this.#limit) return;
    const entry = build();
    this.items.push({ ...entry, message: shorten(entry.message, MAX_LISTED_LENGTH) });
  }
}

/** Time after which a computation in slices lets other callbacks run. */
const SLICE_MS = 10;

/**
 * Runs a computation that may take long, and yields to the event loop between its slices.
 * @param steps a generator that yields wherever it may be interrupted
 */
export async function runInSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  let end = performance.now() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < end) continue;
    await new Promise((resolve) => setTimeout(resolve, 0));
    end = performance.now() + SLICE_MS;
  }
}

/** Runs the same computation to its end at once. */
export function runAtOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
