import { shorten } from "#server/shared/shorten.ts";
import { isReserved } from "#server/workflow/expressions.ts";
import { Listing, MAX_LISTED_LENGTH, runAtOnce } from "#server/workflow/listing.ts";
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
}

/** Most characters of a label. */
export const MAX_LABEL_LENGTH = 120;

/** The definition of a node's type, or undefined when there is no such type. */
export const definitionOf = (type: string): NodeDefinition | undefined =>
  Object.hasOwn(nodeDefinitions, type) ? (nodeDefinitions as unknown as Record<string, NodeDefinition>)[type] : undefined;

/** What people call a node: its label, else the title of its type. */
export function labelOf(node: GraphNode): string {
  const label = node.data.label;
  return typeof label === "string" && label.trim() !== "" ? label.trim() : (definitionOf(node.type)?.title ?? node.type);
}

export const quoted = (node: GraphNode | undefined, id: string) => `"${shorten(node ? labelOf(node) : id, MAX_LABEL_LENGTH)}"`;

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

/** Edges that close a cycle, and the cycle that each one closes. */
interface Closing {
  edges: ReadonlySet<GraphEdge>;
  /** Ids from the target of a closing edge to its source. */
  pathOf(edge: GraphEdge): string[];
}

/** Finds the edges that lead back to a node on the path of a depth-first walk: without them the graph has no cycle. Linear. */
function findClosing({ nodes, edges }: Graph): Closing {
  const next = Map.groupBy(edges, (edge) => edge.source);
  const cameFrom = new Map<string, string | null>();
  const open = new Set<string>();
  const closing = new Set<GraphEdge>();
  for (const { id: start } of nodes) {
    if (cameFrom.has(start)) continue;
    cameFrom.set(start, null);
    open.add(start);
    const path = [{ id: start, edges: (next.get(start) ?? []).values() }];
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const { value: edge } = last.edges.next();
      if (edge === undefined) {
        open.delete(last.id);
        path.pop();
      } else if (open.has(edge.target)) closing.add(edge);
      else if (!cameFrom.has(edge.target)) {
        cameFrom.set(edge.target, last.id);
        open.add(edge.target);
        path.push({ id: edge.target, edges: (next.get(edge.target) ?? []).values() });
      }
    }
  }
  const pathOf = ({ source, target }: GraphEdge) => {
    const path: string[] = [];
    for (let id: string | null = source; id !== null; id = id === target ? null : (cameFrom.get(id) ?? null)) path.push(id);
    return path.reverse();
  };
  return { edges: closing, pathOf };
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

/** Loops of one workflow. Dividing a graph into their bodies takes the product of loops and nodes. */
export const MAX_LOOPS = 100;

/** Faults that are compared when a change must add none to those that a draft has already. */
export const MAX_COMPARED = 10_000;

/** Most ids that a message lists. */
const MAX_IDS = 10;

/** A label as it is written in a message; stored ones may be of any length. */
const shownLabel = (node: GraphNode): string => shorten(labelOf(node), MAX_LABEL_LENGTH);

function* nodeFaults(graph: Graph, faults: Listing<GraphFault>): Generator<void> {
  const ids = new Set<string>();
  const labels = new Map<string, string>();
  for (const [index, node] of graph.nodes.entries()) {
    yield;
    const add = (message: () => string, field: string | null = null) =>
      faults.add(() => ({ path: `nodes.${index}${field ? `.${field}` : ""}`, node_id: node.id, field, message: message() }));
    const named = () => `Node "${node.id}" (${shownLabel(node)})`;
    if (ids.has(node.id)) add(() => `Node id "${node.id}" is used twice. Give each node an id of its own.`, "id");
    ids.add(node.id);
    // The one name under which JavaScript keeps nothing: results by node id would lose it.
    if (node.id === "__proto__") add(() => 'A node cannot have the id "__proto__". Give it another.', "id");
    const definition = definitionOf(node.type);
    if (!definition) {
      add(() => `Node "${node.id}" has the unknown type "${node.type}". Known types: ${Object.keys(nodeDefinitions).join(", ")}.`, "type");
      continue;
    }
    const { label } = node.data;
    if (label !== undefined && (typeof label !== "string" || label.length > MAX_LABEL_LENGTH)) {
      add(() => `Node "${node.id}": the label must be text of at most ${MAX_LABEL_LENGTH} characters.`, "data.label");
    } else if (label && !definition.isInert) {
      const name = labelOf(node);
      const other = labels.get(name);
      if (other !== undefined)
        add(() => `Nodes "${other}" and "${node.id}" are both labelled "${name}". Labels are unique in a workflow.`, "data.label");
      else labels.set(name, node.id);
    }
    const { disabled } = node.data;
    if (disabled !== undefined && typeof disabled !== "boolean") add(() => `${named()}: disabled must be true or false.`, "data.disabled");
    else if (disabled && definition.group === "trigger")
      add(() => "The trigger cannot be disabled: nothing would start. Switch the workflow off instead.", "data.disabled");
    if (node.data.pinned !== undefined && node.data.pinned !== null && !Pinned.safeParse(node.data.pinned).success)
      add(() => `${named()}: pinned must be {"output": text} with at most ${MAX_PINNED} characters.`, "data.pinned");
    const config = definition.config.safeParse(node.data);
    for (const { path, message } of config.error?.issues ?? []) {
      const field = shorten(["data", ...path].join("."), MAX_LISTED_LENGTH);
      add(() => `${named()}: ${shorten(path.join("."), MAX_LABEL_LENGTH)}: ${message}`, field);
    }
  }
}

/**
 * Lists names that expressions cannot read. A save refuses them where they are new; stored ones keep working and get a warning.
 * At most one a node, and those of one trigger's parameters.
 */
export function unreadableNames({ nodes }: Graph): GraphFault[] {
  const trigger = nodes.findIndex((node) => definitionOf(node.type)?.group === "trigger");
  const parameters = nodes[trigger]?.data.parameters;
  const named = (Array.isArray(parameters) ? parameters : []).findIndex((parameter) => Object(parameter).name === "output");
  const fault = (index: number, field: string, message: string): GraphFault => {
    const { id = "" } = nodes[index] ?? {};
    return { path: `nodes.${index}.${field}`, node_id: id, field, message: shorten(`Node "${id}": ${message}`, MAX_LISTED_LENGTH) };
  };
  const labels = nodes.flatMap((node, index) => {
    const { label } = node.data;
    const definition = definitionOf(node.type);
    if (typeof label !== "string") return [];
    if (/[{}]/.test(label))
      return fault(
        index,
        "data.label",
        `leave braces out of the label "${shorten(label, MAX_LABEL_LENGTH)}". Expressions are written in braces and could not read it.`,
      );
    if (definition?.isInert || definition?.group === label.trim() || !isReserved(label)) return [];
    return fault(
      index,
      "data.label",
      `the label "${label.trim()}" is reserved: {{${label.trim()}.…}} reads something else. Choose another label.`,
    );
  });
  const output = "a parameter cannot be named output: {{trigger.output}} reads all values together. Choose another name.";
  return named === -1 ? labels : [...labels, fault(trigger, `data.parameters.${named}.name`, output)];
}

/** The way round a cycle in words; of a long one its beginning and its end. */
function cycleText(path: readonly string[]): string {
  const shown = path.length <= MAX_IDS ? path : [...path.slice(0, 4), "…", ...path.slice(-4)];
  return [...shown, path[0]].map((id) => shorten(String(id), 40)).join(" → ");
}

function* edgeFaults(graph: Graph, faults: Listing<GraphFault>): Generator<void> {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const ids = new Set<string>();
  const closing = findClosing(graph);
  for (const [index, edge] of graph.edges.entries()) {
    if (index % 100 === 0) yield;
    const name = () => `Edge "${edge.id}" (${edge.source} → ${edge.target})`;
    const add = (message: () => string) => faults.add(() => ({ path: `edges.${index}`, node_id: null, field: null, message: message() }));
    if (ids.has(edge.id)) add(() => `Edge id "${edge.id}" is used twice.`);
    ids.add(edge.id);
    const source = nodes.get(edge.source);
    const target = nodes.get(edge.target);
    if (!source || !target) {
      const [way, lost] = source ? ["to", edge.target] : ["from", edge.source];
      add(() => `${name()} leads ${way} a node that is not in the workflow: "${lost}".`);
      continue;
    }
    if (closing.edges.has(edge)) {
      add(() => `${name()} closes a cycle: ${cycleText(closing.pathOf(edge))}. Remove it: workflows run one way only.`);
      continue;
    }
    const ends = refusedEnds(source, target, edge.sourceHandle);
    if (ends) add(() => `${name()}: ${ends}`);
    else if (edge.targetHandle && edge.targetHandle !== "input")
      add(() => `${name()}: ${quoted(target, target.id)} has no way in named "${edge.targetHandle}". Leave targetHandle out.`);
  }
}

/**
 * Checks types, ids, labels, config shapes, the one trigger, edges, handles and cycles, in slices. Linear in the graph.
 * @param limit of the faults listed, 50 unless given
 */
export function* checkStructure(graph: Graph, limit?: number): Generator<void, Listing<GraphFault>> {
  const faults = new Listing<GraphFault>(limit);
  const triggers = graph.nodes.filter((node) => definitionOf(node.type)?.group === "trigger");
  const whole = (message: string) => faults.add(() => ({ path: "nodes", node_id: null, field: null, message }));
  if (triggers.length === 0) whole("The workflow has no trigger. Add one triggerNode.");
  if (triggers.length > 1) {
    const shown = triggers.slice(0, MAX_IDS).map(({ id }) => shorten(id, 30));
    const list = triggers.length > MAX_IDS ? [...shown, "…"] : shown;
    whole(`The workflow has ${triggers.length} triggers (${list.join(", ")}). Keep exactly one.`);
  }
  const loops = graph.nodes.filter((node) => definitionOf(node.type)?.body).length;
  if (loops > MAX_LOOPS) whole(`The workflow has ${loops} loops, and ${MAX_LOOPS} are allowed. Move some to a workflow of their own.`);
  yield* nodeFaults(graph, faults);
  yield* edgeFaults(graph, faults);
  return faults;
}

/**
 * Checks what a save refuses, in slices: the structure, and names that expressions cannot read.
 * @param stored the graph that the save replaces; its names stay allowed
 */
export function* checkSave(graph: Graph, stored?: Graph, limit?: number): Generator<void, Listing<GraphFault>> {
  const faults = yield* checkStructure(graph, limit);
  const known = new Set(stored && unreadableNames(stored).map(({ message }) => message));
  for (const fault of unreadableNames(graph)) if (!known.has(fault.message)) faults.add(() => fault);
  return faults;
}

/**
 * Returns the faults of a new graph that a save refuses.
 * @param limit of the faults returned, 50 unless given
 */
export const findFaults = (graph: Graph, limit?: number): GraphFault[] => runAtOnce(checkSave(graph, undefined, limit)).items;

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

/** Labels first, then aliases such as agents' names; of a stored graph, those of when it was stored. */
export function namesOf(graph: Graph, scope: NodeScope): NamedNode[] {
  const { agent_names } = graph;
  const stored = (id: string) => (agent_names && Object.hasOwn(agent_names, id) ? agent_names[id] : undefined);
  const named = agent_names ? { ...scope, agentName: (id: string) => stored(id) ?? scope.agentName(id) } : scope;
  const active = graph.nodes.filter((node) => !definitionOf(node.type)?.isInert);
  const labels = active.map((node) => ({ name: labelOf(node), node, isAlias: false }));
  const aliases = active.flatMap((node) => {
    const definition = definitionOf(node.type);
    const config = definition?.config.safeParse(node.data);
    const alias = config?.success ? definition?.alias?.(config.data, named) : undefined;
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
