import { z } from "zod";
import { cutOutput, ExecutionStatus, nodeOutput } from "#server/runs/status-schema.ts";
import { Id, Timestamp } from "#server/shared/primitives-schema.ts";

const common = { execution_id: z.string(), timestamp: Timestamp };
const iteration = z.string().optional().meta({ description: "Place in the loops around the node, such as 3 or 3.0" });
const node = { ...common, node_id: z.string(), iteration };

const event = <Type extends string, Fields extends z.ZodRawShape>(type: Type, id: string, description: string, fields: Fields) =>
  z.object({ type: z.literal(type), ...fields }).meta({ id, description });

/** The data of each stream event (specification, Events; contract, section 5). `type` repeats the event's name. */
export const ExecutionEvent = z
  .discriminatedUnion("type", [
    event("node_start", "NodeStartEvent", "A node has started", { ...node, node_type: z.string(), attempt: z.number().int() }),
    event("node_delta", "NodeDeltaEvent", "What a running agent says next; only while it runs", {
      ...node,
      content: z.string().meta({ description: "The next piece of a running agent's answer", example: "Looms " }),
      reset: z.boolean().optional().meta({ description: "true: forget the pieces so far, the call is being tried again" }),
    }),
    event("node_complete", "NodeCompleteEvent", "A node has ended well", {
      ...node,
      output: z.string(),
      ...nodeOutput,
      duration_ms: z.number().int(),
      input_tokens: z.number().int(),
      output_tokens: z.number().int(),
      cost: z
        .number()
        .nullable()
        .optional()
        .meta({ description: "USD; null when the model's price is not known; left out where no model was called", example: 0.000033 }),
    }),
    event("node_failed", "NodeFailedEvent", "A node has failed", { ...node, error: z.string(), duration_ms: z.number().int() }),
    event("node_skipped", "NodeSkippedEvent", "The run goes another way round this node", { ...node }),
    event("loop_progress", "LoopProgressEvent", "How many items of a loop have ended", {
      ...node,
      total: z.number().int(),
      complete: z.number().int(),
      failed: z.number().int(),
    }),
    event(
      "node_waiting",
      "NodeWaitingEvent",
      "A node waits for a time, for a call, or for another execution; the run goes on elsewhere, or waits with it",
      {
        ...node,
        deadline: Timestamp.nullable().meta({ description: "When it is over at the latest" }),
        child_execution_id: Id.optional().meta({ description: "Of a node that runs another workflow: the execution that it starts" }),
      },
    ),
    event("execution_paused", "ExecutionPausedEvent", "A review waits for a person", {
      ...node,
      title: z.string(),
      display_value: z.string(),
      truncated: z
        .boolean()
        .optional()
        .meta({ description: "true: one of the two is only the beginning; GET /reviews/{review_id} has them whole" }),
    }),
    event("execution_resumed", "ExecutionResumedEvent", "A wait was decided; the run continues", { ...common }),
    event("execution_complete", "ExecutionCompleteEvent", "The last event of a run that was completed, rejected or cancelled", {
      ...common,
      status: ExecutionStatus,
      duration_ms: z.number().int(),
      output: z.string().nullable(),
      ...cutOutput,
    }),
    event("execution_failed", "ExecutionFailedEvent", "The last event of a run that failed", {
      ...common,
      status: ExecutionStatus,
      error: z.string(),
      duration_ms: z.number().int(),
    }),
  ])
  .meta({ id: "ExecutionEvent", description: "The data of one event of an execution's stream" });
export type ExecutionEvent = z.infer<typeof ExecutionEvent>;
export type ExecutionEventType = ExecutionEvent["type"];

/** True for the one event that ends a stream. */
export const isTerminalEvent = (type: string): boolean => type === "execution_complete" || type === "execution_failed";
