import { LRUCache } from "lru-cache";
import type { ExtractAnswer, ExtractJob } from "#server/features/canvases/extract-process.ts";
import { latestDataOf, MAX_LATEST_MS, problem, type Shown, tooLong } from "#server/features/canvases/latest.ts";
import { type Proposed, proposalsFor } from "#server/features/canvases/proposals.ts";
import { type Kept, readPaths } from "#server/features/canvases/read-paths.ts";
import { pathsOf, type Widget } from "#server/features/canvases/schema.ts";
import { childPool } from "#server/platform/children/pool.ts";
import { AppError, isAppError } from "#server/platform/errors.ts";
import type { RunResult } from "#server/runs/store/results.ts";

// Paths in large results are followed in child processes: 50 paths in 1.8 MB take 1.8 s, which would stop every request.

/** Characters to look through, once for each path, that the main process does itself: a few milliseconds. */
const MAX_OWN_CHARACTERS = 50_000;
const MEGABYTES = 512;
/** Time of one job by the clock; the program bounds its own CPU time. */
const JOB_MS = 4 * MAX_LATEST_MS;

const extractors = childPool<ExtractJob, ExtractAnswer>("features/canvases/extract-process.ts", {
  most: 2,
  heapMegabytes: 2 * MEGABYTES,
  idleMs: 60_000,
});

/** @returns null when the job took too long or too much memory. @throws AppError UPSTREAM_ERROR when no process can take it */
async function extract(owner: string, job: ExtractJob): Promise<ExtractAnswer | null> {
  const signal = new AbortController().signal;
  const outcome = await extractors.run(job, { owner, ms: JOB_MS, megabytes: MEGABYTES, signal: () => signal });
  if ("answer" in outcome) return outcome.answer;
  if (outcome.failure === "full" || outcome.failure === "absent")
    throw new AppError("UPSTREAM_ERROR", "This machine is too busy to read the values of dashboards. Try again later.");
  return null;
}

const nothing: Kept = { number: null, json: null };

/**
 * Reads what paths lead to in one result, in a child process when it is large.
 * @param owner project
 * @throws AppError UPSTREAM_ERROR when no process can take it
 */
export async function readPathsApart(owner: string, result: RunResult, paths: readonly string[]): Promise<Kept[]> {
  if (result.text.length * paths.length <= MAX_OWN_CHARACTERS) return readPaths(result, paths);
  const answer = await extract(owner, { result, paths });
  return answer && "kept" in answer ? answer.kept : paths.map(() => nothing);
}

/**
 * Proposes widgets for an output, in a child process when it is large.
 * @param owner project
 * @throws AppError UPSTREAM_ERROR when no process can take it
 */
export async function proposalsApart(owner: string, output: string, label: string): Promise<Proposed> {
  if (output.length <= MAX_OWN_CHARACTERS) return proposalsFor(output, label);
  const answer = await extract(owner, { output, label });
  return answer && "proposed" in answer ? answer.proposed : proposalsFor("", label);
}

/** Characters that data of large results holds at most, by kind of widget. */
const SIZES: Record<Widget["type"], number> = { number: 1000, text: 100_000, markdown: 100_000, chart: 200_000, table: 1_000_000 };
const MAX_CACHED_CHARACTERS = 32_000_000;
/** Data of widgets over large results. Results of completed runs do not change, so each is read once for all viewers. */
const cache = new LRUCache<string, Promise<Shown>>({ maxSize: MAX_CACHED_CHARACTERS });

const keyOf = ({ type, output_label, options }: Widget, results: readonly RunResult[], share: number): string =>
  JSON.stringify([type, output_label, options, share, results.map(({ execution_id }) => execution_id)]);

/** Number of paths that a widget follows; a text as a whole is not parsed. */
const countPaths = (widget: Widget): number =>
  Math.max(pathsOf(widget).length, widget.type === "text" || widget.type === "markdown" ? 0 : 1);

/**
 * Reads what widgets show of the same latest results, in a child process when these are large.
 * @param owner project
 * @param results newest first, as `latestData` takes them
 * @param share as `latestData` takes it
 * @returns data in the order of the widgets
 */
export async function latestDataApart(
  owner: string,
  widgets: readonly Widget[],
  results: readonly RunResult[],
  share: number,
): Promise<Shown[]> {
  const characters = results.reduce((sum, { text }) => sum + text.length, 0);
  const paths = widgets.reduce((sum, widget) => sum + countPaths(widget), 0);
  if (characters * paths <= MAX_OWN_CHARACTERS) return latestDataOf(widgets, results, share);

  const keys = widgets.map((widget) => keyOf(widget, results, share));
  const shown = new Map<string, Promise<Shown>>();
  const missing = new Map<string, Widget>();
  for (const [index, widget] of widgets.entries()) {
    const key = keys[index] ?? "";
    const known = cache.get(key);
    if (known) shown.set(key, known);
    else missing.set(key, widget);
  }

  if (missing.size > 0) {
    const reading = extract(owner, { widgets: [...missing.values()], results, share });
    for (const [index, [key, widget]] of [...missing].entries()) {
      const one = reading.then((answer) => {
        if (answer && "shown" in answer) return answer.shown[index] ?? tooLong();
        cache.delete(key);
        return tooLong();
      });
      one.catch(() => cache.delete(key));
      cache.set(key, one, { size: SIZES[widget.type] });
      shown.set(key, one);
    }
  }

  return Promise.all(keys.map(async (key) => (await shown.get(key)?.catch(problemOf)) ?? tooLong()));
}

/** Shows why no process can take the work. */
function problemOf(error: unknown): Shown {
  if (isAppError(error)) return problem(error.message);
  throw error;
}
