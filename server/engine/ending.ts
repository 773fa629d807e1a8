import { definitionOf, labelOf } from "#server/engine/graph.ts";
import type { Ending, LedgerRow, RunState } from "#server/engine/ports.ts";
import type { ExecutionOutput } from "#server/schemas/execution.ts";

/** Every Output node that was reached, in graph order. */
function reachedOutputs(run: RunState, rows: ReadonlyMap<string, LedgerRow>): ExecutionOutput[] {
  return run.graph.nodes.flatMap((node) => {
    const row = rows.get(node.id);
    if (definitionOf(node.type)?.group !== "output" || row?.status !== "complete") return [];
    return [{ node_id: node.id, label: labelOf(node), format: String(node.data.format ?? "passthrough"), value: row.output ?? "" }];
  });
}

/** Text as the JSON value that it is, when it is an object or a list; other text stays text. */
function embedded(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : text;
  } catch {
    return text;
  }
}

/** The run's output: of one Output node its value, of several an object by label, of none the last node's output. */
function outputText(outputs: ExecutionOutput[], rows: ReadonlyMap<string, LedgerRow>): string | null {
  const [only] = outputs;
  if (outputs.length === 1 && only) return only.value;
  if (outputs.length > 1) return JSON.stringify(Object.fromEntries(outputs.map(({ label, value }) => [label, embedded(value)])));
  const last = [...rows.values()]
    .reverse()
    .filter((row) => row.status === "complete")
    .sort((a, b) => (b.completed_at?.getTime() ?? 0) - (a.completed_at?.getTime() ?? 0))[0];
  return last?.output ?? null;
}

/**
 * How a run that has nothing left to do ended.
 * @param failed the node that ended it, when one did
 */
export function endingOf(run: RunState, rows: ReadonlyMap<string, LedgerRow>, failed: LedgerRow | undefined): Ending {
  const outputs = reachedOutputs(run, rows);
  if (failed) {
    const node = run.graph.nodes.find((candidate) => candidate.id === failed.node_id);
    return { status: "failed", output: null, outputs, error: `${node ? labelOf(node) : failed.node_id}: ${failed.error}` };
  }
  return { status: "completed", output: outputText(outputs, rows), outputs, error: null };
}
