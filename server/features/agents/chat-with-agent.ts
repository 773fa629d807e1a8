import { agentReply } from "#server/features/agents/agent-reply.ts";
import { askAgent } from "#server/features/agents/ask-agent.ts";
import type { AgentReply, ChatBody, ChatEvent } from "#server/features/agents/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

/** A chat may use its tools several times. */
const TIMEOUT_MS = 300_000;

export interface ChatHandlers {
  /** Ends the call at once. */
  signal: AbortSignal;
  /** Gets what happens as it happens, `done` and `error` excepted. */
  tell?: (event: ChatEvent) => void;
}

/**
 * Goes on with a conversation with an agent; what was said before comes along as `history`, nothing is kept here.
 * @throws AppError NOT_FOUND; UPSTREAM_ERROR with the provider's message; the signal's reason when it fires
 */
export async function chatWithAgent(
  principal: ProjectPrincipal,
  { agent_id, message, history }: Pick<ChatBody, "message" | "history"> & { agent_id: string },
  { signal, tell }: ChatHandlers,
): Promise<AgentReply> {
  const result = await askAgent({
    project_id: principal.project.id,
    agent_id,
    message,
    history,
    timeoutMs: TIMEOUT_MS,
    retries: 2,
    signal,
    ...(tell && {
      onDelta: (content) => tell({ type: "delta", content }),
      onToolCall: ({ id, name, args }) => tell({ type: "tool_call", id, name, args }),
      onToolResult: ({ id, name }, answer) => tell({ type: "tool_result", id, name, ...answer }),
    }),
  });
  return agentReply(result);
}
