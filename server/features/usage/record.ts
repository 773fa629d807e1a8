import { v7 as uuid } from "uuid";
import { db, inTransaction } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import type { CallUsage } from "#server/runs/ports.ts";

/** Stands in the key of a day's usage for the workflow or the agent of a call that had none. */
export const NO_ONE = "00000000-0000-0000-0000-000000000000";

/**
 * Counts a call of a model outside of runs: of an agent that is tried, or for the vectors of knowledge or the assistant, whose
 * `agent_id` is NO_ONE. Runs count the calls of their nodes themselves, together with the results.
 * Never throws: an answer is worth more than its count.
 */
export async function recordUsage(
  project_id: string,
  source: "chat" | "knowledge" | "assistant",
  usage: Omit<CallUsage, "cached_tokens" | "tool_calls"> | undefined,
): Promise<void> {
  if (!usage) return;
  const { agent_id, llm_key_id, provider, model, input_tokens, output_tokens, cost } = usage;
  const counted = { agent_id, llm_key_id, provider, model, input_tokens, output_tokens, cost };
  try {
    await db().usageCall.create({ data: { id: uuid(), project_id, day: new Date(), source, workflow_id: NO_ONE, ...counted } });
  } catch (error) {
    log.warn({ err: error, project_id, agent_id }, "what a call used could not be counted");
  }
}

/** How many calls one transaction takes in. */
const BATCH = 5000;
/** How long one turn may take, in milliseconds. */
const TURN_MS = 20_000;

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('fold-usage', 0))";
// One statement: a call is counted by itself or within its day, never both and never neither.
const FOLD = `
  WITH taken AS (
    DELETE FROM usage_calls WHERE id IN (SELECT id FROM usage_calls LIMIT $1)
    RETURNING project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model, input_tokens, output_tokens, cost
  ), folded AS (
    INSERT INTO usage_days (project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model, calls, calls_without_price, input_tokens, output_tokens, cost)
    SELECT project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model, count(*), count(*) FILTER (WHERE cost IS NULL),
      sum(input_tokens), sum(output_tokens), coalesce(sum(cost), 0)
    FROM taken GROUP BY project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model
    ON CONFLICT (project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model) DO UPDATE SET
      calls = usage_days.calls + excluded.calls, calls_without_price = usage_days.calls_without_price + excluded.calls_without_price,
      input_tokens = usage_days.input_tokens + excluded.input_tokens, output_tokens = usage_days.output_tokens + excluded.output_tokens,
      cost = usage_days.cost + excluded.cost
  )
  SELECT count(*)::int AS taken FROM taken`;

/**
 * Adds single calls to the sums of their days, so that a question about a year reads some hundred rows and not a million.
 * Calls are written one by one, because runs that end side by side would wait for each other at a sum.
 * @returns how many were added
 */
export async function foldUsage({ batch = BATCH, turnMs = TURN_MS } = {}): Promise<number> {
  const until = performance.now() + turnMs;
  for (let all = 0; ; ) {
    const taken = await inTransaction(async (client) => {
      await client.query(LOCK);
      const { rows } = await client.query<{ taken: number }>(FOLD, [batch]);
      return rows[0]?.taken ?? 0;
    });
    all += taken;
    if (taken < batch || performance.now() > until) return all;
  }
}
