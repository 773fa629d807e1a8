import type { z } from "zod";
import { type AgentCallResult, type RunAgentCall, runAgentCall } from "#server/features/agents/run-agent-call.ts";
import type { AgentReply, ChatBody, ChatEvent, TestAgentInput } from "#server/features/agents/schema.ts";
import { projectMask } from "#server/features/credentials/project-mask.ts";
import { recordUsage } from "#server/features/usage/record.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { withMask } from "#server/platform/mask-scope.ts";
import { type Masker, unmasked } from "#server/platform/masking/masker.ts";
import type { CallUsage } from "#server/runs/ports.ts";

type Listeners = Pick<RunAgentCall, "onDelta" | "onToolCall" | "onToolResult">;

/** Whoever listens to a call hears nothing of the project's secrets. */
function maskedListeners({ onDelta, onToolCall, onToolResult }: Listeners, masker: Masker): Listeners & { end(): void } {
  let stream = masker.stream();
  const give = (text: string) => text !== "" && onDelta?.(text);
  const end = () => {
    give(stream.end());
    stream = masker.stream();
  };
  return {
    ...(onDelta && { onDelta: (content) => void give(stream.push(content)) }),
    onToolCall(use) {
      end();
      onToolCall?.({ ...use, args: masker.deep(use.args) });
    },
    onToolResult: (use, answer) => onToolResult?.({ ...use, args: masker.deep(use.args) }, masker.deep(answer)),
    end,
  };
}

/**
 * Asks an agent outside of a run, and counts what that used, also when the call fails or is ended. A secret of the project
 * that its model, a tool or a vendor tells again is masked, as in runs.
 * @throws as runAgentCall does
 */
async function askAgent(call: Omit<RunAgentCall, "onUsed">): Promise<AgentCallResult> {
  const masker = await projectMask(call.project_id);
  const { end, ...listeners } = maskedListeners(call, masker);
  let used: CallUsage | undefined;
  const ask = () =>
    runAgentCall({
      ...call,
      ...(masker !== unmasked && listeners),
      onUsed: (usage) => {
        used = usage;
      },
    });
  try {
    const result = await withMask(masker.text, ask);
    end();
    return { ...result, text: masker.text(result.text), tool_calls: masker.deep(result.tool_calls) };
  } finally {
    await recordUsage(call.project_id, "chat", used);
  }
}

/** The answer of a chat or a test. What the tools said is the stream's to tell: the record of a call is its name and arguments. */
const agentReply = ({ text, tool_calls, cached_tokens: _, ...rest }: AgentCallResult): AgentReply => ({
  response: text,
  ...rest,
  tool_calls: tool_calls.map(({ name, args }) => ({ name, args })),
});

/** A chat may use its tools several times. */
const CHAT_MS = 300_000;

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
    timeoutMs: CHAT_MS,
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

const TEST_MS = 120_000;

/**
 * Asks an agent once and waits for the whole answer.
 * @throws AppError NOT_FOUND; UPSTREAM_ERROR with the provider's message
 */
export async function testAgent(principal: ProjectPrincipal, { agent_id, message }: z.infer<typeof TestAgentInput>): Promise<AgentReply> {
  const result = await askAgent({ project_id: principal.project.id, agent_id, message, timeoutMs: TEST_MS, retries: 1 });
  return agentReply(result);
}
