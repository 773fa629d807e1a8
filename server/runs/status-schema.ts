import { z } from "zod";
import { executionStatuses } from "#server/shared/execution-status.ts";

// What is said of a run wherever one is shown. Apart from schema.ts, which pages need not load to know whether a run has ended.

export const ExecutionStatus = z
  .enum(executionStatuses)
  .meta({ id: "ExecutionStatus", description: "completed, failed, rejected and cancelled are final", example: "completed" });
export type ExecutionStatus = z.infer<typeof ExecutionStatus>;

export const NodeStatus = z
  .enum(["idle", "running", "waiting", "complete", "failed", "skipped"])
  .meta({ id: "NodeStatus", example: "complete" });
export type NodeStatus = z.infer<typeof NodeStatus>;

/** Of an output too large to be told whole (contract, section 5; over 256 Ki characters). */
export const cutOutput = {
  truncated: z.boolean().optional().meta({ description: "true: output is only the beginning" }),
  output_length: z.number().int().optional().meta({ description: "Characters of the whole output" }),
  output_url: z.string().optional().meta({ description: "Where the whole output can be read" }),
};

/** Of an agent's answer. */
export const answerTruncated = z.literal(true).optional().meta({
  description: "Only there when the agent's answer ended at the limit of its length (max_tokens, or the model's own) and may be cut",
});

/** Of a node that had begun. */
export const stopped = z.literal(true).optional().meta({
  description:
    "Only there when the node was ended before it was done, with status skipped: the run was cancelled, or another branch ended it. `output` is then what had come of an agent's answer",
});

/** What is told of a node's output beside it. */
export const nodeOutput = { ...cutOutput, answer_truncated: answerTruncated };
