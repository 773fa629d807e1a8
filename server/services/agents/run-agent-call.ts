import { type ChatLoopResult, chatWithTools, type ToolUse } from "#server/providers/chat-loop.ts";
import type { ProviderId } from "#server/providers/kinds.ts";
import { Agent } from "#server/schemas/agent.ts";
import { findAgent } from "#server/services/agents/find-agent.ts";
import { toolsOfAgent } from "#server/services/agents/tools-of-agent.ts";
import { endpointOf } from "#server/services/llm-keys/endpoint-of.ts";
import type { ToolAnswer } from "#server/tools/tool.ts";

export interface RunAgentCall {
  project_id: string;
  agent_id: string;
  /** What to ask. */
  message: string;
  /** Earlier turns, oldest first. */
  history?: { role: "user" | "assistant"; content: string }[];
  /** For the whole call: tries, pauses and tools included. */
  timeoutMs: number;
  /** Further tries of each request after a 429, a 5xx or a lost connection. */
  retries: number;
  signal?: AbortSignal | undefined;
  /** Gets each piece of the answer as it comes. */
  onDelta?: ((content: string) => void) | undefined;
  /**
   * The pieces so far do not count any more: a new try begins, a tool was called, or the answer broke the output schema.
   * Without it nothing that was given out is taken back, and an answer in JSON comes in one piece.
   */
  onRestart?: (() => void) | undefined;
  /** Calls of one round begin together and end in any order. */
  onToolCall?: ((call: ToolUse) => void) | undefined;
  onToolResult?: ((call: ToolUse, answer: ToolAnswer) => void) | undefined;
}

export interface AgentCallResult extends ChatLoopResult {
  provider: ProviderId;
}

/**
 * Asks an agent once, as it is configured now, with its tools and skills. Needs no HTTP request: the run engine calls it
 * too.
 * @returns the answer; tokens of all rounds together, and every tool call in the order in which they began
 * @throws AppError NOT_FOUND when the project has no such agent; ProviderError (UPSTREAM_ERROR) with the provider's words;
 *   the signal's reason when it fires
 */
export async function runAgentCall(call: RunAgentCall): Promise<AgentCallResult> {
  const { project_id, agent_id, message, history = [], ...rest } = call;
  const agent = await findAgent(project_id, agent_id);
  const endpoint = endpointOf(agent.llm_key);
  const { model, temperature, max_tokens } = agent;
  const { tools, systemPrompt, close } = await toolsOfAgent(agent);
  try {
    const result = await chatWithTools({
      ...rest,
      endpoint,
      model,
      temperature,
      max_tokens,
      tools,
      answerSchema: Agent.shape.output_schema.parse(agent.output_schema),
      messages: [
        ...(systemPrompt ? [{ role: "system" as const, content: systemPrompt }] : []),
        // A turn without text says nothing, and vendors refuse it.
        ...history.filter(({ content }) => content !== ""),
        { role: "user", content: message },
      ],
    });
    return { ...result, provider: endpoint.provider };
  } finally {
    close();
  }
}
