import { z } from "zod";
import { ExecutionFilter, ExecutionSummary, nodeCost, reuseStale, runValues } from "#server/runs/schema.ts";
import { cutOutput, ExecutionStatus, NodeStatus } from "#server/runs/status-schema.ts";
import { Id, Timestamp } from "#server/shared/primitives-schema.ts";
import { graphInputShape } from "#server/workflow/schema.ts";

/** How many executions one request may name by their ids, and by a filter; and how many it may start anew. */
export const MOST_IDS = 1000;
export const MOST_MATCHING = 10_000;
export const MOST_RERUNS = 1000;

export const BulkKind = z.enum(["cancel", "rerun", "delete"]);
export type BulkKind = z.infer<typeof BulkKind>;

export const BulkInput = z.strictObject({
  action: BulkKind.meta({ example: "cancel" }),
  ids: z.array(Id).min(1).max(MOST_IDS).optional().meta({ description: "These executions; what is not the project's is passed over" }),
  filter: ExecutionFilter.optional().meta({
    description: `All executions that match now, in place of ids: at most ${MOST_MATCHING}, of a rerun ${MOST_RERUNS}. Fields as of the list`,
    example: { status: "running,paused" },
  }),
  use_current: z
    .boolean()
    .default(false)
    .meta({ description: "Of a rerun: true runs the workflow as it is saved now; false the graph that the original ran" }),
});
export type BulkInput = z.infer<typeof BulkInput>;

export const BulkRef = z.strictObject({ bulk_id: Id });

export const BulkResult = z
  .object({
    id: Id.meta({ description: "Where to read how far it is: GET /bulk-actions/{id}" }),
    count: z.number().int().meta({ description: "How many executions it is about", example: 12 }),
  })
  .meta({ id: "BulkResult" });

export const BulkAction = z
  .object({
    id: Id,
    action: BulkKind,
    count: z.number().int().meta({ description: "How many executions it is about", example: 12 }),
    done: z.number().int().meta({ description: "How many of them were dealt with so far; not all, where it was stopped", example: 12 }),
    succeeded: z.number().int().meta({ example: 11 }),
    skipped: z.number().int().meta({
      description: "Where there was nothing to do: to cancel what has ended, to rerun or delete what has not, or it is gone",
      example: 1,
    }),
    failed: z.number().int().meta({ example: 0 }),
    error: z.string().nullable().meta({ description: "Of those that failed: why the first one did", example: null }),
    created_at: Timestamp,
    completed_at: Timestamp.nullable().meta({ description: "null while it goes on" }),
  })
  .meta({ id: "BulkAction" });
export type BulkAction = z.infer<typeof BulkAction>;

export const ForkInput = z.strictObject({
  execution_id: Id,
  ...z.object(graphInputShape).partial().shape,
  ...runValues,
  from_node_id: z.string().min(1).max(100).optional().meta({
    description: "Runs this node and what depends on it again as well, also where nothing before it has changed",
  }),
  ...reuseStale,
});
export type ForkInput = z.infer<typeof ForkInput>;

export const ForkResult = z
  .object({ execution_id: Id, status: ExecutionStatus.meta({ example: "pending" }), forked_from: Id })
  .meta({ id: "ForkResult" });

/** Longest output of a node that a comparison shows, in characters. */
export const MOST_COMPARED = 20_000;

export const ComparedNode = z
  .object({
    status: NodeStatus,
    output: z.string().nullable().meta({ description: "Inside a loop that of the latest iteration" }),
    error: z.string().nullable(),
    reused: z
      .boolean()
      .meta({ description: "true: taken over from the execution that this one reruns or was forked from", example: false }),
    items: z.number().int().nullable().meta({ description: "Of a loop: how many items it ran for", example: null }),
    duration_ms: z.number().int().nullable().meta({ description: "Inside a loop of all items together" }),
    input_tokens: z.number().int().meta({ description: "Of all tries and items" }),
    output_tokens: z.number().int(),
    cost: nodeCost,
    ...cutOutput,
  })
  .meta({ id: "ComparedNode" });
export type ComparedNode = z.infer<typeof ComparedNode>;

const ComparedRow = z.object({
  node_id: z.string().meta({ example: "agent-1" }),
  label: z.string().meta({ example: "Writer" }),
  node_type: z.string().meta({ example: "agentNode" }),
  same: z.boolean().meta({ description: "Whether status, output and error are the same", example: false }),
  changed: z
    .array(z.object({ field: z.string().meta({ example: "prompt" }), a: z.unknown().optional(), b: z.unknown().optional() }))
    .meta({ description: "Fields of the node that were not the same in both graphs" }),
  a: ComparedNode.nullable().meta({ description: "null: its graph has no such node" }),
  b: ComparedNode.nullable(),
});

const side = {
  status: "complete",
  error: null,
  reused: false,
  items: null,
  duration_ms: 1200,
  input_tokens: 12,
  output_tokens: 30,
  cost: 0.000033,
};
const COMPARED = {
  ...{ node_id: "agent-1", label: "Writer", node_type: "agentNode", same: false },
  changed: [{ field: "input", a: "About {{trigger.output}}", b: "Briefly about {{trigger.output}}" }],
  a: { ...side, output: "Tea is a drink with a long history." },
  b: { ...side, output: "Tea is a drink." },
};

export const CompareInput = z.strictObject({ execution_id: Id, other_id: Id });
export const Comparison = z
  .object({
    nodes: z.array(ComparedRow).meta({ example: [COMPARED] }),
    edges_changed: z.number().int().meta({ description: "Connections that only one graph has", example: 0 }),
    totals: z.object({ a: ExecutionSummary, b: ExecutionSummary }),
  })
  .meta({ id: "ExecutionComparison" });
export type Comparison = z.infer<typeof Comparison>;

/** How many views one person may keep in a project. */
export const MOST_VIEWS = 50;

/** Filters of the runs list under a name. Not part of the REST API: they are for one person's page. */
export const SaveViewInput = z.strictObject({
  name: z.string().trim().min(1, "Give it a name.").max(60).meta({ title: "Name" }),
  query: z.string().max(1000),
});
export type SaveViewInput = z.infer<typeof SaveViewInput>;
export const RunView = z.object({ id: Id, ...SaveViewInput.shape });
export type RunView = z.infer<typeof RunView>;
export const RunViewRef = z.strictObject({ view_id: Id });
