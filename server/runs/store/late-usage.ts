import { named, sql } from "#server/platform/db/sql.ts";
import { log } from "#server/platform/log.ts";
import type { LedgerWrite, RunState } from "#server/runs/ports.ts";
import { formatJson } from "#server/runs/store/commit-json.ts";
import { USAGE_COLUMNS, usageValues } from "#server/runs/store/node-run-columns.ts";
import { retryQuery } from "#server/runs/store/sql.ts";

/** Implements RunStore.spent. */
export async function spent(run: RunState, rows: LedgerWrite[]): Promise<void> {
  try {
    await addUsage(run, rows);
    const partial = rows.flatMap(({ id, output }) => (output === null ? [] : [{ id, output }]));
    if (partial.length > 0) await addOutputs(run, partial);
  } catch (error) {
    log.warn({ err: error, execution_id: run.id }, "usage of interrupted calls could not be counted; it is lost");
  }
}

const USAGE_VALUES = usageValues("marked", "run");

/** Adds the usage of calls to their closed rows, to the run and to the project, once. Locks the run first, as all its writes do. */
async function addUsage({ id }: RunState, rows: LedgerWrite[]): Promise<void> {
  const statement = sql`
    WITH run AS MATERIALIZED (
      SELECT id, project_id, workflow_id
      FROM executions
      WHERE id = ${id}
      FOR UPDATE
    ), marked AS (
      UPDATE node_runs n
      SET model = call.model,
        input_tokens = call.input_tokens,
        cached_tokens = coalesce(call.cached_tokens, 0),
        output_tokens = call.output_tokens,
        cost = call.cost
      FROM run, jsonb_to_recordset(${formatJson(rows)}::jsonb) AS call(
        id uuid, agent_id uuid, llm_key_id uuid, provider text, model text, input_tokens int, cached_tokens int, output_tokens int,
        cost numeric, tool_calls jsonb)
      WHERE n.id = call.id
        AND call.agent_id IS NOT NULL
        AND n.execution_id = run.id
        AND n.model IS NULL
        AND n.status NOT IN ('running', 'waiting')
      RETURNING call.*, coalesce(n.completed_at, now()) AS completed_at
    ), valued AS (
      UPDATE node_run_values v
      SET tool_calls = marked.tool_calls
      FROM marked
      WHERE v.node_run_id = marked.id
    ), used AS (
      INSERT INTO usage_calls (${USAGE_COLUMNS})
      SELECT ${USAGE_VALUES}
      FROM marked, run
    ), sums AS (
      SELECT sum(input_tokens)::int AS input,
        sum(output_tokens)::int AS output,
        coalesce(sum(cost), 0) AS cost,
        bool_or(cost IS NULL) AS is_partial
      FROM marked
      HAVING count(*) > 0
    )
    UPDATE executions e
    SET input_tokens = e.input_tokens + sums.input,
      output_tokens = e.output_tokens + sums.output,
      cost = e.cost + sums.cost,
      cost_is_partial = e.cost_is_partial OR sums.is_partial
    FROM sums
    WHERE e.id = ${id}`;

  await retryQuery(named("run-spent", statement));
}

/** Stores what stopped calls had responded, where no output is stored. Locks the run, so that it is not deleted meanwhile. */
async function addOutputs({ id }: RunState, partial: Pick<LedgerWrite, "id" | "output">[]): Promise<void> {
  const statement = sql`
    WITH run AS MATERIALIZED (
      SELECT id
      FROM executions
      WHERE id = ${id}
      FOR UPDATE
    )
    INSERT INTO node_run_values AS v (node_run_id, output)
    SELECT n.id, call.output
    FROM run, node_runs n, jsonb_to_recordset(${formatJson(partial)}::jsonb) AS call(id uuid, output text)
    WHERE n.id = call.id
      AND n.execution_id = run.id
      AND n.status = 'skipped'
      AND call.output IS NOT NULL
    ON CONFLICT (node_run_id) DO UPDATE
    SET output = excluded.output
    WHERE v.output IS NULL
      AND v.output_hash IS NULL`;

  await retryQuery(named("run-stopped", statement));
}
