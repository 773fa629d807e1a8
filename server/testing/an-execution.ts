import type { ExecutionEvent } from "#server/runs/event-schema.ts";
import type { Execution } from "#server/runs/schema.ts";

const TIME = "2026-11-21T08:00:00.000Z";

/** An execution as the API tells it, of which nothing matters but its state and its nodes. */
export const anExecution = (status: Execution["status"], node_results: Execution["node_results"]): Execution => ({
  id: "x",
  workflow_id: "w",
  workflow_name: "W",
  version: null,
  status,
  trigger: "manual",
  input: "",
  output: null,
  error: null,
  started_by: null,
  rerun_of: null,
  parent: null,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  cost_is_partial: false,
  created_at: TIME,
  started_at: null,
  completed_at: null,
  duration_ms: null,
  outputs: [],
  reviews: [],
  inngest_run_url: null,
  node_results,
});

/** What each event of that execution has. */
export const eventFields = { execution_id: "x", timestamp: TIME };

/** The event of a node that ended with this output. */
export const nodeComplete = (node_id: string, output: string): Extract<ExecutionEvent, { type: "node_complete" }> => ({
  type: "node_complete",
  ...eventFields,
  node_id,
  output,
  duration_ms: 5,
  input_tokens: 3,
  output_tokens: 2,
});
