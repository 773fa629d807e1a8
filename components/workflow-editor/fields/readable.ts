import { planOf } from "#components/runs/store/iterations.ts";
import type { LastRun } from "#components/workflow-editor/fields/last-values.ts";
import type { NodeScope } from "#server/workflow/define-node.ts";
import { type IsName, isNameOf, matchName } from "#server/workflow/expressions.ts";
import { definitionOf, labelOf, type NamedNode, namesOf, upstreamOf } from "#server/workflow/graph.ts";
import { pinOf } from "#server/workflow/pins.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** What the panel knows of the project besides the graph. */
export interface PanelScope extends NodeScope {
  /** The JSON Schema that an agent's answers follow, if it has one. */
  outputSchema?(agentId: string): Readonly<Record<string, unknown>> | null;
}

/** What can be read at a node, whatever has run: worked out once for all of its fields. */
export interface Readable {
  graph: Graph;
  nodeId: string;
  scope: PanelScope;
  /** Loops that the node is inside of, the outermost first. */
  around: readonly string[];
  trigger: GraphNode | undefined;
  /** Everything else upstream that can be read here, the nearest first. */
  nodes: readonly GraphNode[];
  /** Names of those: labels first, then the names of agents that are not taken by a label. */
  names: readonly NamedNode[];
  /** Tells the workflow's names with dots in them; left out where there is none. */
  isName: IsName | undefined;
}

/** Everything upstream of a node. What runs once for each item of a loop is only there inside of it. */
export function readableAt(graph: Graph, nodeId: string, scope: PanelScope): Readable {
  const upstream = upstreamOf(graph, nodeId);
  const plan = planOf(graph);
  const around = plan.loopsAround(nodeId);
  const visible = graph.nodes.filter((node) => upstream.has(node.id) && plan.loopsAround(node.id).every((loop) => around.includes(loop)));
  // Counting what leads to a node tells how far along it stands.
  const depth = new Map(visible.map((node) => [node.id, upstreamOf(graph, node.id).size]));
  const nodes = visible
    .filter((node) => definitionOf(node.type)?.group !== "trigger")
    .sort((a, b) => (depth.get(b.id) ?? 0) - (depth.get(a.id) ?? 0));
  const all = namesOf(graph, scope);
  const names = all.filter(
    (entry) =>
      nodes.includes(entry.node) &&
      (!entry.isAlias || (matchName(all, entry.name)?.node.id === entry.node.id && entry.name !== labelOf(entry.node))),
  );
  const trigger = graph.nodes.find((node) => definitionOf(node.type)?.group === "trigger");
  const isName = isNameOf(all.map(({ name }) => name));
  return { graph, nodeId, scope, around, trigger, nodes, names, isName };
}

/** What can be read of a node: its output and parts of it; of a loop that one is inside of, the item. */
export function fieldNames(node: GraphNode, { around }: Pick<Readable, "around">): string[] {
  const definition = definitionOf(node.type);
  if (around.includes(node.id)) return [...(definition?.body?.fields ?? [])];
  return ["output", ...Object.keys(definition?.fields ?? {})];
}

/** Names of the values that a form asks for. */
export const parameterNames = ({ trigger }: Pick<Readable, "trigger">): string[] =>
  trigger?.data.kind === "params" && Array.isArray(trigger.data.parameters)
    ? trigger.data.parameters.map((parameter) => String(parameter?.name))
    : [];

/** Nodes that lead straight to this one, in the order of the edges. */
export function nodesBefore({ graph, nodeId }: Pick<Readable, "graph" | "nodeId">): string[] {
  return [...new Set(graph.edges.filter((edge) => edge.target === nodeId).map((edge) => edge.source))];
}

/** True when the run came to what stands straight before the node, so that there is something to show. */
export const hasValuesBefore = (readable: Readable, run: LastRun): boolean =>
  nodesBefore(readable).some((id) => {
    const { status, isPast } = run.picture.nodes[id] ?? {};
    const isPinned = pinOf(readable.graph.nodes.find((node) => node.id === id)) !== null;
    return isPinned || readable.around.includes(id) || (!isPast && (status === "complete" || status === "failed"));
  });
