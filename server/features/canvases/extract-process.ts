import { latestDataOf, type Shown } from "#server/features/canvases/latest.ts";
import { type Proposed, proposalsFor } from "#server/features/canvases/proposals.ts";
import { type Kept, readPaths } from "#server/features/canvases/read-paths.ts";
import type { Widget } from "#server/features/canvases/schema.ts";
import { serveJobs } from "#server/platform/children/program.ts";
import type { RunResult } from "#server/runs/store/results.ts";

// The program of extract.ts. It may be killed at any moment.

export type ExtractJob =
  | { widgets: readonly Widget[]; results: readonly RunResult[]; share: number }
  | { result: RunResult; paths: readonly string[] }
  | { output: string; label: string };
export type ExtractAnswer = { shown: Shown[] } | { kept: Kept[] } | { proposed: Proposed };

await serveJobs((job: ExtractJob): ExtractAnswer => {
  if ("widgets" in job) return { shown: latestDataOf(job.widgets, job.results, job.share) };
  return "result" in job ? { kept: readPaths(job.result, job.paths) } : { proposed: proposalsFor(job.output, job.label) };
});
