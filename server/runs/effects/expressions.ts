import { childPool, type JobFailure } from "#server/platform/children/pool.ts";
import { type EngineServices, HostFault } from "#server/runs/ports.ts";
import { ExpressionError, type LongReads, type ReadResult } from "#server/workflow/resolve-expressions.ts";
import type { JsonRewrite, RewrittenJson } from "#server/workflow/rewrite-json.ts";

/** Time for all expressions of one node, in milliseconds. */
const READ_MS = 30_000;
/** Memory beside that for the texts, in MiB. */
const MEGABYTES = 256;
/** Memory for each character: the text, its parts as values of JSON, and what filters make of it. */
const BYTES_PER_CHARACTER = 24;

type TextWork = LongReads | JsonRewrite;
type TextAnswer = ReadResult[] | RewrittenJson;
const pool = childPool<TextWork, TextAnswer>("runs/effects/expression-process.ts", { most: 3, heapMegabytes: 2048, idleMs: 60_000 });

const SENTENCES: Record<Exclude<JobFailure, "absent">, string> = {
  time: "The expressions of this node took too long on long texts. Pass on a part, or use a code node.",
  memory: "The expressions of this node took more memory than there is for them. Pass on a part, or use a code node.",
  died: "The expressions of this node ended their process, most likely because they took too much memory. Pass on a part.",
  full: "Too many expressions of this project wait for their turn. Run it again later.",
};

/** Has work on long texts done in a process of its own. */
async function run(request: TextWork, length: number, signal: AbortSignal, owner: string): Promise<TextAnswer> {
  const megabytes = MEGABYTES + Math.ceil((BYTES_PER_CHARACTER * length) / 1024 / 1024);
  const outcome = await pool.run(request, { owner, signal: () => signal, ms: READ_MS, megabytes });
  if ("answer" in outcome) return outcome.answer;
  if (outcome.failure === "absent") throw new HostFault("The process for expressions could not be started.");
  throw new ExpressionError(SENTENCES[outcome.failure]);
}

/** Implements EngineServices.readLong in a process of its own: a filter on 16 MiB can take seconds. */
export const readLongTexts: EngineServices["readLong"] = async (request, signal, owner) => {
  const length = request.texts.reduce((sum, text) => sum + text.length, 0);
  return (await run(request, length, signal, owner)) as ReadResult[]; // cast: the answer to reads
};

/** Implements EngineServices.rewriteJson in the same process. */
export const rewriteLongJson: EngineServices["rewriteJson"] = async (request, signal, owner) =>
  (await run(request, request.text.length, signal, owner)) as RewrittenJson; // cast: the answer to a rewrite
