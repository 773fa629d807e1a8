import type { NodeDefinition, NodeScope } from "#server/engine/define-node.ts";
import { matchName, referencesOf, suggestion } from "#server/engine/expressions.ts";
import { nodeDefinitions } from "#server/engine/nodes/registry.gen.ts";
import type { Graph, GraphEdge, GraphNode, Problem } from "#server/schemas/graph.ts";

// What a graph may be. Pure and browser-safe: the canvas, every save and every run start ask the same functions.

/** A break of the rules that a save refuses; `path` points into the request, e.g. `edges.3`. */
export interface GraphFault {
  path: string;
  node_id: string | null;
  field: string | null;
  message: string;
}

/** The definition of a node's type, or undefined when there is no such type. */
export const definitionOf = (type: string): NodeDefinition | undefined =>
  Object.hasOwn(nodeDefinitions, type) ? (nodeDefinitions as unknown as Record<string, NodeDefinition>)[type] : undefined;

/** What people call a node: its label, else the title of its type. */
export function labelOf(node: GraphNode): string {
  const label = node.data.label;
  return typeof label === "string" && label.trim() !== "" ? label.trim() : (definitionOf(node.type)?.title ?? node.type);
}

const quoted = (node: GraphNode | undefined, id: string) => `"${node ? labelOf(node) : id}"`;

/** Ids from `from` to `to` along the edges, or undefined when no path leads there. */
function findPath(edges: readonly GraphEdge[], from: string, to: string): string[] | undefined {
  const next = Map.groupBy(edges, (edge) => edge.source);
  const cameFrom = new Map<string, string | null>([[from, null]]);
  for (const id of cameFrom.keys()) {
    if (id === to) {
      const path: string[] = [];
      for (let step: string | null = id; step !== null; step = cameFrom.get(step) ?? null) path.unshift(step);
      return path;
    }
    for (const edge of next.get(id) ?? []) if (!cameFrom.has(edge.target)) cameFrom.set(edge.target, id);
  }
  return undefined;
}

interface Connection {
  source: string;
  target: string;
  sourceHandle?: string | null | undefined;
}

/** Why the two ends do not go together, or null. Does not look at the rest of the graph. */
function refusedEnds(source: GraphNode, target: GraphNode, handle: string | null | undefined): string | null {
  const from = definitionOf(source.type);
  const to = definitionOf(target.type);
  if (!from || !to) return null; // an unknown type is a fault of its own
  if (from.handles !== null && from.handles.length === 0) return `Nothing can follow a ${from.title}.`;
  if (!to.hasInput) return to.group === "trigger" ? "Nothing can lead into the trigger." : `A ${to.title} cannot be connected.`;
  if (from.handles !== null && !from.handles.includes(handle ?? ""))
    return `Say which way out of ${quoted(source, source.id)} it leaves: ${from.handles.join(" or ")}.`;
  if (from.handles === null && handle && handle !== "output") return `${quoted(source, source.id)} has no way out named "${handle}".`;
  const refused = from.refuses?.[from.handles === null ? "" : (handle ?? "")] ?? [];
  if (refused.includes(target.type)) return `A ${to.title} cannot follow ${handle ? `"${handle}" of ` : ""}a ${from.title}.`;
  return null;
}

/**
 * Why this connection may not be drawn, as a sentence, or null when it may.
 * @param graph the graph without the new edge
 */
export function checkConnection(graph: Graph, connection: Connection): string | null {
  const source = graph.nodes.find((node) => node.id === connection.source);
  const target = graph.nodes.find((node) => node.id === connection.target);
  if (!source || !target) return "Both ends must be nodes of this workflow.";
  if (source.id === target.id) return "A node cannot follow itself.";
  const ends = refusedEnds(source, target, connection.sourceHandle);
  if (ends) return ends;
  const isSame = (edge: GraphEdge) =>
    edge.source === source.id && edge.target === target.id && (edge.sourceHandle ?? "") === (connection.sourceHandle ?? "");
  if (graph.edges.some(isSame)) return "These two are connected already.";
  if (findPath(graph.edges, target.id, source.id))
    return `This would make a circle: ${quoted(target, target.id)} already leads to ${quoted(source, source.id)}. Workflows run one way only.`;
  return null;
}

function nodeFaults(graph: Graph): GraphFault[] {
  const faults: GraphFault[] = [];
  const ids = new Set<string>();
  const labels = new Map<string, string>();
  for (const [index, node] of graph.nodes.entries()) {
    const add = (message: string, field: string | null = null) =>
      faults.push({ path: `nodes.${index}${field ? `.${field}` : ""}`, node_id: node.id, field, message });
    if (ids.has(node.id)) add(`Node id "${node.id}" is used twice. Give each node an id of its own.`, "id");
    ids.add(node.id);
    const definition = definitionOf(node.type);
    if (!definition) {
      add(`Node "${node.id}" has the unknown type "${node.type}". Known types: ${Object.keys(nodeDefinitions).join(", ")}.`, "type");
      continue;
    }
    if (node.data.label !== undefined && (typeof node.data.label !== "string" || node.data.label.length > 120)) {
      add(`Node "${node.id}": the label must be text of at most 120 characters.`, "data.label");
    } else if (node.data.label && !definition.isInert) {
      const label = labelOf(node);
      const other = labels.get(label);
      if (other !== undefined)
        add(`Nodes "${other}" and "${node.id}" are both labelled "${label}". Labels are unique in a workflow.`, "data.label");
      else labels.set(label, node.id);
    }
    const config = definition.config.safeParse(node.data);
    for (const issue of config.error?.issues ?? [])
      add(`Node "${node.id}" (${labelOf(node)}): ${issue.path.join(".")}: ${issue.message}`, ["data", ...issue.path].join("."));
  }
  return faults;
}

function edgeFaults(graph: Graph): GraphFault[] {
  const faults: GraphFault[] = [];
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const ids = new Set<string>();
  const kept: GraphEdge[] = [];
  for (const [index, edge] of graph.edges.entries()) {
    const name = `Edge "${edge.id}" (${edge.source} → ${edge.target})`;
    const add = (message: string) => faults.push({ path: `edges.${index}`, node_id: null, field: null, message });
    if (ids.has(edge.id)) add(`Edge id "${edge.id}" is used twice.`);
    ids.add(edge.id);
    const source = nodes.get(edge.source);
    const target = nodes.get(edge.target);
    if (!source || !target) {
      add(`${name} leads ${source ? "to" : "from"} a node that is not in the workflow: "${source ? edge.target : edge.source}".`);
      continue;
    }
    const back = edge.source === edge.target ? [edge.source] : findPath(kept, edge.target, edge.source);
    const ends = refusedEnds(source, target, edge.sourceHandle);
    if (back) add(`${name} closes a cycle: ${[...back, edge.target].join(" → ")}. Remove it: workflows run one way only.`);
    else if (ends) add(`${name}: ${ends}`);
    if (!back) kept.push(edge);
  }
  return faults;
}

/** Every structural fault: types, ids, labels, config shapes, one trigger, edges, handles, cycles. A save needs none. */
export function findFaults(graph: Graph): GraphFault[] {
  const triggers = graph.nodes.filter((node) => definitionOf(node.type)?.group === "trigger");
  const whole = (message: string): GraphFault => ({ path: "nodes", node_id: null, field: null, message });
  return [
    ...(triggers.length === 0 ? [whole("The workflow has no trigger. Add one triggerNode.")] : []),
    ...(triggers.length > 1
      ? [whole(`The workflow has ${triggers.length} triggers (${triggers.map((node) => node.id).join(", ")}). Keep exactly one.`)]
      : []),
    ...nodeFaults(graph),
    ...edgeFaults(graph),
  ];
}

/** Ids of every node from which `id` can be reached. */
export function upstreamOf(graph: Graph, id: string): Set<string> {
  const before = Map.groupBy(graph.edges, (edge) => edge.target);
  const found = new Set<string>();
  const open = [id];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const edge of before.get(current) ?? []) {
      if (found.has(edge.source)) continue;
      found.add(edge.source);
      open.push(edge.source);
    }
  }
  return found;
}

/** A name that expressions can use, and the node it stands for; a label comes before an agent's name of the same spelling. */
export interface NamedNode {
  name: string;
  node: GraphNode;
  isAlias: boolean;
}

/** Labels first, then aliases such as agents' names. */
export function namesOf(graph: Graph, scope: NodeScope): NamedNode[] {
  const active = graph.nodes.filter((node) => !definitionOf(node.type)?.isInert);
  const labels = active.map((node) => ({ name: labelOf(node), node, isAlias: false }));
  const aliases = active.flatMap((node) => {
    const definition = definitionOf(node.type);
    const config = definition?.config.safeParse(node.data);
    const alias = config?.success ? definition?.alias?.(config.data, scope) : undefined;
    return alias ? [{ name: alias, node, isAlias: true }] : [];
  });
  return [...labels, ...aliases];
}

/** Config fields of a type whose text may hold expressions. */
export const templateFields = (definition: NodeDefinition): string[] =>
  Object.entries(definition.config.shape)
    .filter(([, field]) => (field as { meta(): { template?: boolean } | undefined }).meta()?.template)
    .map(([name]) => name);

/** Names that expressions can use besides nodes. */
const ROOTS = ["trigger", "execution"];

function referenceProblems(graph: Graph, node: GraphNode, scope: NodeScope): Problem[] {
  const definition = definitionOf(node.type);
  if (!definition) return [];
  const names = namesOf(graph, scope);
  const upstream = upstreamOf(graph, node.id);
  const params = graph.nodes.find((other) => other.type === "triggerNode")?.data.parameters;
  const triggerFields = ["output", ...(Array.isArray(params) ? params.map((parameter) => String(parameter?.name)) : [])];
  return templateFields(definition).flatMap((field) =>
    referencesOf(String(node.data[field] ?? "")).flatMap((reference) => {
      const problem = (message: string): Problem[] => [{ node_id: node.id, field, message }];
      if (reference.fault) return problem(reference.fault);
      if (reference.head === "execution") return reference.path[0] === "id" ? [] : problem(`${reference.source}: execution has only "id".`);
      if (reference.head === "trigger") {
        const wanted = String(reference.path[0]);
        return triggerFields.includes(wanted)
          ? []
          : problem(`${reference.source}: the trigger gives no "${wanted}".${suggestion(triggerFields, wanted)}`);
      }
      const named = matchName(names, reference.head);
      if (!named)
        return problem(
          `${reference.source} names nothing in this workflow.${suggestion([...ROOTS, ...names.map((entry) => entry.name)], reference.head)}`,
        );
      const isBefore = names.some((entry) => entry.name === named.name && upstream.has(entry.node.id));
      return isBefore
        ? []
        : problem(
            `${reference.source}: ${quoted(named.node, named.node.id)} does not come before this node. Connect it upstream to read its output.`,
          );
    }),
  );
}

/** Everything that would stop a run: the structural faults, and what is not filled in yet. */
export function findProblems(graph: Graph, scope: NodeScope): Problem[] {
  const faults = findFaults(graph).map(({ node_id, field, message }) => ({
    node_id,
    field: field?.replace(/^data\./, "") ?? null,
    message,
  }));
  const nodes = graph.nodes.flatMap((node) => {
    const definition = definitionOf(node.type);
    const config = definition?.config.safeParse(node.data);
    if (!definition || !config?.success) return [];
    const own = (definition.problems?.(config.data, scope) ?? []).map((problem) => ({ node_id: node.id, ...problem }));
    return [...own, ...referenceProblems(graph, node, scope)];
  });
  return [...faults, ...nodes];
}
