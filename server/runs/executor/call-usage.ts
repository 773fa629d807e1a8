import type { NodeResult } from "#server/workflow/define-node.ts";

/**
 * What a call of an agent has used and done so far, as a node's result tells it. A call tells it as it goes on, so that it is
 * known of one that fails or is cut off, too.
 */
export type CallUsage = Required<
  Pick<NodeResult, "agent_id" | "provider" | "model" | "input_tokens" | "cached_tokens" | "output_tokens" | "cost" | "tool_calls">
>;
