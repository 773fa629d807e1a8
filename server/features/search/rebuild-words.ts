import { setTimeout } from "node:timers/promises";
import { rebuildChunkWords } from "#server/features/knowledge/rebuild-words.ts";
import { rebuildTexts } from "#server/features/workflows/texts.ts";

/** Duration of one call, in ms. */
const SLICE_MS = 20_000;

/**
 * Indexes texts of an earlier folding again, for up to SLICE_MS. It pauses after each batch for as long as the batch took, so that
 * searches have the database for half of the time.
 * @returns true when some may be left
 */
export async function rebuildSearchWords(): Promise<boolean> {
  const until = performance.now() + SLICE_MS;

  for (const rebuildBatch of [rebuildTexts, rebuildChunkWords]) {
    let start = performance.now();
    while (await rebuildBatch()) {
      if (performance.now() >= until) return true;
      await setTimeout(performance.now() - start);
      start = performance.now();
    }
  }
  return false;
}
