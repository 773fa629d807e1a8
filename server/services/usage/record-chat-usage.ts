import { v7 as uuid } from "uuid";
import { db } from "#server/db/client.ts";
import type { CallUsage } from "#server/engine/call-usage.ts";
import { log } from "#server/log.ts";
import { NO_WORKFLOW } from "#server/services/usage/no-workflow.ts";

/**
 * Counts a call that an agent made outside of runs. Runs count theirs themselves, together with the results.
 * Never throws: an answer is worth more than its count.
 */
export async function recordChatUsage(project_id: string, usage: CallUsage | undefined): Promise<void> {
  if (!usage) return;
  const { agent_id, provider, model, input_tokens, output_tokens, cost } = usage;
  try {
    await db().usageCall.create({
      data: {
        id: uuid(),
        project_id,
        day: new Date(),
        source: "chat",
        workflow_id: NO_WORKFLOW,
        agent_id,
        provider,
        model,
        input_tokens,
        output_tokens,
        cost,
      },
    });
  } catch (error) {
    log.warn({ err: error, project_id, agent_id }, "what a chat used could not be counted");
  }
}
