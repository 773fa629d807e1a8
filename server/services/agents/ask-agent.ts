import { usageOf } from "#server/engine/call-usage.ts";
import { type AgentCallResult, type RunAgentCall, runAgentCall } from "#server/services/agents/run-agent-call.ts";
import { recordChatUsage } from "#server/services/usage/record-chat-usage.ts";

/**
 * Asks an agent outside of a run, and counts what that used, also when the call fails or is ended.
 * @throws as runAgentCall does
 */
export async function askAgent(call: RunAgentCall): Promise<AgentCallResult> {
  try {
    const result = await runAgentCall(call);
    await recordChatUsage(call.project_id, { ...result, agent_id: call.agent_id });
    return result;
  } catch (error) {
    await recordChatUsage(call.project_id, usageOf(error));
    throw error;
  }
}
