import { childPool, type JobFailure, type JobOptions } from "#server/platform/children/pool.ts";
import { type CodeAnswer, type CodeRequest, TOO_LARGE, TOO_LONG } from "#server/runs/effects/code-sandbox.ts";
import { type EngineServices, HostFault } from "#server/runs/ports.ts";

// The Python of code nodes. All that is done with it, reading it included, is done in a process that can be killed.

const MEGABYTES = 128;
/** For the way there and back, and for reading the code, beside the time that the code itself has. */
const GRACE_MS = 200;
/** For a look at code that is not run. */
const CHECK_MS = 1000;
/** Texts are there several times: as they come, as text, and in the sandbox. */
const COPIES = 8;

/** Apart from conditions, which take a tenth of a second at most and must not wait behind these. */
const pool = childPool<CodeRequest, CodeAnswer>("runs/effects/code-process.ts", { most: 2, heapMegabytes: 512, idleMs: 300_000 });

const sentenceFor = (failure: Exclude<JobFailure, "absent">, seconds: number): string =>
  ({
    time: TOO_LONG(seconds),
    memory: TOO_LARGE,
    died: "The code ended its process, most likely because it took too much memory.",
    full: "Too much code of this project waits for its turn. Run it again later.",
  })[failure];

async function ask(request: CodeRequest, options: JobOptions): Promise<CodeAnswer | { failed: Exclude<JobFailure, "absent"> }> {
  const outcome = await pool.run(request, options);
  if ("answer" in outcome) return outcome.answer;
  if (outcome.failure === "absent") throw new HostFault("The process for code could not be started.");
  return { failed: outcome.failure };
}

/** Runs Python in a process that is killed at its time or its memory; see the port. */
export const runCode: EngineServices["runCode"] = async ({ code, inputs, timeout }, signal, owner) => {
  const length = Object.values(inputs).reduce((sum, text) => sum + text.length, code.length);
  const megabytes = MEGABYTES + Math.ceil((COPIES * length) / 1024 / 1024);
  const options = { owner, ms: timeout * 1000 + GRACE_MS, megabytes, signal: () => signal };
  const answer = await ask({ code, inputs, seconds: timeout }, options);
  if ("failed" in answer) return { failure: sentenceFor(answer.failed, timeout), printed: "" };
  return "fault" in answer ? { failure: answer.fault ?? "The code was not run.", printed: "" } : answer;
};

/**
 * What is wrong with code before it runs, as a sentence, or undefined, also when nobody can say now.
 * @param names of its inputs
 * @param owner whose turn it takes: the project
 * @throws the signal's reason
 */
export async function codeFault(code: string, names: readonly string[], owner: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await ask({ code, names }, { owner, ms: CHECK_MS, megabytes: MEGABYTES, signal: () => signal });
    return "fault" in answer ? answer.fault : undefined;
  } catch (error) {
    if (error instanceof HostFault) return undefined;
    throw error;
  }
}
