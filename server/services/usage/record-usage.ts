import { v7 as uuid } from "uuid";
import { db } from "#server/db/client.ts";
import type { CallUsage } from "#server/engine/call-usage.ts";
import { log } from "#server/log.ts";
import { NO_ONE } from "#server/services/usage/no-one.ts";

/**
 * Counts a call of a model outside of runs: of an agent that is tried, or for the vectors of knowledge, whose `agent_id` is
 * NO_ONE. Runs count the calls of their nodes themselves, together with the results.
 * Never throws: an answer is worth more than its count.
 */
export async function recordUsage(
  project_id: string,
  source: "chat" | "knowledge",
  usage: Omit<CallUsage, "cached_tokens" | "tool_calls"> | undefined,
): Promise<void> {
  if (!usage) return;
  const { agent_id, provider, model, input_tokens, output_tokens, cost } = usage;
  const counted = { agent_id, provider, model, input_tokens, output_tokens, cost };
  try {
    await db().usageCall.create({ data: { id: uuid(), project_id, day: new Date(), source, workflow_id: NO_ONE, ...counted } });
  } catch (error) {
    log.warn({ err: error, project_id, agent_id }, "what a call used could not be counted");
  }
}
