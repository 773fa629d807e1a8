import { composeQuestion } from "#server/features/agents/compose-question.ts";
import { agentOf, findAgent, type KeyedAgentRow, toAgent } from "#server/features/agents/find-agent.ts";
import { PaidMeter, type Used } from "#server/features/budgets/meter.ts";
import { OverBudget } from "#server/features/budgets/over-budget.ts";
import { ModelPrices } from "#server/features/llm-keys/schema.ts";
import { endpointOf } from "#server/features/llm-keys/stored-key.ts";
import type { ChatMessage } from "#server/llm/chat-body.ts";
import { type ChatLoopRequest, type ChatLoopResult, chatWithTools, MOST_ROUNDS, type ToolUse } from "#server/llm/chat-loop.ts";
import type { ProviderId } from "#server/llm/kinds.ts";
import { cutResult, type ToolAnswer } from "#server/llm/tools/tool.ts";
import { unsealOften } from "#server/platform/secrets.ts";
import type { CallUsage } from "#server/runs/ports.ts";
import type { FoundAgent } from "#server/runs/store/agent-json.ts";
import { KEPT_RESULT_CHARACTERS, type RunToolCall } from "#server/runs/tool-call-schema.ts";
import type { CallAttempt } from "#server/shared/call-attempts.ts";

export interface RunAgentCall {
  project_id: string;
  agent_id: string;
  /** The agent, when the caller has read it just now; or one that is not saved, which bears the id that its usage is counted under. */
  found?: FoundAgent | KeyedAgentRow | undefined;
  /** The run that asks. */
  execution_id?: string | undefined;
  /** Message to the assistant whose allowance the call spends from. */
  message_id?: string | undefined;
  /** What to ask. */
  message: string;
  /** What has been said since that was asked, of a call that a budget had stopped: it goes on from there. */
  said?: readonly ChatMessage[] | undefined;
  /** Earlier turns, oldest first. */
  history?: { role: "user" | "assistant"; content: string }[];
  /** For the whole call: tries, pauses and tools included. */
  timeoutMs: number;
  /** Further tries of each request after a 429, a 5xx or a lost connection. */
  retries: number;
  signal?: AbortSignal | undefined;
  /** Told the version of the agent that is asked, before anything is sent. */
  onVersion?: ((version: number) => void) | undefined;
  /** Gets each piece of the answer as it comes. */
  onDelta?: ((content: string) => void) | undefined;
  /**
   * The pieces so far do not count any more: a new try begins, a tool was called, or the answer broke the output schema.
   * Without it nothing that was given out is taken back, and an answer in JSON comes in one piece.
   */
  onRestart?: (() => void) | undefined;
  /** Gets each try of a request that is made more than once, as it ends. */
  onAttempt?: ((attempt: CallAttempt) => void) | undefined;
  /** Calls of one round begin together and end in any order. */
  onToolCall?: ((call: ToolUse) => void) | undefined;
  onToolResult?: ((call: ToolUse, answer: ToolAnswer) => void) | undefined;
  /**
   * Told what the call has used and done so far, each time the model has answered: so it is known of a call that fails or is
   * ended, too. The list of tool calls goes on being filled.
   */
  onUsed?: ((usage: CallUsage) => void) | undefined;
}

export interface AgentCallResult extends Omit<ChatLoopResult, "tool_calls"> {
  provider: ProviderId;
  /** US dollars; null when the price is not known. */
  cost: number | null;
  /** With what the tools answered, cut to what a run keeps. */
  tool_calls: RunToolCall[];
}

/**
 * Asks an agent once, as it is configured now, with its tools and skills. Needs no HTTP request: the run engine calls it
 * too.
 * @returns the answer; tokens and cost of all rounds together, and every tool call in the order in which they began
 * @throws AppError NOT_FOUND when the project has no such agent; ProviderError (UPSTREAM_ERROR) with the provider's words;
 *   OverBudget; the signal's reason when it fires; `onUsed` has told what was used before
 */
export async function runAgentCall(call: RunAgentCall): Promise<AgentCallResult> {
  const { project_id, agent_id, found, execution_id, message_id, message, history, said = [], onVersion, onUsed, ...rest } = call;
  const agent = !found ? await findAgent(project_id, agent_id) : "agent" in found ? agentOf(found) : found;
  onVersion?.(agent.version);
  const endpoint = endpointOf(agent.llm_key, unsealOften);
  const { model, llm_key_id } = agent;
  const { provider, baseUrl } = endpoint;
  const total = new Total({ agent_id: agent.id, llm_key_id, provider, model });
  const { question, close } = await composeQuestion({ ...toAgent(agent), project_id, endpoint }, { message, history: history ?? [] });
  const { calls, ...record } = recordToolCalls(rest);
  const place = { provider, model, baseUrl, prices: ModelPrices.parse(agent.llm_key.prices) };
  const meter = new PaidMeter({ project_id, agent_id: agent.id, llm_key_id, execution_id, message_id }, place, (used) => {
    total.add(used);
    if (total.usage) onUsed?.({ ...total.usage, tool_calls: calls });
  });
  try {
    const maxRounds = MOST_ROUNDS - said.filter(({ role }) => role === "assistant").length;
    const messages = [...question.messages, ...said];
    const result = await chatWithTools({ ...rest, ...record, ...question, messages, maxRounds, meter });
    return { ...result, provider, cost: total.usage?.cost ?? null, tool_calls: calls };
  } catch (error) {
    if (error instanceof OverBudget) error.said = error.messages.slice(question.messages.length);
    throw error;
  } finally {
    close();
  }
}

/** Adds up what one call of an agent uses, answer by answer of its model. */
class Total {
  readonly #who: Pick<CallUsage, "agent_id" | "llm_key_id" | "provider" | "model">;
  #input = 0;
  #cached = 0;
  #output = 0;
  #cost: number | null = 0;
  #answers = 0;

  constructor(who: Pick<CallUsage, "agent_id" | "llm_key_id" | "provider" | "model">) {
    this.#who = who;
  }

  add(used: Used): void {
    this.#answers += 1;
    this.#input += used.input_tokens;
    this.#cached += used.cached_tokens ?? 0;
    this.#output += used.output_tokens;
    this.#cost = this.#cost === null || used.cost === null ? null : Number((this.#cost + used.cost).toFixed(12));
  }

  /** What was used; undefined before the model has answered once. The cost is null as soon as that of one answer is not known. */
  get usage(): Omit<CallUsage, "tool_calls"> | undefined {
    if (this.#answers === 0) return undefined;
    return { ...this.#who, input_tokens: this.#input, cached_tokens: this.#cached, output_tokens: this.#output, cost: this.#cost };
  }
}

type ToolHooks = Required<Pick<ChatLoopRequest, "onToolCall" | "onToolResult">>;

/** How many sources a run keeps of one call of an agent; one search has at most 20. */
const KEPT_SOURCES = 200;

/** Notes each use of a tool with what came of it, on its way to whoever else listens. */
function recordToolCalls(listener: Partial<ToolHooks>): ToolHooks & { calls: RunToolCall[] } {
  const calls: RunToolCall[] = [];
  // By the use itself: ids are unique in one round only.
  const records = new Map<ToolUse, RunToolCall>();
  let left = KEPT_SOURCES;
  return {
    calls,
    onToolCall(use) {
      const record = { name: use.name, args: use.args };
      records.set(use, record);
      calls.push(record);
      listener.onToolCall?.(use);
    },
    onToolResult(use, answer) {
      const record = records.get(use);
      const sources = answer.sources?.slice(0, left) ?? [];
      left -= sources.length;
      if (record)
        Object.assign(record, {
          result: cutResult(answer.result, KEPT_RESULT_CHARACTERS),
          success: answer.success,
          ...(sources.length > 0 && { sources }),
        });
      listener.onToolResult?.(use, answer);
    },
  };
}
