import { runAgentCall } from "#server/features/agents/run-agent-call.ts";
import { markRun } from "#server/features/agents/versions.ts";
import { OverBudget } from "#server/features/budgets/over-budget.ts";
import { waitForBudget } from "#server/features/budgets/waits.ts";
import { readCredentialValues } from "#server/features/credentials/values.ts";
import { startChild } from "#server/features/workflows/children.ts";
import { startErrorWorkflow } from "#server/features/workflows/error-workflow.ts";
import type { ChatMessage } from "#server/llm/chat-body.ts";
import { isAppError, isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { withMask } from "#server/platform/mask-scope.ts";
import { callbackOf } from "#server/runs/callback-token.ts";
import { runCode } from "#server/runs/effects/code.ts";
import { evaluateCondition } from "#server/runs/effects/conditions.ts";
import { readLongTexts, rewriteLongJson } from "#server/runs/effects/expressions.ts";
import { callHttp } from "#server/runs/effects/http-call.ts";
import { type EngineServices, HostFault } from "#server/runs/ports.ts";
import type { FoundAgent } from "#server/runs/store/agent-json.ts";
import { agentNames } from "#server/runs/store/agent-names.ts";
import { saidBefore } from "#server/runs/store/budget-waits.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { cancelChildren, inTheBackground, tellParent } from "#server/runs/use-cases/end-children.ts";
import { announceReviews, wakeIfEnded } from "#server/runs/waits/sweep-waits.ts";
import { redispatch } from "#server/runs/worker/dispatch.ts";

/** An agent's failure is its node's; a database that is away is nobody's, and the node is started again. */
const callAgent: EngineServices["callAgent"] = ({ mask, ...call }) =>
  mask ? withMask(mask, () => callUnmasked(call)) : callUnmasked(call);

async function callUnmasked({
  timeout,
  known,
  run,
  ...call
}: Omit<Parameters<EngineServices["callAgent"]>[0], "mask">): ReturnType<EngineServices["callAgent"]> {
  try {
    const found = known as FoundAgent | undefined; // cast: server/runs/use-cases/inline-run.ts gives it, and nobody else
    const onVersion = (version: number) => {
      markRun(call.agent_id, version);
      call.onVersion(version);
    };
    // cast: what waitForBudget has kept
    const said = run.attempt > 1 ? ((await saidBefore(run)) as ChatMessage[]) : [];
    const { execution_id, message_id } = run;
    const payer = { execution_id, ...(message_id && { message_id }) };
    const { text, ...reply } = await runAgentCall({ ...call, ...payer, onVersion, found, said, timeoutMs: timeout * 1000 });
    return {
      output: text,
      ...(reply.truncated && { is_cut_off: true }),
      model: reply.model,
      input_tokens: reply.input_tokens,
      cached_tokens: reply.cached_tokens,
      output_tokens: reply.output_tokens,
      agent_id: call.agent_id,
      provider: reply.provider,
      cost: reply.cost,
      tool_calls: reply.tool_calls,
    };
  } catch (error) {
    if (error instanceof OverBudget && error.isPause) return { wait: waitForBudget(error) };
    if (isDatabaseAway(error)) throw new HostFault("The database went away during an agent's call.", { cause: error });
    if (isAppError(error) || call.signal.aborted) throw error;
    log.error({ err: error, agent_id: call.agent_id }, "an agent's call failed with an internal error");
    throw new Error("The call failed with an internal error of the server, not of the model. See the server's log.");
  }
}

const drain = new AbortController();
const halt = new AbortController();

/** Tells the runs of this process to start nothing new, and after `ms` aborts what is under way. */
export function drainRuns(ms: number): void {
  drain.abort();
  setTimeout(() => halt.abort(), Math.max(0, ms)).unref();
}

/** The run loop's ports, plugged into the real services. */
export const engineServices: EngineServices & { continueAsNew: typeof redispatch; wakeIfEnded: typeof wakeIfEnded } = {
  store: runStore,
  clock: { now: () => new Date() },
  drain: drain.signal,
  halt: halt.signal,
  agentNames,
  credentials: readCredentialValues,
  callAgent,
  evaluate: evaluateCondition,
  readLong: readLongTexts,
  rewriteJson: rewriteLongJson,
  runCode,
  callHttp,
  callback: callbackOf,
  childrenWanted: (ids) => {
    for (const id of ids) inTheBackground(startChild(id), "a run that a node waits for could not be started, the sweep tries again");
  },
  childEnded: (id) => inTheBackground(tellParent(id), "the end of a run could not be told to the one that waits, the sweep tells it"),
  runFailed: (id) => inTheBackground(startErrorWorkflow(id), "the error workflow of a run could not be started, the sweep tries again"),
  parentEnded: (id) => inTheBackground(cancelChildren(id), "runs without a waiting parent could not be cancelled; the sweep tries again"),
  reviewsOpened: (ids) => void announceReviews(ids),
  continueAsNew: redispatch,
  wakeIfEnded,
};
