import { db } from "#server/platform/db/client.ts";

/** A message, and the thread that it is in. */
export interface Place {
  thread_id: string;
  message_id: string;
}

/** Tools that start a run. */
const STARTING = ["run_workflow", "rerun_from_node"];

/** The runs that were started about a message, in their order; `rerun_of` of those that repeat another. */
export async function startedRuns({ thread_id, message_id }: Place): Promise<{ execution_id: string; rerun_of: string | null }[]> {
  return db().$queryRaw`
    SELECT data->'refs'->>'execution_id' AS execution_id, data->'refs'->>'rerun_of' AS rerun_of FROM assistant_events
    WHERE thread_id = ${thread_id}::uuid AND message_id = ${message_id}::uuid AND type = 'tool_result'
      AND data->>'name' = ANY(${STARTING}) AND data->'refs' ? 'execution_id'
    ORDER BY seq`;
}

/** What these runs have used so far: US dollars where prices are known, and the tokens of runs where some price is not. */
export async function usedByRuns(execution_ids: readonly string[]): Promise<{ cost: number; unpriced: number }> {
  const [used] = await db().$queryRaw<{ cost: number; unpriced: number }[]>`
    SELECT coalesce(sum(cost), 0)::float8 AS cost,
      coalesce(sum(input_tokens + output_tokens) FILTER (WHERE cost IS NULL OR cost_is_partial), 0)::float8 AS unpriced
    FROM executions WHERE id = ANY(${execution_ids}::uuid[])`;
  return used ?? { cost: 0, unpriced: 0 };
}
