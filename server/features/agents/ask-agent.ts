import { type AgentCallResult, type RunAgentCall, runAgentCall } from "#server/features/agents/run-agent-call.ts";
import { projectMask } from "#server/features/credentials/project-mask.ts";
import { recordUsage } from "#server/features/usage/record.ts";
import { withMask } from "#server/platform/masking/mask-scope.ts";
import { type Masker, unmasked } from "#server/platform/masking/masker.ts";
import type { CallUsage } from "#server/runs/executor/call-usage.ts";

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
export async function askAgent(call: Omit<RunAgentCall, "onUsed">): Promise<AgentCallResult> {
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
