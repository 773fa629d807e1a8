import type { Agent } from "#server/features/agents/schema.ts";
import { type AgentEquipment, type Equipped, toolsOfAgent } from "#server/features/agents/tools-of-agent.ts";
import type { ChatMessage, ChatQuestion } from "#server/llm/chat-body.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";

/** An agent as far as its model gets to know it: as it is stored, or as a form that is not saved yet has it. */
export interface AskedAgent extends Equipped, Pick<Agent, "model" | "temperature" | "max_tokens" | "output_schema"> {
  endpoint: ModelEndpoint;
}

/** What is said in one call. */
export interface SaidToAgent {
  message: string;
  /** Earlier turns, oldest first. */
  history?: readonly { role: "user" | "assistant"; content: string }[];
}

export interface ComposedQuestion extends Pick<AgentEquipment, "close"> {
  question: ChatQuestion & Pick<AgentEquipment, "tools">;
}

/**
 * Puts together what an agent's model is asked: system prompt, skills, tools, the form of the answer, and what is said. A
 * call and the preview of one both come from here, so that a preview shows what is sent.
 * @returns the question, and `close`, which must be called however the call ended
 */
export async function composeQuestion(agent: AskedAgent, { message, history = [] }: SaidToAgent): Promise<ComposedQuestion> {
  const { endpoint, model, temperature, max_tokens, output_schema } = agent;
  const { tools, systemPrompt, close } = await toolsOfAgent(agent);
  const messages: ChatMessage[] = [
    ...(systemPrompt ? [{ role: "system" as const, content: systemPrompt }] : []),
    // A turn without text says nothing, and vendors refuse it, as they do blanks.
    ...history.filter(({ content }) => content.trim() !== ""),
    { role: "user", content: message },
  ];
  return { question: { endpoint, model, temperature, max_tokens, tools, answerSchema: output_schema, messages }, close };
}
