import { type ChatMessage, type ChatResult, chat } from "#server/providers/chat.ts";
import type { ProviderId } from "#server/providers/kinds.ts";
import { findAgent } from "#server/services/agents/find-agent.ts";
import { endpointOf } from "#server/services/llm-keys/endpoint-of.ts";

export interface RunAgentCall {
  project_id: string;
  agent_id: string;
  /** What to ask. */
  message: string;
  /** Earlier turns, oldest first. */
  history?: { role: "user" | "assistant"; content: string }[];
  /** For the whole call, tries and pauses included. */
  timeoutMs: number;
  /** Further tries after a 429, a 5xx or a lost connection. */
  retries: number;
  signal?: AbortSignal | undefined;
  /** Gets each piece of the answer as it comes. */
  onDelta?: ((content: string) => void) | undefined;
  /** The pieces so far do not count any more: a new try begins. */
  onRestart?: (() => void) | undefined;
}

export interface AgentCallResult extends ChatResult {
  provider: ProviderId;
}

/**
 * Asks an agent once, as it is configured now. Needs no HTTP request: the run engine calls it too.
 * @throws AppError NOT_FOUND when the project has no such agent; ProviderError (UPSTREAM_ERROR) with the provider's words;
 *   the signal's reason when it fires
 */
export async function runAgentCall(call: RunAgentCall): Promise<AgentCallResult> {
  const { project_id, agent_id, message, history = [], timeoutMs, retries, signal, onDelta, onRestart } = call;
  const agent = await findAgent(project_id, agent_id);
  const endpoint = endpointOf(agent.llm_key);
  const { model, system_prompt, temperature, max_tokens } = agent;
  const messages: ChatMessage[] = [
    ...(system_prompt.trim() ? [{ role: "system" as const, content: system_prompt }] : []),
    ...history,
    { role: "user", content: message },
  ];
  const result = await chat({ endpoint, model, messages, temperature, max_tokens, timeoutMs, retries, signal, onDelta, onRestart });
  return { ...result, provider: endpoint.provider };
}
