import type { NodeResult } from "#server/engine/define-node.ts";

/** What a call of a model used, as a node's result tells it. */
export type CallUsage = Required<Pick<NodeResult, "agent_id" | "provider" | "model" | "input_tokens" | "output_tokens" | "cost">>;

const used = new WeakMap<object, CallUsage>();

/** Remembers with an error what the call that it ended had used. @returns the error */
export function withUsage(error: unknown, usage: CallUsage | undefined): unknown {
  if (usage && typeof error === "object" && error !== null) used.set(error, usage);
  return error;
}

/** What the call had used that ended in this error; undefined when that is nothing, or not known. */
export const usageOf = (error: unknown): CallUsage | undefined =>
  typeof error === "object" && error !== null ? used.get(error) : undefined;
