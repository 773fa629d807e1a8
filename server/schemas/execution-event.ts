import { z } from "zod";
import { cutOutput } from "#server/schemas/cut-output.ts";
import { ExecutionStatus } from "#server/schemas/execution.ts";
import { Timestamp } from "#server/schemas/primitives.ts";

const common = { execution_id: z.string(), timestamp: Timestamp };
const node = { ...common, node_id: z.string(), iteration: z.string().optional() };

/** The data of each stream event (specification, Events; contract, section 5). `type` repeats the event's name. */
export const ExecutionEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("node_start"), ...node, node_type: z.string(), attempt: z.number().int() }),
  z.object({
    type: z.literal("node_delta"),
    ...node,
    content: z.string().meta({ description: "The next piece of a running agent's answer" }),
    reset: z.boolean().optional().meta({ description: "true: forget the pieces so far, the call is being tried again" }),
  }),
  z.object({
    type: z.literal("node_complete"),
    ...node,
    output: z.string(),
    ...cutOutput,
    duration_ms: z.number().int(),
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
  }),
  z.object({ type: z.literal("node_failed"), ...node, error: z.string(), duration_ms: z.number().int() }),
  z.object({ type: z.literal("node_skipped"), ...node }),
  z.object({ type: z.literal("loop_progress"), ...node, total: z.number().int(), complete: z.number().int(), failed: z.number().int() }),
  z.object({ type: z.literal("execution_paused"), ...node, title: z.string(), display_value: z.string() }),
  z.object({ type: z.literal("execution_resumed"), ...common }),
  z.object({
    type: z.literal("execution_complete"),
    ...common,
    status: ExecutionStatus,
    duration_ms: z.number().int(),
    output: z.string().nullable(),
    ...cutOutput,
  }),
  z.object({ type: z.literal("execution_failed"), ...common, status: ExecutionStatus, error: z.string(), duration_ms: z.number().int() }),
]);
export type ExecutionEvent = z.infer<typeof ExecutionEvent>;
export type ExecutionEventType = ExecutionEvent["type"];

/** True for the one event that ends a stream. */
export const isTerminalEvent = (type: string): boolean => type === "execution_complete" || type === "execution_failed";
