import type { ChatLoopRequest, ToolUse } from "#server/llm/chat-loop.ts";
import { cutResult } from "#server/llm/tools/tool.ts";
import { KEPT_RESULT_CHARACTERS, type RunToolCall } from "#server/runs/schema.ts";

type ToolHooks = Required<Pick<ChatLoopRequest, "onToolCall" | "onToolResult">>;

/** Notes each use of a tool with what came of it, on its way to whoever else listens. */
export function recordToolCalls(listener: Partial<ToolHooks>): ToolHooks & { calls: RunToolCall[] } {
  const calls: RunToolCall[] = [];
  // By the use itself: ids are unique in one round only.
  const records = new Map<ToolUse, RunToolCall>();
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
      if (record) Object.assign(record, { result: cutResult(answer.result, KEPT_RESULT_CHARACTERS), success: answer.success });
      listener.onToolResult?.(use, answer);
    },
  };
}
