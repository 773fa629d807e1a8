import { dependentsOf } from "#server/workflow/compile.ts";
import { runPlan, workOf } from "#server/workflow/disabled.ts";
import { withoutExpressions } from "#server/workflow/expression-scan.ts";
import { slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, passesContent, topologicalOrder } from "#server/workflow/graph.ts";
import { textsOf, withTexts } from "#server/workflow/node-texts.ts";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";
import { pinnedWork } from "#server/workflow/pins.ts";
import { nodesReading } from "#server/workflow/rename.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** Returns true when a node uses what connections bring it, or may once its expressions turn out empty. */
function takesUpstream(definition: NodeDefinition, { data }: GraphNode): boolean {
  if (textsOf(definition, data, "python").length > 0) return true;
  const config = definition.config.safeParse(data);
  if (!config.success) return true;

  const written: Readonly<Record<string, unknown>> = config.data;
  const plain = withTexts(definition, written, "template", withoutExpressions);
  const taken = definition.takesUpstream?.(plain);
  if (taken !== undefined) return taken;

  const own = definition.input ?? textsOf(definition, written, "template")[0]?.path;
  const text = own === undefined ? undefined : (definition.isEffect ? plain : written)[own];
  return typeof text !== "string" || text.trim() === "";
}

/** Nodes that depend on the values of the trigger. */
interface TriggerReaders {
  /** Top-level nodes that read the trigger themselves, in graph order; a loop stands for its body. */
  readers: readonly string[];
  /** They and all nodes after them, with the bodies of loops among them, without the trigger. */
  dependents: ReadonlySet<string>;
}

/**
 * Finds what reads the trigger of a graph: in expressions and conditions, or over connections, also through nodes that pass on what
 * came to them. Names a node too many rather than one too few. Pure and browser-safe.
 * @param graph with the pins that count (withPins)
 */
export function triggerReaders(graph: Graph): TriggerReaders {
  const trigger = graph.nodes.find(({ type }) => definitionOf(type)?.group === "trigger");
  const plan = runPlan(graph);
  const top = plan.scopes.get(null);
  if (!trigger || !top) return { readers: [], dependents: new Set() };

  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const incoming = (id: string) => (plan.scopes.get(plan.ownerOf(id))?.incoming.get(id) ?? []).filter(({ isGate }) => !isGate);
  const known = new Map([[trigger.id, true]]);
  /** Returns true for the trigger and for a node that passes its output on. */
  const carries = (id: string): boolean => {
    const answer = known.get(id);
    if (answer !== undefined) return answer;
    known.set(id, false);
    const node = byId.get(id);
    const result = node !== undefined && passesContent(node, workOf(node), null) && incoming(id).some(({ source }) => carries(source));
    known.set(id, result);
    return result;
  };

  const byName = nodesReading(graph, ({ target, name }) => target === trigger.id || (target === undefined && slugOf(name) === "trigger"));
  const reads = (node: GraphNode): boolean => {
    const definition = workOf(node);
    if (node === trigger || !definition || definition.isInert || pinnedWork(node)) return false;
    if (definition === definitionOf(node.type)) {
      if (byName.has(node.id)) return true;
      if (textsOf(definition, node.data, "python").some(({ text }) => text.includes("trigger_output"))) return true;
    }
    return incoming(node.id).some(({ source }) => carries(source)) && takesUpstream(definition, node);
  };

  const unitOf = (id: string) => plan.loopsAround(id)[0] ?? id;
  const units = new Set(graph.nodes.filter(reads).map(({ id }) => unitOf(id)));
  const readers = topologicalOrder(top.nodeIds, top.outgoing).filter((id) => units.has(id));
  const after = dependentsOf(top, ...readers);
  return { readers, dependents: new Set(graph.nodes.flatMap(({ id }) => (after.has(unitOf(id)) ? [id] : []))) };
}
