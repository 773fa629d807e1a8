import { z } from "zod";
import { answerTruncated, ExecutionStatus, NodeStatus, nodeOutput, stopped } from "#server/runs/status-schema.ts";
import { RunToolCall } from "#server/runs/tool-call-schema.ts";
import { executionStatuses, executionTriggers } from "#server/shared/execution-status.ts";
import { Id, pageOf, pageQuery, Role, TimeInput, Timestamp } from "#server/shared/primitives-schema.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";
import { graphShape } from "#server/workflow/schema.ts";

/** Place in the loops around a node, in answers. */
export const Iteration = z.string().nullable().meta({
  description: "Path of zero-based item indices in the loops around the node, such as 3 or 3.0; null outside loops",
  example: null,
});

/** The same in a body, where a client may also send the index as a number. `iterationPath` reads it. */
export const IterationInput = z
  .union([z.string().max(200), z.int().min(0).max(1_000_000)])
  .nullable()
  .meta({
    description:
      "Path of zero-based item indices in the loops around the node, such as 3 or 3.0; null outside loops. A plain integer is accepted",
    example: "3",
  });

/** Returns the path as it is stored: empty outside loops. */
export const iterationPath = (iteration: z.infer<typeof IterationInput>): string => (iteration === null ? "" : String(iteration));

/** The latest item that a node has worked on. */
export const LastItem = z.object({
  iteration: z.string(),
  status: z.enum(["complete", "failed"]),
  attempt: z.number().int(),
  started_at: Timestamp.nullable(),
  duration_ms: z.number().nullable(),
});
export type LastItem = z.infer<typeof LastItem>;

/** Of a node inside loops: what the items that it has worked on up to the last event took together, all tries counted. */
export const ItemSums = z.object({
  count: z.number().int(),
  duration_ms: z.number(),
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  last: LastItem.optional().meta({ description: "Where later items went another way" }),
});
export type ItemSums = z.infer<typeof ItemSums>;

export const ExecutionTrigger = z.enum(executionTriggers);
export type ExecutionTrigger = z.infer<typeof ExecutionTrigger>;

const summary = {
  id: Id,
  workflow_id: Id,
  workflow_name: z.string().meta({ example: "Daily digest" }),
  version: z.number().int().nullable().meta({ description: "Workflow version that ran; null for a run of the editor's draft" }),
  status: ExecutionStatus,
  trigger: ExecutionTrigger,
  input: z.string().meta({ description: "What the trigger was given", example: "Write a line about looms." }),
  output: z.string().nullable().meta({
    description:
      "Value of the Output node; of several a JSON object by label. Without any, the output of the last node: of a review its decision, of another node that only decides the content that came to it",
    example: "A loom turns thread into cloth.",
  }),
  error: z.string().nullable().meta({ description: "Why it failed", example: null }),
  started_by: z.object({ id: Id, name: z.string().meta({ example: "Ada" }) }).nullable(),
  parent: z
    .object({ execution_id: Id, node_id: z.string() })
    .nullable()
    .meta({ description: "The node of another execution that has started this one, and waits for it", example: null }),
  rerun_of: Id.nullable().meta({ description: "The execution that this one runs again, or was forked from", example: null }),
  input_tokens: z.number().int().meta({ example: 21 }),
  output_tokens: z.number().int().meta({ example: 9 }),
  cost: z
    .number()
    .nullable()
    .meta({ description: "USD, of the calls whose price is known; null when nothing of it is known", example: 0.000033 }),
  cost_is_partial: z
    .boolean()
    .meta({ description: "true when the price of some call is not known, so that the run cost more than `cost` says", example: false }),
  created_at: Timestamp,
  started_at: Timestamp.nullable().meta({
    description: "null until it starts; of a `failed` run: its delivery or schedule fire could not start it, and `error` says why",
  }),
  completed_at: Timestamp.nullable(),
  duration_ms: z.number().int().nullable().meta({ description: "Milliseconds", example: 840 }),
};
export const ExecutionSummary = z
  .object({
    ...summary,
    truncated: z
      .boolean()
      .meta({ description: `true when input or output is longer than the ${PREVIEW_CHARACTERS} characters shown in a list` }),
  })
  .meta({ id: "ExecutionSummary" });
export type ExecutionSummary = z.infer<typeof ExecutionSummary>;

export const nodeCost = z
  .number()
  .nullable()
  .meta({ description: "USD; 0 where no model was called, null when the model's price is not known", example: 0.000033 });

const nodeText = z.string().nullable().meta({ description: "Of a failed node with `on_error: continue`: the text of its error" });

export const NodeResult = z
  .object({
    status: NodeStatus,
    output: nodeText,
    error: z.string().nullable(),
    duration_ms: z.number().int().nullable(),
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    cost: nodeCost,
    attempt: z.number().int(),
    reused: z.boolean().meta({ description: "true: taken over from the execution that this one reruns", example: false }),
    pinned: z
      .literal(true)
      .optional()
      .meta({ description: "true: the node did not run, its pinned output was taken; only in runs of the editor's draft" }),
    iteration: z.string().optional().meta({ description: "Of a node inside a loop: the iteration that this is the result of, the latest" }),
    iterations: z
      .object({ total: z.number().int(), complete: z.number().int(), failed: z.number().int() })
      .optional()
      .meta({ description: "Of a loop: how many items it has, and how they ended" }),
    waits_until: Timestamp.optional().meta({ description: "Of a node that waits: when that is over at the latest" }),
    resume_url: z.string().optional().meta({
      description:
        "URL that ends the wait of this node with a POST, once and without a key; left out for viewers and for keys that only read",
    }),
    child_execution_id: Id.optional().meta({ description: "Of a node that runs another workflow: the execution that it has started" }),
    ...nodeOutput,
    stopped,
  })
  .meta({ id: "NodeResult" });
export type NodeResult = z.infer<typeof NodeResult>;

/** Of a node that a run has not come to. */
export const idleResult: NodeResult = {
  status: "idle",
  output: null,
  error: null,
  duration_ms: null,
  started_at: null,
  completed_at: null,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  attempt: 0,
  reused: false,
};

export const ExecutionOutput = z
  .object({
    node_id: z.string().meta({ example: "output-1" }),
    label: z.string().meta({ example: "Answer" }),
    format: z.string().meta({ example: "passthrough" }),
    value: z.string().meta({ example: "A loom turns thread into cloth." }),
  })
  .meta({ id: "ExecutionOutput" });
export type ExecutionOutput = z.infer<typeof ExecutionOutput>;

export const Reviewer = z
  .object({
    id: Id.nullable().meta({ description: "null for an address without an account, which decided by a link" }),
    email: z.string().meta({ example: "ada@example.com" }),
    name: z.string().meta({ example: "Ada" }),
  })
  .meta({ id: "Reviewer" });

/** Maximum number of votes listed of one review. */
export const MAX_VOTES = 100;

/** Who decided a review, as what and how. */
const decider = {
  reviewer: Reviewer.nullable(),
  role: Role.nullable().meta({ description: "The reviewer's role in the project at the time; null for an address without an account" }),
  via: z.string().nullable().meta({ description: "ui, api, email, assistant or timeout", example: "api" }),
  decided_at: Timestamp.nullable(),
};

export const ReviewVote = z
  .object({
    reviewer: Reviewer,
    choice: z.string().meta({ description: "Id of the choice", example: "approved" }),
    comment: z.string().nullable().meta({ example: null }),
    via: z.string().meta({ description: "ui, api, email or assistant", example: "ui" }),
    voted_at: Timestamp,
  })
  .meta({ id: "ReviewVote" });
export type ReviewVote = z.infer<typeof ReviewVote>;

export const ReviewRecord = z
  .object({
    node_id: z.string(),
    iteration: Iteration,
    label: z.string().meta({ example: "Check" }),
    status: z
      .enum(["waiting", "approved", "rejected", "withdrawn"])
      .meta({ description: "withdrawn: the run ended before a decision was made", example: "approved" }),
    decision: z.enum(["approved", "rejected"]).nullable(),
    choice: z.string().nullable().meta({ description: "Id of the choice that was made", example: "approved" }),
    comment: z.string().nullable().meta({ example: "Looks good" }),
    ...decider,
    votes: z
      .array(ReviewVote)
      .max(MAX_VOTES)
      .meta({
        description: `Where several approvals are needed: each reviewer's latest vote, oldest first, at most ${MAX_VOTES}`,
        example: [],
      }),
  })
  .meta({ id: "ReviewRecord" });

export const Execution = z
  .object({
    ...summary,
    outputs: z.array(ExecutionOutput).meta({
      description: "Every Output node that was reached, by now while the run goes on or waits; a run that fails or is cancelled keeps them",
    }),
    reviews: z.array(ReviewRecord),
    inngest_run_url: z.string().nullable().meta({
      description:
        "Page of the function run at the Inngest server that carries it; null where none does, and for readers who may not steer runs",
      example: null,
    }),
    node_results: z.record(z.string(), NodeResult).meta({
      description: "By node id",
      example: {
        "agent-1": {
          status: "complete",
          output: "A loom turns thread into cloth.",
          error: null,
          duration_ms: 812,
          started_at: "2026-11-21T08:00:00.000Z",
          completed_at: "2026-11-21T08:00:00.812Z",
          input_tokens: 21,
          output_tokens: 9,
          cost: 0.000033,
          attempt: 1,
          reused: false,
        },
      },
    }),
  })
  .meta({ id: "Execution" });
export type Execution = z.infer<typeof Execution>;

export const NodeLog = z
  .object({
    node_id: z.string().meta({ example: "agent-1" }),
    node_type: z.string().meta({ example: "agentNode" }),
    label: z.string().meta({ example: "Writer" }),
    iteration: Iteration,
    attempt: z.number().int(),
    status: NodeStatus,
    input: z.string().nullable(),
    output: nodeText,
    truncated: z
      .boolean()
      .optional()
      .meta({
        description: `true: the log is so large that it has only the first ${PREVIEW_CHARACTERS} characters of this input or output; ask with node_id and iteration for more`,
      }),
    error: z.string().nullable(),
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    duration_ms: z.number().int().nullable(),
    model: z.string().nullable().meta({ example: "gpt-4.1-mini" }),
    input_tokens: z.number().int(),
    cached_tokens: z.number().int().meta({ description: "Of the input tokens: those that the provider read from its cache", example: 0 }),
    output_tokens: z.number().int(),
    cost: nodeCost,
    answer_truncated: answerTruncated,
    agent_version: z
      .number()
      .int()
      .optional()
      .meta({ description: "Only of an agent's call: the version of the agent that was asked, see GET /agents/{agent_id}/versions" }),
    stopped,
    printed: z.string().optional().meta({ description: "Only of code that printed something: the first 64 KiB of it" }),
    child_execution_id: Id.optional().meta({ description: "Only of a node that runs another workflow: the execution that it has started" }),
    response: z
      .object({
        status: z.number().int(),
        headers: z
          .record(z.string(), z.union([z.string(), z.array(z.string())]))
          .meta({ description: "By name in small letters; a list where Set-Cookie came several times" }),
      })
      .optional()
      .meta({ description: "Only of an HTTP call that was answered: the last answer without its body" }),
    attempts: z
      .array(
        z.object({
          started_at: Timestamp,
          duration_ms: z.number().int(),
          error: z.string().nullable().meta({ description: "Why the try failed, at most 500 characters; null for one that was answered" }),
        }),
      )
      .optional()
      .meta({ description: "Only of a model or HTTP call that was repeated: its tries, the first 50" }),
    tool_calls: z.array(RunToolCall).meta({ description: "In the order in which they began" }),
    reviewer: decider.reviewer.optional().meta({ description: "Only of a review: who decided; null while it waits, and after a timeout" }),
    role: decider.role.optional().meta({ description: "Only of a review: the reviewer's role in the project at the time" }),
    via: decider.via.optional().meta({ description: "Only of a review: ui, api, email or timeout" }),
    decided_at: decider.decided_at.optional().meta({ description: "Only of a review" }),
  })
  .meta({ id: "NodeLog" });
export type NodeLog = z.infer<typeof NodeLog>;
export const ExecutionLogs = z.object({ execution_id: Id, items: z.array(NodeLog) }).meta({ id: "ExecutionLogs" });
export type ExecutionLogs = z.infer<typeof ExecutionLogs>;

/** What a run may be started with. */
export const runValues = {
  input: z
    .string()
    .max(1_000_000)
    .optional()
    .meta({ title: "Input", description: "Text for the trigger; left out, the trigger's default", example: "Write a line about looms." }),
  params: z
    .record(z.string().max(100), z.unknown())
    .optional()
    .meta({ title: "Parameters", description: "Values by name for a params trigger; left out, each parameter's default" }),
};
/** Permission to reuse results that read another input. */
export const reuseStale = {
  reuse_stale: z.boolean().optional().meta({
    description:
      "With from_node_id and other values: true reuses results that read the original's input as well; false (default) refuses such a run with 422",
  }),
};
export const ExecuteInput = z.strictObject({ workflow_id: Id, ...runValues });
export type ExecuteInput = z.infer<typeof ExecuteInput>;
export const ExecuteResult = z
  .object({ execution_id: Id, status: ExecutionStatus.meta({ example: "pending" }) })
  .meta({ id: "ExecuteResult" });
export type ExecuteResult = z.infer<typeof ExecuteResult>;

/** Several of these values in one text, with commas between them. */
const several = (values: readonly string[], what: string) =>
  z
    .string()
    .max(200)
    .regex(
      new RegExp(`^(${values.join("|")})(,(${values.join("|")}))*$`),
      `Name one or several of ${values.join(", ")}, with commas between them.`,
    )
    .meta({
      description: `${what}: one or several of ${values.join(", ")}, with commas between them`,
      example: values.slice(0, 2).join(","),
    });

/** Which executions are meant, in lists and where something is done with many. */
export const executionFilter = {
  workflow_id: Id.optional(),
  status: several(executionStatuses, "How it stands").optional().meta({ example: "completed,failed" }),
  trigger: several(ExecutionTrigger.options, "What started it").optional().meta({ example: "api,webhook" }),
  from: TimeInput.optional().meta({
    description: "Created at this time or later: a date-time with an offset, or a date, which counts from the start of its UTC day",
    example: "2026-11-01",
  }),
  to: TimeInput.optional().meta({
    description: "Created before this time: a date-time with an offset, or a date, which counts to the end of its UTC day",
    example: "2099-01-01T00:00:00Z",
  }),
  q: z.string().trim().min(1).max(200).optional().meta({
    description:
      "Words in input, output and error (of each its first 8,000 characters), all of which must be there, each as a word or its beginning; or the id of an execution, or at least its first 8 digits",
    example: "looms",
  }),
};
export const ExecutionFilter = z.strictObject(executionFilter).meta({ id: "ExecutionFilter" });
export type ExecutionFilter = z.infer<typeof ExecutionFilter>;

export const ListExecutionsInput = z.strictObject({ ...pageQuery, ...executionFilter });
export type ListExecutionsInput = z.infer<typeof ListExecutionsInput>;
export const ExecutionPage = pageOf(ExecutionSummary).extend({
  total_is_partial: z.literal(true).optional().meta({
    description: "Only there when more match than `total` says: with q, trigger, from or to 10,000 are counted and paged through at most",
  }),
  searched_until: Timestamp.optional().meta({
    description: "Only there when the search stopped for time: older executions were not looked at. Narrow the filter to see further",
  }),
});
export type ExecutionPage = z.infer<typeof ExecutionPage>;
export const WorkflowExecutionsInput = z.strictObject({
  workflow_id: Id,
  limit: z.number().int().min(1).max(200).default(20).meta({ description: "At most 200" }),
});
export const ExecutionRef = z.strictObject({ execution_id: Id });
export const ExecutionLogsInput = z.strictObject({
  execution_id: Id,
  node_id: z.string().min(1).max(100).optional().meta({ description: "Only this node; left out, all" }),
  iteration: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Only this place in the loops, such as "3" or "3.0"; empty for what is outside loops; left out, all' }),
});
export type ExecutionLogsInput = z.infer<typeof ExecutionLogsInput>;

export const NodeOutputInput = z.strictObject({
  execution_id: Id,
  node_id: z.string().min(1).max(100).meta({ description: "Id of the node in the workflow's graph", example: "agent-1" }),
  iteration: z
    .string()
    .max(200)
    .default("")
    .meta({ description: 'Which run of a node inside a loop: its index, "3", or "3.0" in a loop inside a loop' }),
});
export type NodeOutputInput = z.infer<typeof NodeOutputInput>;
export const NodeOutput = z.object({ node_id: z.string(), iteration: Iteration, output: nodeText }).meta({ id: "NodeOutput" });
export type NodeOutput = z.infer<typeof NodeOutput>;

export const RerunInput = z.strictObject({
  execution_id: Id,
  ...runValues,
  from_node_id: z.string().min(1).max(100).optional().meta({
    description:
      "Runs this node and what depends on it again, and reuses the finished results of everything else. Left out, everything runs, or, with other values than the original's, what reads them and everything after it",
  }),
  ...reuseStale,
  use_current: z
    .boolean()
    .default(false)
    .meta({ description: "true runs the workflow as it is saved now; false the graph that the original ran" }),
});
export type RerunInput = z.infer<typeof RerunInput>;
export const RerunResult = z
  .object({ execution_id: Id, status: ExecutionStatus.meta({ example: "pending" }), rerun_of: Id })
  .meta({ id: "RerunResult" });
export type RerunResult = z.infer<typeof RerunResult>;

/** A run with the graph that it runs, for the run page and the editor. Not part of the REST API. */
export const ExecutionView = z.object({
  execution: Execution,
  graph: z.object(graphShape),
  /** The node in another run that has started this one: it waits for it, or has failed. */
  origin: z
    .object({ execution_id: Id, workflow_name: z.string(), node: z.object({ id: z.string(), label: z.string() }).nullable() })
    .nullable(),
  last_event_id: z.number().int(),
  item_sums: z.record(z.string(), ItemSums),
  /** Values that a webhook or an HTTP trigger keeps besides the input, see `triggerFields`; empty for another kind of trigger. */
  params: z.record(z.string(), z.unknown()),
});
export type ExecutionView = z.infer<typeof ExecutionView>;

/** A test run of the editor's draft. Not part of the REST API. */
export const RunDraftInput = z.strictObject({
  workflow_id: Id,
  ...runValues,
  until_node_id: z.string().min(1).max(100).optional().meta({ description: "Runs only this node and what it needs" }),
  from: z
    .strictObject({ execution_id: Id, node_id: z.string().min(1).max(100) })
    .optional()
    .meta({
      description: "Runs this node and what depends on it; of the rest, results of that execution are taken over where they still hold",
    }),
});
export type RunDraftInput = z.infer<typeof RunDraftInput>;

export const LoopItemsInput = z.strictObject({
  execution_id: Id,
  node_id: z.string().min(1).max(100),
  iteration: z.string().max(200).default("").meta({ description: "Of a loop inside a loop: its own place" }),
});
export type LoopItemsInput = z.infer<typeof LoopItemsInput>;

/** How many items of a loop the timeline asks for at once. */
export const MOST_TIMES = 100;

export const LoopTimesInput = z.strictObject({
  ...LoopItemsInput.shape,
  from: z.number().int().min(0).max(1_000_000).default(0).meta({ description: "The first item, from 0" }),
});
export type LoopTimesInput = z.infer<typeof LoopTimesInput>;

const worked = { status: NodeStatus, started_at: Timestamp.nullable(), duration_ms: z.number().nullable() };
/** When items of a loop worked, and the nodes in each. Not part of the REST API. */
export const LoopTimes = z.object({
  total: z.number().int(),
  /** Where the next ones begin; null when these are the last. */
  next_from: z.number().int().nullable(),
  items: z.array(
    z.object({
      index: z.number().int(),
      ...worked,
      nodes: z.array(z.object({ node_id: z.string(), ...worked, stopped })),
    }),
  ),
});
export type LoopTimes = z.infer<typeof LoopTimes>;

/** How the items of a loop stand, in at most 200 cells of equal size. Not part of the REST API. */
export const LoopItems = z.object({
  total: z.number().int(),
  per_cell: z.number().int().meta({ description: "Items in each cell; the last one may have fewer" }),
  cells: z.array(
    z.object({
      complete: z.number().int(),
      failed: z.number().int(),
      skipped: z.number().int(),
      running: z.number().int(),
      waiting: z.number().int(),
      first_failed: z.number().int().nullable().meta({ description: "Index of the first failed item in the cell" }),
    }),
  ),
});
export type LoopItems = z.infer<typeof LoopItems>;
