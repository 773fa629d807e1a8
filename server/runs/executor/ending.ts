import type { Frame } from "#server/runs/executor/frame.ts";
import { upstreamOutput } from "#server/runs/executor/run-scope.ts";
import type { Ending, EventFact, LedgerRow, RunState } from "#server/runs/ports.ts";
import type { ExecutionOutput } from "#server/runs/schema.ts";
import { listText, objectPieces, objectText } from "#server/shared/json-text.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { isDisabled, workOf } from "#server/workflow/disabled.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { RunEnd } from "#server/workflow/nodes/definition.ts";
import { MAX_RESULT, toldOutput, tooMuch } from "#server/workflow/output-size.ts";
import { ExpressionError } from "#server/workflow/resolve-expressions.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** Why a run ends before everything has run: a node failed, or a Terminate node was reached. */
export type RunStop = { node_id: string; error: string } | { node_id: string; end: RunEnd };

/** The stop that a Terminate node's row stands for, when a process died between reaching it and ending the run. */
export function terminationOf(node: GraphNode | undefined, { node_id, status, handle, output }: LedgerRow): RunStop | undefined {
  // One that was taken over from another run has no handle, and ends nothing here.
  if (node?.type !== "terminateNode" || isDisabled(node) || status !== "complete" || handle === null) return undefined;
  return { node_id, end: { status: handle === "failed" ? "failed" : "completed", message: output ?? "" } };
}

/** Values of Output nodes inside loops, by node id; each with the path of its iteration. */
export type BodyOutputs = ReadonlyMap<string, readonly { path: string; value: string }[]>;

/** Orders paths of iterations as their items stand in the loops. */
export const comparePaths = (a: string, b: string): number => {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  const at = left.findIndex((index, depth) => index !== right[depth]);
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
};

const isOutput = (node: GraphNode): boolean => workOf(node)?.group === "output";

/** Ids of the nodes of a graph whose values are results of its runs. */
export const outputNodes = (graph: Graph): string[] => graph.nodes.filter(isOutput).map(({ id }) => id);

/**
 * Every Output node that was reached, in graph order; of one inside a loop the list of its values in item order.
 * @param outside values of those outside of loops, by node id
 */
export function reachedOutputs(graph: Graph, outside: ReadonlyMap<string, string>, inside: BodyOutputs): ExecutionOutput[] {
  return graph.nodes.filter(isOutput).flatMap((node) => {
    const common = { node_id: node.id, label: labelOf(node), format: String(node.data.format ?? "passthrough") };
    const value = outside.get(node.id);
    if (value !== undefined) return [{ ...common, value }];
    const values = inside.get(node.id);
    if (!values?.length) return [];
    return [{ ...common, value: listText([...values].sort((a, b) => comparePaths(a.path, b.path)).map(({ value }) => value)) }];
  });
}

/** Characters of everything that Output nodes have kept. */
function outputSize(run: RunState, top: Frame, inside: BodyOutputs): number {
  const texts = outputNodes(run.graph).flatMap((id) => [top.rows.get(id)?.output, ...(inside.get(id) ?? []).map(({ value }) => value)]);
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

/** Characters of several results from which they are put together piece by piece, as they are written. */
const LONG_RESULT = 256 * 1024;

/** Returns the output of the last node: the decision of a review, and for any other node that only decides, what came to it. */
function lastOutput(run: RunState, top: Frame): string | null {
  const last = [...top.rows.values()]
    .reverse()
    .filter((row) => row.status === "complete")
    .sort((a, b) => (b.completed_at?.getTime() ?? 0) - (a.completed_at?.getTime() ?? 0))[0];
  if (!last) return null;

  const graph = compileGraph(run.graph);
  const isDecision = graph.passesContent(last.node_id, last.handle) && graph.definition(last.node_id)?.rejects === undefined;
  if (!isDecision) return last.output;
  try {
    return upstreamOutput(top, last.node_id, graph);
  } catch (error) {
    // Several texts together may be longer than an output may be.
    if (error instanceof ExpressionError) return last.output;
    throw error;
  }
}

/** An output as it is, or of a long one how its pieces are made. */
interface Ended {
  output: string | null;
  pieces?: () => Iterable<string>;
}

/**
 * The run's output: of one Output node its value, of several an object by label, of none the last node's output.
 * @param rejection decision of a review inside a loop that ended the run
 */
function outputOf(run: RunState, outputs: ExecutionOutput[], top: Frame, rejection?: string): Ended {
  const [only] = outputs;
  if (outputs.length === 1 && only) return { output: only.value };
  if (outputs.length > 1) {
    const entries = outputs.map(({ label, value }) => [label, value] as const);
    const isLong = outputs.reduce((sum, { value }) => sum + value.length, 0) > LONG_RESULT;
    return isLong ? { output: "", pieces: () => objectPieces(entries) } : { output: objectText(entries) };
  }
  return { output: rejection ?? lastOutput(run, top) };
}

interface Facts {
  /** Values of Output nodes inside loops. */
  inside: BodyOutputs;
  /** Reason for the early end of the run. */
  stop: RunStop | undefined;
  /** Decision of a review inside a loop that ended the run as rejected. */
  rejection: string | undefined;
}

/** Returns the ending of a run that has nothing left to do. */
export function endingOf(run: RunState, top: Frame, { inside, stop, rejection }: Facts): Omit<Ending, "long"> & Ended {
  const size = outputSize(run, top, inside);
  if (size > MAX_RESULT) return { status: "failed", output: null, outputs: [], error: tooMuch(size, MAX_RESULT) };
  const complete = [...top.rows.values()].filter((row) => row.status === "complete");
  const outputs = reachedOutputs(run.graph, new Map(complete.map((row) => [row.node_id, row.output ?? ""])), inside);
  const node = stop && run.graph.nodes.find((candidate) => candidate.id === stop.node_id);
  const name = node ? labelOf(node) : (stop?.node_id ?? "");
  if (stop && "error" in stop) return { status: "failed", output: null, outputs, error: name ? `${name}: ${stop.error}` : stop.error };
  if (stop?.end.status === "failed") return { status: "failed", output: null, outputs, error: stop.end.message || `Ended at "${name}".` };
  if (stop)
    return { status: "completed", ...(outputs.length ? outputOf(run, outputs, top) : { output: stop.end.message }), outputs, error: null };
  return { status: top.isRejected ? "rejected" : "completed", ...outputOf(run, outputs, top, rejection), outputs, error: null };
}

/** The one event that ends a stream. */
export function endingEvent(run: RunState, { status, output, error, long }: Ending, now: Date): EventFact {
  const duration_ms = now.getTime() - run.created_at.getTime();
  if (status === "failed") return { type: "execution_failed", status, error: error ?? "", duration_ms };
  return { type: "execution_complete", status, ...toldOutput(output, `/api/v1/executions/${run.id}`, long?.length), duration_ms };
}
