import { raw, type Sql, sql } from "#server/platform/db/sql.ts";

// Columns of node_runs and of the tables beside it, for the statements that insert a run with its first rows and that commit more.

/** Columns of `jsonb_to_recordset` over the JSON of `formatRows`. */
export const JSON_COLUMNS = raw(`
      id uuid, node_id text, iteration text, attempt int, status "NodeStatus", handle text, error text,
      started_at timestamptz, completed_at timestamptz, duration_ms float8,
      model text, input_tokens int, output_tokens int, items int, is_interrupted boolean, is_cut_off boolean,
      input text, output text, tool_calls jsonb, details jsonb, input_hash text, output_hash text`);

const ROW_FIELDS = `id, node_id, iteration, attempt, status, handle, error,
      started_at, completed_at, duration_ms, model, input_tokens, output_tokens, items`;

/** Columns of `node_runs`. */
export const ROW_COLUMNS = raw(`execution_id, ${ROW_FIELDS}, is_interrupted, is_cut_off`);
/** Values of those columns. */
export const ROW_VALUES = raw(`execution_id, ${ROW_FIELDS}, coalesce(is_interrupted, false), coalesce(is_cut_off, false)`);

/** Columns of `node_run_values` beside the id of the row. */
export const VALUE_COLUMNS = raw("input, output, tool_calls, details, input_hash, output_hash");
/** Condition: a row has any of these values. */
export const HAS_VALUES = raw("(coalesce(input, output, input_hash, output_hash) IS NOT NULL OR details IS NOT NULL)");

/** Columns of `usage_calls`, which has one row for each call: a sum would make calls that end at once wait for each other. */
export const USAGE_COLUMNS = raw(`id, project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model,
      input_tokens, output_tokens, cost`);

/** `llm_key_id` of a call without an LLM key. */
const NO_KEY = "'00000000-0000-0000-0000-000000000000'";

/** Values of those columns. @param call alias of the rows of calls, `run` of the row with the run's project and workflow */
export const usageValues = (call: string, run: string): Sql =>
  raw(`${call}.id, ${run}.project_id, (${call}.completed_at AT TIME ZONE 'UTC')::date, 'run', ${run}.workflow_id,
      ${call}.agent_id, coalesce(${call}.llm_key_id, ${NO_KEY}), ${call}.provider, ${call}.model,
      ${call}.input_tokens, ${call}.output_tokens, ${call}.cost`);

/**
 * Inserts long texts of a run, as a further CTE.
 * @param run name of a CTE with at most one row, the run
 * @param lists hashes and texts, as `LongTexts.lists` has them
 */
export const insertTexts = (run: Sql, [hashes, texts]: readonly [hashes: string[], texts: string[]]): Sql => sql`
  ), texts AS (
    INSERT INTO run_texts (execution_id, hash, text, characters)
    SELECT ${run}.id, t.hash, t.text, length(t.text)
    FROM ${run}, unnest(${hashes}::text[], ${texts}::text[]) AS t(hash, text)
    ON CONFLICT DO NOTHING`;
