import { cellOf, numberOf } from "#server/features/canvases/latest.ts";
import { follower, usedMs } from "#server/platform/json-path.ts";
import type { RunResult } from "#server/runs/store/results.ts";
import { parseJson } from "#server/shared/json-text.ts";

/** Beyond this, sums of numbers could become more than a number can be. */
const LARGEST = 1e290;
/** Characters of a value that is no number. */
const MOST_KEPT = 4000;

/** A value as it is kept; see `ReadingValue` in prisma/schema.prisma. */
export interface Kept {
  number: number | null;
  json: string | null;
}

/** Stored form of a value: a number, or the beginning of anything else as JSON. */
function keptOf(value: unknown): Kept {
  const number = numberOf(value);
  if (number !== undefined && Math.abs(number) <= LARGEST) return { number, json: null };
  if (value === undefined || value === null) return { number: null, json: null };
  const json = JSON.stringify(value);
  return { number: null, json: json.length <= MOST_KEPT ? json : JSON.stringify(cellOf(value)) };
}

/** CPU time of one path, and of all paths of one result: far more than any needs, since a value that is not found is lost for good. */
const LONGEST_MS = 1000;

/** Reads what paths lead to in one result, which is parsed once. Paths after LONGEST_MS of CPU time find nothing. */
export function readPaths({ text, length }: Pick<RunResult, "text" | "length">, paths: readonly string[]): Kept[] {
  const nothing = { number: null, json: null };
  let payload: unknown = text;
  let isJson = false;
  if (length <= text.length)
    try {
      payload = parseJson(text);
      isJson = true;
    } catch {
      // Words: a value as a whole, without parts.
    }
  let leftMs = LONGEST_MS;
  return paths.map((path) => {
    if (!isJson) return path === "$" ? keptOf(payload) : nothing;
    if (leftMs <= 0) return nothing;
    const began = usedMs();
    try {
      const found = follower(path, LONGEST_MS)(payload);
      return keptOf(Array.isArray(found) && found.length === 1 ? found[0] : found);
    } catch {
      return nothing; // it is nested too deeply
    } finally {
      leftMs -= usedMs() - began;
    }
  });
}
