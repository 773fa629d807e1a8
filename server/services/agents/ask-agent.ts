import type { CallUsage } from "#server/engine/call-usage.ts";
import { type AgentCallResult, type RunAgentCall, runAgentCall } from "#server/services/agents/run-agent-call.ts";
import { recordUsage } from "#server/services/usage/record-usage.ts";

/**
 * Asks an agent outside of a run, and counts what that used, also when the call fails or is ended.
 * @throws as runAgentCall does
 */
export async function askAgent(call: Omit<RunAgentCall, "onUsed">): Promise<AgentCallResult> {
  let used: CallUsage | undefined;
  try {
    return await runAgentCall({
      ...call,
      onUsed: (usage) => {
        used = usage;
      },
    });
  } finally {
    await recordUsage(call.project_id, "chat", used);
  }
}
