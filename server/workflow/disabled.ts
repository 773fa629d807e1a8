import { z } from "zod";
import type { NodeStatus } from "#server/runs/status-schema.ts";
import { language, makePlan, type Plan } from "#server/workflow/compile.ts";
import { definitionOf, handlesOf } from "#server/workflow/graph.ts";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";
import { pinnedWork } from "#server/workflow/pins.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

// A node that is switched off (`data.disabled`) does nothing and lets what it was given through, by the first way out that
// goes on: true of a branch, approved of a review, done of a loop, whose body is then skipped. Pure and browser-safe.

/** True for a node that is switched off. The trigger cannot be: without it nothing would start. */
export const isDisabled = (node: GraphNode | undefined): boolean =>
  node?.data.disabled === true && definitionOf(node.type)?.group !== "trigger";

/** Returns the handle by which a disabled node passes its input on; undefined for a node with a single handle. */
function offHandleOf({ offHandle, handles, body }: NodeDefinition, data: Readonly<Record<string, unknown>>): string | undefined {
  const names = typeof handles === "function" ? handles(data) : handles;
  return offHandle ?? names?.find((name) => name !== body?.handle);
}

const passed = new Map<string, NodeDefinition>();

/** What stands in for a definition while its node is switched off. */
function passThrough(definition: NodeDefinition): NodeDefinition {
  const known = passed.get(definition.type);
  if (known) return known;
  const { type, title, summary, hasInput, handles, fields } = definition;
  const through: NodeDefinition = {
    ...{ type, title, summary, hasInput, handles, group: "logic", isEffect: false, config: z.looseObject({}) },
    ...(fields && { fields }),
    run({ upstream, config }) {
      const handle = offHandleOf(definition, Object(config));
      return { output: upstream, ...(handle !== undefined && { handle }) };
    },
  };
  passed.set(type, through);
  return through;
}

/** Returns the handle by which a node left with this result; null when it has only one, or the text does not say. */
export function handleOf(node: GraphNode, { status, output }: { status: NodeStatus; output: string | null }): string | null {
  const definition = definitionOf(node.type);
  if (!definition?.handles || output === null) return null;
  if (isDisabled(node)) return offHandleOf(definition, node.data) ?? null;
  if (definition.body) return null;
  if (status === "failed") return definition.errorHandle ?? null;
  const result = definition.pin?.(output, node.data);
  return result && !("refusal" in result) ? result.handle : null;
}

/**
 * How a node works in a run: as its type says, letting things through when it is switched off, or with a pinned output where
 * pins count; undefined for an unknown type.
 */
export function workOf(node: GraphNode | undefined): NodeDefinition | undefined {
  const definition = pinnedWork(node) ?? (node && definitionOf(node.type));
  return definition && isDisabled(node) ? passThrough(definition) : definition;
}

/**
 * The plan of a run of this graph: a loop that is switched off, or whose output is pinned, has no body. What would be its body
 * is skipped, whatever else leads into it, and what follows the body follows the loop.
 */
export function runPlan(graph: Graph): Plan {
  const bodyOf = (node: GraphNode) => definitionOf(node.type)?.body?.handle;
  const isOff = (node: GraphNode) => bodyOf(node) !== undefined && (isDisabled(node) || pinnedWork(node) !== undefined);
  const loops = new Map(graph.nodes.flatMap((node) => (isOff(node) ? [[node.id, node] as const] : [])));
  const plan = makePlan(graph);
  if (loops.size === 0) return plan;
  const outermost = (id: string) => plan.loopsAround(id).find((loop) => loops.has(loop));
  const gates = new Set<GraphEdge>();
  const edges = graph.edges.map((edge): GraphEdge => {
    const [from, to] = [outermost(edge.source), outermost(edge.target)];
    const loop = loops.get(edge.source);
    // An edge of a loop that names no way out is one into its body.
    const own = loop && from === undefined && !edge.sourceHandle ? { ...edge, sourceHandle: bodyOf(loop) } : edge;
    if (from === to || to === edge.source) return own;
    const left = from === undefined ? undefined : loops.get(from);
    const after = left && handlesOf(left)?.find((name) => name !== bodyOf(left));
    const seen = left ? { ...edge, source: left.id, sourceHandle: after } : own;
    if (to === undefined) return seen;
    const gate = { ...seen, target: to };
    gates.add(gate);
    return gate;
  });
  const nodes = graph.nodes.map((node) => (loops.has(node.id) ? { ...node, type: "disabled" } : node));
  return makePlan(
    { nodes, edges },
    {
      ...language,
      isGate: (edge) => gates.has(edge),
      // A loop that does nothing still comes after the loop whose output it reads.
      templates: (node) => language.templates(loops.get(node.id) ?? node),
    },
  );
}
