import type { z } from "zod";
import { type ComparedNode, type CompareInput, type Comparison, MOST_COMPARED } from "#server/features/executions/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import type { NodeResult } from "#server/runs/schema.ts";
import { findExecution, summaryFields } from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { type NodeSums, nodeResults, nodeSums } from "#server/runs/store/node-results.ts";
import { summaryDto } from "#server/runs/use-cases/execution-dto.ts";
import { comparableJson } from "#server/shared/canonical-json.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";
import { outputUrl } from "#server/workflow/output-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

interface Side {
  execution_id: string;
  graph: Graph;
  results: Record<string, NodeResult>;
  sums: Record<string, NodeSums>;
  summary: Comparison["totals"]["a"];
}

async function sideOf({ project }: ProjectPrincipal, execution_id: string): Promise<Side> {
  const row = await findExecution({ project_id: project.id, execution_id }, { ...summaryFields, snapshot_id: true });
  const graph = await snapshotGraph(row.snapshot_id);
  const [results, sums] = await Promise.all([nodeResults(row, graph), nodeSums(execution_id)]);
  return { execution_id, graph, results, sums, summary: summaryDto(row) };
}

function nodeOf({ execution_id, results, sums }: Side, id: string): ComparedNode | null {
  const result = results[id];
  if (!result) return null;
  const { status, output, error, reused, iteration, iterations } = result;
  const sum = sums[id];
  const length = result.output_length ?? output?.length ?? 0;
  return {
    ...{ status, error, reused },
    output: output === null ? null : output.slice(0, MOST_COMPARED).toWellFormed(),
    items: iterations?.total ?? null,
    duration_ms: sum?.duration_ms ?? result.duration_ms,
    input_tokens: sum?.input_tokens ?? 0,
    output_tokens: sum?.output_tokens ?? 0,
    cost: sum ? sum.cost : 0,
    ...(length > MOST_COMPARED && { truncated: true, output_length: length, output_url: outputUrl(execution_id, id, iteration ?? "") }),
  };
}

/** Of an output that is not read whole its first 256 Ki characters and its length speak. */
const isSame = (a: NodeResult | undefined, b: NodeResult | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.status === b.status &&
  a.output === b.output &&
  a.output_length === b.output_length &&
  a.error === b.error &&
  comparableJson(a.iterations) === comparableJson(b.iterations);

/**
 * Two executions of the project node by node, `execution_id` as a; of one workflow or of two.
 * @throws AppError NOT_FOUND for either
 */
export async function compareExecutions(
  principal: ProjectPrincipal,
  { execution_id, other_id }: z.infer<typeof CompareInput>,
): Promise<Comparison> {
  const [a, b] = await Promise.all([sideOf(principal, execution_id), sideOf(principal, other_id)]);
  const diff = diffGraphs(a.graph, b.graph);
  const changes = new Map(diff.nodes.map(({ id, fields }) => [id, fields]));
  const nodes = [...a.graph.nodes, ...b.graph.nodes.filter(({ id }) => !a.graph.nodes.some((node) => node.id === id))];
  const now = new Map(b.graph.nodes.map((node) => [node.id, node]));
  return {
    nodes: nodes.flatMap((node) => {
      if (definitionOf(node.type)?.isInert) return [];
      const { id } = node;
      return {
        ...{ node_id: id, label: labelOf(now.get(id) ?? node), node_type: node.type, same: isSame(a.results[id], b.results[id]) },
        changed: (changes.get(id) ?? []).map(({ field, before, after }) => ({ field, a: before, b: after })),
        ...{ a: nodeOf(a, id), b: nodeOf(b, id) },
      };
    }),
    edges_changed: diff.edges.length,
    totals: { a: a.summary, b: b.summary },
  };
}
