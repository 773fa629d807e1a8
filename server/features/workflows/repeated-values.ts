import { isDeepStrictEqual } from "node:util";
import { triggerOf } from "#server/features/workflows/checks.ts";
import { calledValues } from "#server/features/workflows/execute.ts";
import { invalidField } from "#server/platform/errors.ts";
import type { ExecuteInput } from "#server/runs/schema.ts";
import type { findOriginal } from "#server/runs/store/executions.ts";
import { definitionOf, quoted } from "#server/workflow/graph.ts";
import { withPins } from "#server/workflow/pins.ts";
import type { Graph } from "#server/workflow/schema.ts";
import { triggerReaders } from "#server/workflow/trigger-readers.ts";

type Original = Pick<Awaited<ReturnType<typeof findOriginal>>, "values" | "workflow_version">;

/** Values of a run that repeats another one. */
interface RepeatedValues {
  input: string;
  params: Record<string, unknown> | null;
  /** True when they are not those of the original. */
  isNew: boolean;
}

/** Returns true when two graphs have triggers of different kinds. */
export const hasOtherTrigger = (before: Graph, graph: Graph): boolean => triggerOf(before)?.data.kind !== triggerOf(graph)?.data.kind;

/**
 * Returns the values of a run that repeats another one: the original's, or what the trigger makes of those given. A webhook keeps the
 * headers of the original delivery.
 * @param isOtherTrigger true where the original's values do not count, as they are of another kind of trigger
 * @throws AppError VALIDATION_ERROR for a value that the trigger does not take
 */
export function repeatedValues(
  graph: Graph,
  original: Original,
  given: Pick<ExecuteInput, "input" | "params">,
  isOtherTrigger = false,
): RepeatedValues {
  const stored = (original.values?.params ?? null) as Record<string, unknown> | null; // cast: NewExecution writes an object or null
  const known = { input: original.values?.input ?? "", params: stored };
  if (given.input === undefined && given.params === undefined && !isOtherTrigger) return { ...known, isNew: false };

  const { input, params } = calledValues(graph, given);
  const headers = triggerOf(graph)?.data.kind === "webhook" && !isOtherTrigger ? stored?.headers : undefined;
  const values = { input, params: headers === undefined ? params : { headers, ...params } };
  return { ...values, isNew: !isDeepStrictEqual(values, known) };
}

/**
 * Returns those results of a run that fit a run with other values: without the trigger, and without what read its output.
 * @param before the graph of the original
 * @param ids nodes with a result that could be reused
 */
export function resultsWithoutTrigger(before: Graph, { workflow_version }: Original, ids: readonly string[]) {
  const { readers, dependents } = triggerReaders(workflow_version === null ? withPins(before) : before);
  const byId = new Map(before.nodes.map((node) => [node.id, node]));
  const kept = ids.filter((id) => definitionOf(byId.get(id)?.type ?? "")?.group !== "trigger");
  const stale = kept.filter((id) => dependents.has(id));
  const first = readers.find((id) => stale.includes(id)) ?? stale[0];
  return { kept, fresh: kept.filter((id) => !dependents.has(id)), firstStale: first === undefined ? undefined : byId.get(first) };
}

/**
 * Like `resultsWithoutTrigger`, for a run that begins at a node which the caller has named.
 * @throws AppError VALIDATION_ERROR when a result read the original's values, unless the caller reuses it anyway
 */
export function resultsBeside(before: Graph, original: Original, ids: readonly string[], reuse_stale = false): string[] {
  const { kept, firstStale } = resultsWithoutTrigger(before, original, ids);
  if (!firstStale || reuse_stale) return kept;
  const message = `The result of ${quoted(firstStale, firstStale.id)} is based on the original run's input.`;
  const remedy = "Leave out from_node_id to run every node that depends on the input, or send reuse_stale: true to keep this result.";
  throw invalidField("reuse_stale", message, `${message} ${remedy}`);
}
