import { serveJobs } from "#server/platform/children/program.ts";
import { type LongReads, type ReadResult, readLong } from "#server/workflow/resolve-expressions.ts";
import { type JsonRewrite, type RewrittenJson, rewriteJson } from "#server/workflow/rewrite-json.ts";

// A program of its own, started by expressions.ts: reads expressions in long texts, and writes long JSON anew, one request at a time.

await serveJobs<LongReads | JsonRewrite, ReadResult[] | RewrittenJson>((request) =>
  "reads" in request ? readLong(request) : rewriteJson(request),
);
