import { z } from "zod";
import { definitionOf, type handlesOf, labelOf } from "#server/workflow/graph.ts";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";
import { type Graph, type GraphNode, Pinned } from "#server/workflow/schema.ts";

// An output that a person pinned to a node (`data.pinned`): test runs of the editor's draft take it instead of running the
// node. Every other run passes it over. Pure and browser-safe.

/** What a pinned node leaves behind. */
export interface Pin {
  output: string;
  handle: string | null;
}

/** True for a node at which an output can be pinned. */
export const canPin = (node: Pick<GraphNode, "type"> | undefined): boolean => definitionOf(node?.type ?? "")?.pin !== undefined;

/** Why nothing can be pinned at nodes of this type, as a sentence, or null when it can. */
function pinRefusal(type: string): string | null {
  const definition = definitionOf(type);
  if (definition?.pin) return null;
  if (definition?.group === "trigger") return "The trigger gives what a run is started with.";
  return `${definition?.title ?? "This node"} only passes on what it was given. Pin the node before it.`;
}

/** Whether a text can be the output of a node: why not, or null. */
export function pinFault({ type, data }: Parameters<typeof handlesOf>[0], output: string): string | null {
  const result = definitionOf(type ?? "")?.pin?.(output, data ?? {});
  if (!result) return pinRefusal(type ?? "");
  return "refusal" in result ? result.refusal : null;
}

/** The text pinned at a node, whether or not it can be its output. */
export const pinnedText = ({ data }: Pick<GraphNode, "data">): string | null => Pinned.safeParse(data.pinned).data?.output ?? null;

/** The pin of a node, or null when it has none, or one that cannot be its output. A node that is switched off does not use it. */
export function pinOf(node: GraphNode | undefined): Pin | null {
  const output = node && node.data.disabled !== true ? pinnedText(node) : null;
  const result = output === null ? undefined : definitionOf(node?.type ?? "")?.pin?.(output, node?.data ?? {});
  return output !== null && result && !("refusal" in result) ? { output, handle: result.handle } : null;
}

/** The first pin that cannot be what its node leaves behind, as a sentence. */
export function findPinFault({ nodes }: Graph): { node_id: string; message: string } | null {
  for (const node of nodes) {
    const output = node.data.disabled === true || !canPin(node) ? null : pinnedText(node);
    const fault = output === null ? null : pinFault(node, output);
    if (fault) return { node_id: node.id, message: `The output pinned at "${labelOf(node)}" cannot be used. ${fault}` };
  }
  return null;
}

// Nodes of graphs whose pins count. A key of the node would not do: a graph keeps keys that we do not know.
const honoured = new WeakMap<GraphNode, NodeDefinition>();
const graphs = new WeakMap<Graph, Graph>();

function standIn(definition: NodeDefinition, { output, handle }: Pin): NodeDefinition {
  const { type, title, summary, hasInput, handles, passesContent, fields, rejects } = definition;
  return {
    ...{ type, title, summary, hasInput, handles, group: "logic", isEffect: false, config: z.looseObject({}) },
    ...(passesContent && { passesContent }),
    ...(fields && { fields }),
    ...(rejects !== undefined && { rejects }),
    run: () => ({ output, ...(handle !== null && { handle }) }),
  };
}

/** The graph as a test run takes it: where a pin is, it stands in for the node's work. The same graph gives the same answer. */
export function withPins(graph: Graph): Graph {
  const known = graphs.get(graph);
  if (known) return known;
  const nodes = graph.nodes.map((node) => {
    const pin = pinOf(node);
    const definition = definitionOf(node.type);
    if (!pin || !definition) return node;
    const pinned = { ...node };
    honoured.set(pinned, standIn(definition, pin));
    return pinned;
  });
  const result = nodes.some((node) => honoured.has(node)) ? { ...graph, nodes } : graph;
  graphs.set(graph, result);
  return result;
}

/** What stands in for the work of a node whose pin counts; undefined for every other. */
export const pinnedWork = (node: GraphNode | undefined): NodeDefinition | undefined => (node ? honoured.get(node) : undefined);
