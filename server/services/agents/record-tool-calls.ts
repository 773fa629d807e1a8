import type { ChatLoopRequest, ToolUse } from "#server/providers/chat-loop.ts";
import { KEPT_RESULT_CHARACTERS, type RunToolCall } from "#server/schemas/execution.ts";
import { cutResult } from "#server/tools/tool.ts";

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
