import type { NodeDefinition, NodeScope } from "#server/workflow/nodes/definition.ts";
import { nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";
import { type Graph, type GraphEdge, type GraphNode, MAX_PINNED, Pinned } from "#server/workflow/schema.ts";

// What a graph may be. Pure and browser-safe: the canvas, every save and every run start ask the same functions.

/** A break of the rules that a save refuses; `path` points into the request, e.g. `edges.3`. */
export interface GraphFault {
  path: string;
  node_id: string | null;
  field: string | null;
  message: string;
  /** A save refuses it, but what was saved before that rule goes on running. */
  isForSaves?: true;
}

/** The definition of a node's type, or undefined when there is no such type. */
export const definitionOf = (type: string): NodeDefinition | undefined =>
  Object.hasOwn(nodeDefinitions, type) ? (nodeDefinitions as unknown as Record<string, NodeDefinition>)[type] : undefined;

/** What people call a node: its label, else the title of its type. */
export function labelOf(node: GraphNode): string {
  const label = node.data.label;
  return typeof label === "string" && label.trim() !== "" ? label.trim() : (definitionOf(node.type)?.title ?? node.type);
}

export const quoted = (node: GraphNode | undefined, id: string) => `"${node ? labelOf(node) : id}"`;

/** True when a node's failure is passed on as its output instead of failing what it belongs to (contract, section 4). */
export const goesOnAfterFailure = (node: GraphNode | undefined): boolean =>
  node?.data.on_error === "continue" && Object.hasOwn(definitionOf(node.type)?.config.shape ?? {}, "on_error");

/** Names of the ways out of a node; null for a single unnamed one, empty for none and for an unknown type. */
export function handlesOf({
  type,
  data,
}: {
  type?: string | undefined;
  data?: Readonly<Record<string, unknown>> | undefined;
}): readonly string[] | null {
  const handles = definitionOf(type ?? "")?.handles;
  return handles === undefined ? [] : typeof handles === "function" ? handles(data ?? {}) : handles;
}

/** What expressions can read of a node: its output, and what its type and config have besides. */
export function fieldsOf({ type, data }: GraphNode): string[] {
  const definition = definitionOf(type);
  return ["output", ...Object.keys(definition?.fields ?? {}).filter((field) => definition?.hasField?.(field, data) ?? true)];
}

/** The way out that a connection means which names none; undefined where it must name one, or there is only one without a name. */
export function plainHandleOf(type: string | undefined): string | undefined {
  const definition = definitionOf(type ?? "");
  return definition?.body?.handle ?? definition?.plainHandle;
}

/** The ways out of a review with nothing attached that end the whole run when somebody chooses them. */
export function endsByRejection(node: GraphNode, edges: readonly GraphEdge[]): string[] {
  const rejecting = definitionOf(node.type)?.rejects?.(node.data) ?? [];
  return rejecting.filter((handle) => !edges.some((edge) => edge.source === node.id && edge.sourceHandle === handle));
}

/** What people call a way out of a node. */
export const handleTitle = ({ type, data }: Parameters<typeof handlesOf>[0], handle: string): string =>
  definitionOf(type ?? "")?.handleTitle?.(handle, data ?? {}) ?? handle;

/**
 * Whether what came to a node goes on to what follows it, because the node only decides.
 * @param handle by which it left; null when that is not known
 */
export function passesContent(
  { data }: Pick<GraphNode, "data">,
  definition: Pick<NodeDefinition, "passesContent"> | undefined,
  handle: string | null,
): boolean {
  const passes = definition?.passesContent;
  return typeof passes === "function" ? passes(data, handle) : passes === true;
}

type Adjacency = Map<string, GraphEdge[]>;

/** Ids from `from` to `to` along the edges, or undefined when no path leads there. */
function findPath(next: Adjacency, from: string, to: string): string[] | undefined {
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

/**
 * Ids such that every edge leads from an earlier to a later one. What lies in a cycle, or beyond one, is left out.
 * @param ids every node; edges between others are passed over
 */
export function topologicalOrder(ids: readonly string[], next: ReadonlyMap<string, readonly { target: string }[]>): string[] {
  const waits = new Map(ids.map((id) => [id, 0]));
  const targets = (id: string) => (next.get(id) ?? []).flatMap(({ target }) => (waits.has(target) ? [target] : []));
  for (const id of ids) for (const target of targets(id)) waits.set(target, (waits.get(target) ?? 0) + 1);
  const order = ids.filter((id) => waits.get(id) === 0);
  for (const id of order) {
    for (const target of targets(id)) {
      const left = (waits.get(target) ?? 1) - 1;
      waits.set(target, left);
      if (left === 0) order.push(target);
    }
  }
  return order;
}

/** True when the edges lead round somewhere. */
function hasCycle(edges: readonly GraphEdge[]): boolean {
  const ids = [...new Set(edges.flatMap(({ source, target }) => [source, target]))];
  return (
    topologicalOrder(
      ids,
      Map.groupBy(edges, (edge) => edge.source),
    ).length < ids.length
  );
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
  const handles = handlesOf(source);
  if (handles !== null && handles.length === 0) return `Nothing can follow a ${from.title}.`;
  if (!to.hasInput) return to.group === "trigger" ? "Nothing can lead into the trigger." : `A ${to.title} cannot be connected.`;
  const way = handle || (plainHandleOf(source.type) ?? "");
  if (handles !== null && !handles.includes(way))
    return `Say which way out of ${quoted(source, source.id)} it leaves: ${handles.join(" or ")}.`;
  if (handles === null && handle && handle !== "output") return `${quoted(source, source.id)} has no way out named "${handle}".`;
  const refusals = from.refuses ?? {};
  const exit = handles === null ? "" : way;
  // Ways out have names that people give, such as "constructor".
  const refused = Object.hasOwn(refusals, exit) ? refusals[exit] : undefined;
  if (refused?.includes(target.type)) return `A ${to.title} cannot follow ${handle ? `"${handle}" of ` : ""}a ${from.title}.`;
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
  if (
    findPath(
      Map.groupBy(graph.edges, (edge) => edge.source),
      target.id,
      source.id,
    )
  )
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
    // The one name under which JavaScript keeps nothing: results by node id would lose it.
    if (node.id === "__proto__") add('A node cannot have the id "__proto__". Give it another.', "id");
    const definition = definitionOf(node.type);
    if (!definition) {
      add(`Node "${node.id}" has the unknown type "${node.type}". Known types: ${Object.keys(nodeDefinitions).join(", ")}.`, "type");
      continue;
    }
    if (typeof node.data.label === "string" && /[{}]/.test(node.data.label))
      faults.push({
        ...{ path: `nodes.${index}.data.label`, node_id: node.id, field: "data.label", isForSaves: true },
        message: `Node "${node.id}": leave braces out of the label "${node.data.label}". Expressions stand in braces and could not read it.`,
      });
    if (node.data.label !== undefined && (typeof node.data.label !== "string" || node.data.label.length > 120)) {
      add(`Node "${node.id}": the label must be text of at most 120 characters.`, "data.label");
    } else if (node.data.label && !definition.isInert) {
      const label = labelOf(node);
      const other = labels.get(label);
      if (other !== undefined)
        add(`Nodes "${other}" and "${node.id}" are both labelled "${label}". Labels are unique in a workflow.`, "data.label");
      else labels.set(label, node.id);
    }
    const { disabled } = node.data;
    if (disabled !== undefined && typeof disabled !== "boolean")
      add(`Node "${node.id}" (${labelOf(node)}): disabled must be true or false.`, "data.disabled");
    else if (disabled && definition.group === "trigger")
      add("The trigger cannot be disabled: nothing would start. Switch the workflow off instead.", "data.disabled");
    if (node.data.pinned !== undefined && node.data.pinned !== null && !Pinned.safeParse(node.data.pinned).success)
      add(`Node "${node.id}" (${labelOf(node)}): pinned must be {"output": text} with at most ${MAX_PINNED} characters.`, "data.pinned");
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
  // Which edge closes a cycle is looked for only when there is one.
  const isRound = hasCycle(graph.edges);
  const kept: Adjacency = new Map();
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
    const back = isRound && (edge.source === edge.target ? [edge.source] : findPath(kept, edge.target, edge.source));
    const ends = refusedEnds(source, target, edge.sourceHandle);
    if (back) add(`${name} closes a cycle: ${[...back, edge.target].join(" → ")}. Remove it: workflows run one way only.`);
    else if (ends) add(`${name}: ${ends}`);
    else if (edge.targetHandle && edge.targetHandle !== "input")
      add(`${name}: ${quoted(target, target.id)} has no way in named "${edge.targetHandle}". Leave targetHandle out.`);
    if (isRound && !back) kept.set(edge.source, [...(kept.get(edge.source) ?? []), edge]);
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

let readable: ReadonlySet<string> | undefined;

/** True for what can be read of some type of node: `output`, `decision`, `current_item`, … */
export function isReadable(field: string): boolean {
  const definitions: readonly NodeDefinition[] = Object.values(nodeDefinitions) as unknown as NodeDefinition[];
  readable ??= new Set(["output", ...definitions.flatMap(({ fields, body }) => [...Object.keys(fields ?? {}), ...(body?.fields ?? [])])]);
  return readable.has(field);
}

/** A graph whose edges name the way out that they leave by, where leaving it out means one. Of a loop, its body goes without. */
export function withNamedHandles(graph: Graph): Graph {
  const plain = new Map(graph.nodes.flatMap(({ id, type }) => [[id, definitionOf(type)?.plainHandle]]));
  const edges = graph.edges.map((edge) => {
    const handle = edge.sourceHandle ? undefined : plain.get(edge.source);
    return handle === undefined ? edge : { ...edge, sourceHandle: handle };
  });
  return { ...graph, edges };
}

/** An edge without the names "output" and "input", by which ports that have none may be called. */
export function withoutPlainHandles<Edge extends { sourceHandle?: unknown; targetHandle?: unknown }>(edge: Edge): Edge {
  const { sourceHandle, targetHandle, ...rest } = edge;
  const named = { ...(sourceHandle !== "output" && { sourceHandle }), ...(targetHandle !== "input" && { targetHandle }) };
  // cast: what is left out may be left out
  return { ...rest, ...Object.fromEntries(Object.entries(named).filter(([, name]) => name !== undefined)) } as Edge;
}
