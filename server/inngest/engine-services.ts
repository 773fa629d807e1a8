import type { EngineServices } from "#server/engine/ports.ts";
import { runStore } from "#server/engine/run-store.ts";
import { agentNames } from "#server/services/agents/agent-names.ts";
import { runAgentCall } from "#server/services/agents/run-agent-call.ts";
import { redispatch } from "#server/services/executions/redispatch.ts";

/** The run loop's ports, plugged into the real services. */
export const engineServices: EngineServices & { continueAsNew: typeof redispatch } = {
  store: runStore,
  clock: { now: () => new Date() },
  agentNames,
  callAgent: async ({ timeout, ...call }) => {
    const { text, ...reply } = await runAgentCall({ ...call, timeoutMs: timeout * 1000 });
    return {
      output: text,
      model: reply.model,
      input_tokens: reply.input_tokens,
      output_tokens: reply.output_tokens,
      tool_calls: reply.tool_calls,
    };
  },
  continueAsNew: redispatch,
};
