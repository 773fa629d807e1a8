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
export const AT_HAND = "It can use output, trigger_output and node_outputs.";

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
