import { LRUCache } from "lru-cache";
import { childPool, type JobFailure, type JobOptions } from "#server/platform/children/pool.ts";
import { type EngineServices, HostFault } from "#server/runs/ports.ts";
import { conditionRowProblems } from "#server/workflow/condition-rows.ts";
import { AT_HAND, type ConditionAnswer, type ConditionRequest, type ConditionVariables, NAMES } from "#server/workflow/condition-schema.ts";
import { nearestName, shownName } from "#server/workflow/expressions.ts";

// The Python conditions of branches. All that is done with one, reading it included, is done in a process that can be killed.

/** For one condition, in milliseconds: ten times what the sandbox gives it, and then nothing but killing helps. */
const RUN_MS = 1000;
const MEGABYTES = 128;
/** The sandbox's own bound on memory, in characters of which each takes a byte at least. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

const pool = childPool<ConditionRequest, ConditionAnswer>("runs/effects/condition-process.ts", {
  most: 3,
  heapMegabytes: 512,
  idleMs: 300_000,
});

const SENTENCES: Record<Exclude<JobFailure, "absent">, string> = {
  time: "The condition took too long, and was stopped. Make it simpler, or its texts shorter.",
  memory: "The condition took more memory than there is for it, and was stopped. Make it simpler, or its texts shorter.",
  died: "The condition ended its process, most likely because it took too much memory. Make it simpler.",
  full: "Too many conditions of this project wait for their turn. Run it again later.",
};

/** @throws HostFault when no process can be had; the signal's reason */
async function ask(
  request: ConditionRequest,
  options: Pick<JobOptions, "owner" | "signal">,
  megabytes = MEGABYTES,
): Promise<ConditionAnswer | { stopped: string; isFault: boolean }> {
  const outcome = await pool.run(request, { ...options, ms: RUN_MS, megabytes });
  if ("answer" in outcome) return outcome.answer;
  if (outcome.failure === "absent") throw new HostFault("The process for conditions could not be started.");
  return { stopped: SENTENCES[outcome.failure], isFault: outcome.failure !== "full" };
}

/** The variables that a condition names; each is copied there whole. */
function named(condition: string, { output, trigger_output, node_outputs }: ConditionVariables): ConditionVariables {
  return {
    output,
    trigger_output: condition.includes("trigger_output") ? trigger_output : "",
    node_outputs: condition.includes("node_outputs") ? node_outputs : {},
  };
}

function lengthOf({ output, trigger_output, node_outputs }: ConditionVariables): number {
  let sum = output.length + trigger_output.length;
  for (const name in node_outputs) sum += name.length + (node_outputs[name]?.length ?? 0);
  return sum;
}

/**
 * Whether a condition holds: one Python expression, by its truth value, with `re`, `json` and `math` at hand.
 * @param owner whose turn it takes: the project
 * @throws Error with a sentence for the author of the workflow; HostFault when no process can be started; the signal's reason
 */
export const evaluateCondition: EngineServices["evaluate"] = async (condition, variables, signal, owner) => {
  const sent = named(condition, variables);
  const length = lengthOf(sent);
  if (length > MOST_CHARACTERS) throw new Error("The condition took more than 64 MB of memory. Make it simpler.");
  // Its texts are there several times: as they come, as text, and in the sandbox.
  const megabytes = MEGABYTES + Math.ceil((8 * length) / 1024 / 1024);
  const answer = await ask({ condition, variables: sent }, { owner, signal }, megabytes);
  if ("holds" in answer) return answer.holds;
  throw new Error("stopped" in answer ? answer.stopped : "failure" in answer ? answer.failure : "The condition was not run.");
};

/** What people of other languages call Python's constants. */
const CONSTANTS = new Map(Object.entries({ true: "True", false: "False", null: "None", none: "None", undefined: "None" }));

function unknownNameFault(name: string): string {
  const constant = CONSTANTS.get(name);
  const near = nearestName(NAMES, name);
  const advice = constant ? ` Python writes ${constant}.` : near ? ` Did you mean ${near}?` : "";
  return `The condition uses ${shownName(name)}, which does not exist.${advice} ${AT_HAND}`;
}

/** What is known of conditions. */
const known = new LRUCache<string, { fault: string | undefined }>({ max: 500 });

function keep(condition: string, fault: string | undefined): string | undefined {
  known.set(condition, { fault });
  return fault;
}

/**
 * What is wrong with a condition before it runs, as a sentence, or undefined: its grammar, what the sandbox does not have,
 * names that do not exist as far as a trial on empty texts meets them, and what is not filled in of rows.
 * @param owner whose turn it takes: the project
 * @returns undefined also when nobody can say now: a run would tell
 * @throws the signal's reason
 */
export async function conditionFault(condition: string, owner: string, signal: AbortSignal): Promise<string | undefined> {
  const found = known.get(condition);
  if (found) return found.fault;
  const gaps = conditionRowProblems(condition);
  if (gaps.length > 0) return keep(condition, gaps.join(" "));
  try {
    const answer = await ask({ condition }, { owner, signal: () => signal });
    if ("stopped" in answer) return answer.isFault ? keep(condition, answer.stopped) : undefined;
    if ("failure" in answer || "holds" in answer) return undefined;
    return keep(condition, answer.unknownName === undefined ? answer.fault : unknownNameFault(answer.unknownName));
  } catch (error) {
    if (error instanceof HostFault) return undefined;
    throw error;
  }
}
