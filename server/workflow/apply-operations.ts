import { nearestName, shownName } from "#server/workflow/expressions.ts";
import {
  checkConnection,
  definitionOf,
  findFaults,
  type GraphFault,
  labelOf,
  MAX_COMPARED,
  plainHandleOf,
  quoted,
} from "#server/workflow/graph.ts";
import { alignLoopsToFrames, bodiesOf, type Drawing, isLoop, loopsAround } from "#server/workflow/layout/loop-frames.ts";
import { overlapsIn, placeNodes } from "#server/workflow/layout/place.ts";
import { tidyPositions } from "#server/workflow/layout/tidy.ts";
import { fieldNames } from "#server/workflow/node-fields.ts";
import { hasTexts } from "#server/workflow/node-texts.ts";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";
import { nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";
import type { Operation } from "#server/workflow/operations.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";
import "#server/shared/messages.ts"; // whoever loads this, what a schema refuses is said in our words

// What operations make of a graph. Pure and browser-safe. Apart from operations.ts because it brings the layout along.

/** Why an operation cannot be done, in words by which whoever gave it can mend it. */
export interface OperationFault {
  /** Which one, from 0; null when it is the whole that does not hold together. */
  index: number | null;
  message: string;
}

type Data = Record<string, unknown>;
type Of<Op extends Operation["op"]> = Extract<Operation, { op: Op }>;

/** Most ids that a message lists, and most unknown fields that it explains. */
const MOST_LISTED = 30;
const MAX_UNKNOWN_FIELDS = 10;

const listed = (values: readonly string[]) =>
  values.length > MOST_LISTED ? `${values.slice(0, MOST_LISTED).join(", ")}, …` : values.join(", ");

function meant(names: readonly string[], wanted: string): string {
  const name = nearestName(names, wanted);
  return name === undefined ? "" : ` Did you mean "${name}"?`;
}

/** The editor's document of a graph, as far as places go. */
function drawingOf({ nodes, edges }: Graph): Drawing {
  const size = (value: unknown) => (typeof value === "number" ? value : undefined);
  return {
    nodes: nodes.map(({ id, type, position, width, height }) => ({ id, type, position, width: size(width), height: size(height) })),
    edges: edges.map(({ id, source, target, sourceHandle }) => ({ id, source, target, sourceHandle })),
    data: Object.fromEntries(nodes.map(({ id, data }) => [id, data])),
  };
}

const placedAt = (graph: Graph, places: ReadonlyMap<string, { x: number; y: number }>): Graph => ({
  ...graph,
  nodes: graph.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position })),
});

/** `wanted`, or with the first number that nobody has. */
function unused(wanted: string, isTaken: (name: string) => boolean, joint: string): string {
  let name = wanted;
  for (let count = 2; isTaken(name); count++) name = `${wanted}${joint}${count}`;
  return name;
}

/** A graph while operations are done on it, one after the other. Each of them says what is wrong with it, or gives null. */
class Workbench {
  readonly nodes: Map<string, GraphNode>;
  edges: GraphEdge[];
  readonly added = new Set<string>();
  /** Added nodes with a place that was asked for. */
  readonly wished = new Set<string>();
  /** By id of an added node, the loop in which it is to stand. */
  readonly parents = new Map<string, { loop: string; index: number }>();
  /** Ids that operations with faults would have added: what needs them is not at fault. */
  readonly missing = new Set<string>();
  isArranged = false;

  constructor(graph: Graph) {
    this.nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.edges = graph.edges;
  }

  get graph(): Graph {
    return { nodes: [...this.nodes.values()], edges: this.edges };
  }

  apply(operation: Operation, index: number): string | null {
    switch (operation.op) {
      case "add_node":
        return this.#add(operation, index);
      case "update_node":
        return this.#update(operation);
      case "remove_node":
        return this.#unknown(operation.id) ?? this.#remove(operation.id);
      case "connect":
        return this.#unknown(operation.source) ?? this.#unknown(operation.target) ?? this.#connect(operation);
      case "disconnect":
        return this.#unknown(operation.source) ?? this.#unknown(operation.target) ?? this.#disconnect(operation);
      case "arrange":
        this.isArranged = true;
        return null;
    }
  }

  #unknown(id: string): string | null {
    if (this.nodes.has(id)) return null;
    const ids = [...this.nodes.keys()];
    return `There is no node with the id "${id}".${meant(ids, id)} Ids in this workflow: ${listed(ids) || "none"}.`;
  }

  /** What is wrong with a node's fields, several things in one sentence each. */
  #dataFault(id: string, definition: NodeDefinition, data: Data, written: readonly string[]): string | null {
    const known = fieldNames(definition);
    const strange = written.filter((key) => !known.includes(key)).slice(0, MAX_UNKNOWN_FIELDS);
    const faults = strange.map(
      (key) => `${definition.type} has no field "${shownName(key)}".${meant(known, key)} Its fields: ${known.join(", ")}.`,
    );
    const { label } = data;
    if (written.includes("label") && (typeof label !== "string" || label.trim() === "" || /[{}]/.test(label) || label.length > 120))
      faults.push("label: text of 1 to 120 characters without braces.");
    const isNamed = written.includes("label") && typeof label === "string" && !definition.isInert;
    const twin =
      isNamed && [...this.nodes.values()].find((node) => node.id !== id && !definitionOf(node.type)?.isInert && labelOf(node) === label);
    if (twin) faults.push(`label: "${label}" is the label of node "${twin.id}" already. Labels are unique in a workflow.`);
    const { error } = definition.config.safeParse(data);
    for (const issue of error?.issues ?? []) {
      const path = issue.path.join(".");
      faults.push(`${path}: ${issue.message}`);
    }
    return faults.length > 0 ? faults.join(" ") : null;
  }

  #add({ node }: Of<"add_node">, index: number): string | null {
    const { id, type, position, parentId } = node;
    const there = this.nodes.get(id);
    if (there) return `There is a node with the id "${id}" already: ${quoted(there, id)}. Change it by update_node, or choose another id.`;
    const definition = definitionOf(type);
    if (!definition)
      return `"${type}" is no type of node.${meant(Object.keys(nodeDefinitions), type)} Types: ${Object.keys(nodeDefinitions).join(", ")}.`;
    const isTaken = (label: string) => [...this.nodes.values()].some((other) => labelOf(other) === label);
    const named = node.data.label === undefined ? { ...node.data, label: unused(definition.title, isTaken, " ") } : node.data;
    const fault = this.#dataFault(id, definition, named, Object.keys(named));
    if (fault) return fault;
    const loop = parentId === undefined ? undefined : this.nodes.get(parentId);
    if (parentId !== undefined && !isLoop(loop?.type))
      return loop ? `parentId: ${quoted(loop, loop.id)} is no loop, so nothing stands in it. Leave parentId out.` : this.#unknown(parentId);
    if (parentId !== undefined && !definition.isInert) this.parents.set(id, { loop: parentId, index });
    this.nodes.set(id, { id, type, position: position ?? { x: 0, y: 0 }, data: { ...named, ...definition.config.parse(named) } });
    this.added.add(id);
    if (position) this.wished.add(id);
    return null;
  }

  #update({ id, data }: Of<"update_node">): string | null {
    const node = this.nodes.get(id);
    if (!node) return this.#unknown(id);
    const definition = definitionOf(node.type);
    if (!definition)
      return `${quoted(node, id)} is of the type "${node.type}", which this service does not know. Remove it, or leave it alone.`;
    const merged = Object.fromEntries(Object.entries({ ...node.data, ...data }).filter(([key]) => data[key] !== null));
    const set = Object.keys(data).filter((key) => data[key] !== null && !Object.hasOwn(node.data, key));
    const fault = this.#dataFault(id, definition, merged, Object.hasOwn(data, "label") ? [...new Set([...set, "label"])] : set);
    if (fault) return fault;
    this.nodes.set(id, { ...node, data: merged });
    if (Object.hasOwn(data, "label") && labelOf(node) !== labelOf({ ...node, data: merged })) this.#renamed(node);
    return null;
  }

  /** Expressions and conditions that read a node by its old name follow it. */
  #renamed(was: GraphNode) {
    const names = (own: GraphNode | undefined) =>
      namesFrom(
        [...this.nodes.values()]
          .filter(({ type }) => !definitionOf(type)?.isInert)
          .map((node) => [node.id, labelOf(node.id === own?.id ? own : node)]),
      );
    const [before, after] = [names(was), names(undefined)];
    for (const node of this.nodes.values()) {
      const data = withNames(node.type, node.data, before, after);
      if (data !== node.data) this.nodes.set(node.id, { ...node, data });
    }
  }

  #remove(id: string): null {
    this.nodes.delete(id);
    this.added.delete(id);
    this.wished.delete(id);
    this.parents.delete(id);
    this.edges = this.edges.filter(({ source, target }) => source !== id && target !== id);
    return null;
  }

  #connect({ source, source_handle, target }: Of<"connect">): string | null {
    const body = plainHandleOf(this.nodes.get(source)?.type);
    const sourceHandle = source_handle === "output" ? undefined : source_handle || body;
    const isSame = (edge: GraphEdge) =>
      edge.source === source && edge.target === target && (edge.sourceHandle || body) === (sourceHandle || undefined);
    if (this.edges.some(isSame)) return null;
    const refusal = checkConnection(this.graph, { source, target, sourceHandle });
    if (refusal) return refusal;
    const isTaken = (id: string) => this.edges.some((edge) => edge.id === id);
    const id = unused([source, sourceHandle, target].filter(Boolean).join("-").slice(0, 190), isTaken, "-");
    this.edges = [...this.edges, { id, source, target, ...(sourceHandle && { sourceHandle }) }];
    return null;
  }

  #disconnect({ source, source_handle, target }: Of<"disconnect">): string | null {
    const body = plainHandleOf(this.nodes.get(source)?.type) ?? "";
    const wayOf = (edge: GraphEdge) => (edge.sourceHandle === "output" ? "" : edge.sourceHandle || body);
    const between = this.edges.filter((edge) => edge.source === source && edge.target === target);
    const wanted = source_handle === "output" ? "" : source_handle;
    const found = wanted === undefined ? between : between.filter((edge) => wayOf(edge) === wanted);
    if (found.length === 0) {
      const ways = this.edges
        .filter((edge) => edge.source === source)
        .map((edge) => `${wayOf(edge) ? `${wayOf(edge)} → ` : "→ "}${edge.target}`);
      return `There is no such connection. From "${source}" lead: ${listed(ways) || "none"}.`;
    }
    if (found.length > 1)
      return `Several connections lead from "${source}" to "${target}". Say which by source_handle: ${found.map(wayOf).join(" or ")}.`;
    this.edges = this.edges.filter((edge) => edge !== found[0]);
    return null;
  }
}

/** Ids that an operation needs or makes. */
const idsOf = (operation: Operation): string[] =>
  operation.op === "add_node"
    ? [operation.node.id, operation.node.parentId ?? ""]
    : operation.op === "arrange"
      ? []
      : "id" in operation
        ? [operation.id]
        : [operation.source, operation.target];

/** What holds operations against the whole: they broke a rule together, or a node is not in the loop that it was meant for. */
function wholeFaults(base: Graph, graph: Graph, { parents }: Workbench): OperationFault[] {
  const key = ({ node_id, message }: GraphFault) => `${node_id} ${message}`;
  const known = new Set(findFaults(base, MAX_COMPARED).map(key));
  const faults = findFaults(graph, MAX_COMPARED).filter((fault) => !known.has(key(fault)));
  const bodies = bodiesOf(drawingOf(graph));
  const outside = [...parents].flatMap(([id, { loop, index }]): OperationFault[] => {
    if (loopsAround(bodies, id).includes(loop)) return [];
    const node = graph.nodes.find((one) => one.id === id);
    const definition = definitionOf(node?.type ?? "");
    const reader = definition && hasTexts(definition, "template");
    const message = `"${id}" is to stand in the loop "${loop}", but it is not in its body: connect {source: "${loop}", source_handle: "body", target: "${id}"}, or from a node of the body.${reader ? " What reads the loop's own output, or follows its done, runs after the loop." : ""}`;
    return [{ index, message }];
  });
  return [...faults.map(({ message }) => ({ index: null, message })), ...outside];
}

/** The graph with everything in its place: what is new where there is room, the rest moved only to make some. */
function placed(base: Graph, graph: Graph, { added, wished, isArranged }: Workbench): Graph {
  const drawing = drawingOf(graph);
  const bodies = bodiesOf(drawing);
  const before = bodiesOf(drawingOf(base));
  const isMovedIn = (id: string) => !added.has(id) && before.owner[id] !== bodies.owner[id];
  const open = new Set(graph.nodes.flatMap(({ id }) => ((added.has(id) && !wished.has(id)) || isMovedIn(id) ? [id] : [])));
  // A place that was asked for is kept unless something is there.
  if (wished.size > 0) {
    const fixed = { ...drawing, nodes: drawing.nodes.filter(({ id }) => !open.has(id)) };
    const old = { ...fixed, nodes: fixed.nodes.filter(({ id }) => !wished.has(id)) };
    const crowded = overlapsIn(fixed, bodies).difference(overlapsIn(old, bodies));
    if (crowded.size > 0) for (const id of wished) open.add(id);
  }
  const set = open.size > 0 ? placedAt(graph, placeNodes(drawing, open)) : graph;
  return isArranged ? placedAt(set, tidyPositions(drawingOf(set))) : set;
}

/**
 * Does operations one after the other; edges get ids, and new nodes their places.
 * @param base is left as it is
 * @returns the new graph, or everything that is wrong with the operations
 */
export function applyOperations(base: Graph, operations: readonly Operation[]): { graph: Graph } | { faults: OperationFault[] } {
  const aligned = placedAt(base, new Map(alignLoopsToFrames(drawingOf(base)).nodes.map(({ id, position }) => [id, position])));
  const bench = new Workbench(aligned);
  const faults: OperationFault[] = [];
  for (const [index, operation] of operations.entries()) {
    const message = bench.apply(operation, index);
    if (message === null) continue;
    const ids = idsOf(operation);
    // Only the first of faults that follow from each other helps.
    if (!ids.some((id) => bench.missing.has(id))) faults.push({ index, message });
    if (operation.op === "add_node" && !bench.nodes.has(operation.node.id)) bench.missing.add(operation.node.id);
  }
  const { graph } = bench;
  if (faults.length === 0) faults.push(...wholeFaults(base, graph, bench));
  return faults.length > 0 ? { faults } : { graph: placed(aligned, graph, bench) };
}
