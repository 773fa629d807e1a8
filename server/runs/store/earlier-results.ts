import type pg from "pg";

// Of a loop that is taken over, its body too: the Output nodes in there are results of the run. A Terminate ($4) ended
// the run that it was reached in; taken over it is only done, and its handle, which says how it ended that one, is left out.
// Copies get the time and the count of the ids that they are made from, so that logs list them in the same order.
// Two copies are never joined: nothing has an index there, and of a long loop that took minutes.
const TAKE_OVER = `
  WITH source AS MATERIALIZED (
    SELECT DISTINCT ON (node_id, iteration) *, (left(id::text, 26) || right(gen_random_uuid()::text, 10))::uuid AS copy_id FROM node_runs
    WHERE execution_id = $1 AND node_id = ANY($3) AND status IN ('complete', 'failed', 'skipped')
    ORDER BY node_id, iteration, attempt DESC
  ), copied AS (
    INSERT INTO node_runs (id, execution_id, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, cached_tokens, output_tokens, cost, items, is_cut_off, reused)
    SELECT copy_id, $2, node_id, iteration, 1, status, CASE WHEN node_id <> ALL($4) THEN handle END, error, started_at, completed_at, duration_ms, model, input_tokens, cached_tokens, output_tokens, cost, items, is_cut_off, true FROM source
  ), kept AS (
    INSERT INTO node_run_values (node_run_id, input, output, tool_calls, details, input_hash, output_hash)
    SELECT source.copy_id, v.input, v.output, v.tool_calls, v.details, v.input_hash, v.output_hash
    FROM source JOIN node_run_values v ON v.node_run_id = source.id RETURNING input_hash, output_hash
  )
  INSERT INTO run_texts (execution_id, hash, part, text, characters)
  SELECT $2, t.hash, t.part, t.text, t.characters FROM run_texts t
  WHERE t.execution_id = $1 AND t.hash IN (SELECT input_hash FROM kept UNION SELECT output_hash FROM kept)`;

// About what it took over: no more than the other holds.
const COUNT_RESULTS = `
  WITH more AS (SELECT $2::bigint + coalesce((SELECT bytes FROM executions WHERE id = $3), 0) AS bytes)
  UPDATE executions e SET bytes = e.bytes + more.bytes FROM more WHERE e.id = $1 RETURNING more.bytes::float8 AS bytes`;

// What was never run, but is there from the beginning: nodes that are left out, and pinned ones before which nothing runs.
const GIVE = `
  WITH given AS MATERIALIZED (
    SELECT gen_random_uuid() AS id, * FROM jsonb_to_recordset($2::jsonb) AS g(node_id text, handle text, output text)
  ), written AS (
    INSERT INTO node_runs (id, execution_id, node_id, attempt, status, handle, started_at, completed_at, duration_ms, reused)
    SELECT id, $1, node_id, 1, CASE WHEN output IS NULL THEN 'skipped' ELSE 'complete' END::"NodeStatus", handle,
      CASE WHEN output IS NOT NULL THEN now() END, now(), CASE WHEN output IS NOT NULL THEN 0 END, true
    FROM given RETURNING id
  )
  INSERT INTO node_run_values (node_run_id, output)
  SELECT given.id, given.output FROM given JOIN written ON written.id = given.id WHERE given.output IS NOT NULL`;

/** Results that a run has before it begins. */
export interface EarlierResults {
  /** Nodes whose results of another run are taken over; bodies of loops named beside their loop. */
  taken?: { execution_id: string; node_ids: readonly string[]; terminate_ids: readonly string[] };
  /** Nodes with an output of their own; without one they take no part and count as skipped. */
  given?: readonly { node_id: string; output: string | null; handle: string | null }[];
}

/**
 * Writes what a new run has before it begins.
 * @param on a client within the transaction that writes the run
 * @returns about how many bytes that is
 */
export async function giveResults(
  on: Pick<pg.Pool, "query">,
  execution_id: string,
  { taken, given = [] }: EarlierResults,
): Promise<number> {
  const from = taken?.node_ids.length ? taken : undefined;
  if (!from && !given.length) return 0;
  const texts = JSON.stringify(given);
  if (from) await on.query(TAKE_OVER, [from.execution_id, execution_id, from.node_ids, from.terminate_ids]);
  if (given.length) await on.query(GIVE, [execution_id, texts]);
  const { rows } = await on.query<{ bytes: number }>(COUNT_RESULTS, [execution_id, texts.length, from?.execution_id]);
  return rows[0]?.bytes ?? 0;
}
