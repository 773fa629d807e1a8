import { z } from "zod";
import { Id } from "#server/shared/primitives-schema.ts";
import { Pinned } from "#server/workflow/schema.ts";

/** A Python condition as it is typed in the editor. */
export const CheckConditionInput = z.strictObject({ condition: z.string().max(10_000).meta({ description: "One Python expression" }) });
export type CheckConditionInput = z.infer<typeof CheckConditionInput>;

/** The Python of a code node as it is typed there. */
export const CheckCodeInput = z.strictObject({ code: z.string().max(100_000), inputs: z.array(z.string().max(60)).max(50) });
export type CheckCodeInput = z.infer<typeof CheckCodeInput>;

export const PythonCheck = z.object({
  fault: z.string().nullable().meta({ description: "What is wrong with it, as a sentence" }),
});
export type PythonCheck = z.infer<typeof PythonCheck>;

const NodeIds = z.array(z.string().min(1).max(100)).max(100);

/**
 * A condition with the run whose values it is tried on. Which node is meant by what is said by the caller, who has the working
 * copy; the values are the run's own.
 */
export const TryConditionInput = z.strictObject({
  condition: CheckConditionInput.shape.condition,
  execution_id: Id,
  before: NodeIds.meta({ description: "The nodes before it, in the order of the edges: together they are `output`" }),
  pinned: z
    .record(z.string().min(1).max(100), Pinned.shape.output)
    .optional()
    .meta({ description: "Outputs that stand in for what nodes left behind, by node id" }),
  item: z.string().max(100_000).optional().meta({ description: "Of the first node in a loop's body: the item, which is `output` then" }),
  outputs: z
    .record(z.string().max(200), NodeIds)
    .refine((outputs) => Object.keys(outputs).length <= 500, "At most 500 names.")
    .meta({ description: "Node ids by the name that `node_outputs` has them under; of several the latest to complete" }),
});
export type TryConditionInput = z.infer<typeof TryConditionInput>;

export const ConditionTrial = z.object({
  holds: z.boolean().nullable().meta({ description: "What it comes to; null when it fails" }),
  failure: z.string().nullable().meta({ description: "Why it fails on these values, as a sentence" }),
});
export type ConditionTrial = z.infer<typeof ConditionTrial>;

// What both sides of a condition's process know (conditions.ts, condition-sandbox.ts).

/** What a condition can read; texts, as the specification has them (branchNode). */
export interface ConditionVariables {
  /** Output of the node before. */
  output: string;
  trigger_output: string;
  /** Outputs of completed nodes: agents by name, others by label. */
  node_outputs: Readonly<Record<string, string>>;
}

export const NAMES = ["output", "trigger_output", "node_outputs"];
export const AT_HAND = "It can use output, trigger_output and node_outputs, and the modules re, json and math.";

/** Help for the field of a condition. */
export const CONDITION_HELP =
  "A Python expression. It can use output (of the node before), trigger_output, node_outputs and the modules re, json, math";

/** A condition on its way to the process: to be run, or without variables only looked at. */
export interface ConditionRequest {
  condition: string;
  variables?: ConditionVariables;
}

/** What is wrong with a condition before it runs: a sentence, or a name that does not exist. */
export interface ConditionFault {
  fault?: string;
  unknownName?: string;
}

/** What came of it there. */
export type ConditionAnswer = { holds: boolean } | { failure: string } | ConditionFault;
