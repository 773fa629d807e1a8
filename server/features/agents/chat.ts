import type { z } from "zod";
import { assertAgent } from "#server/features/agents/find-agent.ts";
import { type AgentCallResult, type RunAgentCall, runAgentCall } from "#server/features/agents/run-agent-call.ts";
import type { AgentReply, ChatBody, ChatEvent, TestAgentInput, TryAgentBody } from "#server/features/agents/schema.ts";
import { unsavedAgent } from "#server/features/agents/service.ts";
import { projectMask } from "#server/features/credentials/project-mask.ts";
import { NO_ONE, recordUsage } from "#server/features/usage/record.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { invalidField, isAppError } from "#server/platform/errors.ts";
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
async function askAgent(call: Omit<RunAgentCall, "onUsed" | "onVersion">): Promise<AgentCallResult & { agent_version: number | null }> {
  const masker = await projectMask(call.project_id);
  const { end, ...listeners } = maskedListeners(call, masker);
  let used: CallUsage | undefined;
  let agent_version: number | null = null;
  const ask = () =>
    runAgentCall({
      ...call,
      ...(masker !== unmasked && listeners),
      onVersion: (version) => {
        agent_version = version || null;
      },
      onUsed: (usage) => {
        used = usage;
      },
    });
  try {
    const result = await withMask(masker.text, ask);
    end();
    return { ...result, agent_version, text: await masker.inSlices(result.text), tool_calls: await masker.inSlices(result.tool_calls) };
  } finally {
    await recordUsage(call.project_id, "chat", used);
  }
}

/** The answer of a chat or a test. What the tools said is the stream's to tell: the record of a call is its name and arguments. */
const agentReply = ({ text, tool_calls, cached_tokens: _, ...rest }: Awaited<ReturnType<typeof askAgent>>): AgentReply => ({
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
  tell?: ((event: ChatEvent) => void) | undefined;
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
  return agentReply(await askAgent({ project_id: principal.project.id, agent_id, message, history, ...chatting({ signal, tell }) }));
}

const chatting = ({ signal, tell }: ChatHandlers) => ({
  timeoutMs: CHAT_MS,
  retries: 2,
  signal,
  ...(tell &&
    ({
      onDelta: (content) => tell({ type: "delta", content }),
      onToolCall: ({ id, name, args }) => tell({ type: "tool_call", id, name, args }),
      onToolResult: ({ id, name }, answer) => tell({ type: "tool_result", id, name, ...answer }),
    } satisfies Listeners)),
});

/**
 * Chats with a configuration as it is given, saved or not. Nothing of it is kept but what it used.
 * @throws AppError VALIDATION_ERROR as when an agent is created with it, or for an `agent_id` that the project does not have;
 *   UPSTREAM_ERROR with the provider's message; the signal's reason when it fires
 */
export async function tryAgent(
  { project }: ProjectPrincipal,
  { config, agent_id, message, history }: Omit<TryAgentBody, "stream">,
  handlers: ChatHandlers,
): Promise<AgentReply> {
  const id = agent_id === undefined ? NO_ONE : await knownAgent(project.id, agent_id);
  const found = await unsavedAgent(project.id, config, id);
  return agentReply(await askAgent({ project_id: project.id, agent_id: id, found, message, history, ...chatting(handlers) }));
}

async function knownAgent(project_id: string, agent_id: string): Promise<string> {
  const { id } = await assertAgent(project_id, agent_id).catch((error: unknown) => {
    if (!isAppError(error)) throw error;
    throw invalidField("agent_id", error.message);
  });
  return id;
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
