import { z } from "zod";
import type { NodeDefinition } from "#server/engine/define-node.ts";
import { definitionOf } from "#server/engine/graph.ts";
import { makePlan, type Plan } from "#server/engine/plan.ts";
import type { Graph, GraphNode } from "#server/schemas/graph.ts";

// A node that is switched off (`data.disabled`) does nothing and lets what it was given through, by the first way out that
// goes on: true of a branch, approved of a review, done of a loop, whose body is then skipped. Pure and browser-safe.

/** True for a node that is switched off. The trigger cannot be: without it nothing would start. */
export const isDisabled = (node: GraphNode | undefined): boolean =>
  node?.data.disabled === true && definitionOf(node.type)?.group !== "trigger";

const passed = new Map<string, NodeDefinition>();

/** What stands in for a definition while its node is switched off. */
function passThrough(definition: NodeDefinition): NodeDefinition {
  const known = passed.get(definition.type);
  if (known) return known;
  const { type, title, summary, hasInput, handles, body, fields } = definition;
  const handle = handles?.find((name) => name !== body?.handle);
  const through: NodeDefinition = {
    ...{ type, title, summary, hasInput, handles, group: "logic", isEffect: false, config: z.looseObject({}) },
    ...(fields && { fields }),
    run: ({ upstream }) => ({ output: upstream, ...(handle !== undefined && { handle }) }),
  };
  passed.set(type, through);
  return through;
}

/** How a node works in a run: as its type says, or letting things through when it is switched off; undefined for an unknown type. */
export function workOf(node: GraphNode | undefined): NodeDefinition | undefined {
  const definition = node && definitionOf(node.type);
  return definition && isDisabled(node) ? passThrough(definition) : definition;
}

/** The plan of a run of this graph: a loop that is switched off has no body. */
export function runPlan(graph: Graph): Plan {
  if (!graph.nodes.some(isDisabled)) return makePlan(graph);
  return makePlan({ ...graph, nodes: graph.nodes.map((node) => (isDisabled(node) ? { ...node, type: "disabled" } : node)) });
}
