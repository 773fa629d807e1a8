import type { AgentCallResult } from "#server/features/agents/run-agent-call.ts";
import type { AgentReply } from "#server/features/agents/schema.ts";

/** The answer of a chat or a test. What the tools said is the stream's to tell: the record of a call is its name and arguments. */
export const agentReply = ({ text, tool_calls, cached_tokens: _, ...rest }: AgentCallResult): AgentReply => ({
  response: text,
  ...rest,
  tool_calls: tool_calls.map(({ name, args }) => ({ name, args })),
});
