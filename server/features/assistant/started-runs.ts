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
