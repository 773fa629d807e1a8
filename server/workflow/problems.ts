import { shorten } from "#server/shared/shorten.ts";
import { makePlan, type Plan, prepareNames } from "#server/workflow/compile.ts";
import { checkCondition } from "#server/workflow/condition-checks.ts";
import { isDisabled } from "#server/workflow/disabled.ts";
import {
  CREDENTIALS,
  credentialOf,
  eachReference,
  type IsName,
  isNameOf,
  isReserved,
  RESERVED_NAMES,
  type Reference,
  shownName,
  shownSource,
  slugOf,
  suggestion,
  suggestionFor,
} from "#server/workflow/expressions.ts";
import {
  checkStructure,
  definitionOf,
  fieldsOf,
  type GraphFault,
  type NamedNode,
  namesOf,
  quoted,
  topologicalOrder,
  unreadableNames,
} from "#server/workflow/graph.ts";
import { type Listed, Listing, MAX_LISTED, MAX_LISTED_LENGTH, runAtOnce } from "#server/workflow/listing.ts";
import { unknownFields, unknownFieldText } from "#server/workflow/node-fields.ts";
import { textsOf } from "#server/workflow/node-texts.ts";
import type { NodeDefinition, NodeScope } from "#server/workflow/nodes/definition.ts";
import { pinnedWork } from "#server/workflow/pins.ts";
import { flatFault } from "#server/workflow/resolve-expressions.ts";
import type { Graph, GraphNode, Problem } from "#server/workflow/schema.ts";
import { triggerFieldNames } from "#server/workflow/trigger-fields.ts";

// Faults that prevent a run and probable mistakes, beyond those that a save refuses. Pure and browser-safe.

/** What the references of a graph are checked against, gathered once for all of them. */
interface Directory {
  find(name: string): NamedNode | undefined;
  isName: IsName | undefined;
  /** " Did you mean …?"; only for the first few problems, since each compares with every name. */
  suggest(reference: Reference): string;
  /** Every name that conditions can read. */
  names: ReadonlySet<string>;
  /** True when a node with this name can run before `id`. */
  isUpstream(name: string, id: string): boolean;
  /** True when a node has begun, at the latest, by when another one does: all that leads to it comes before that. */
  beginsBefore(id: string, other: string): boolean;
  plan: Plan;
  triggerFields: string[];
}

/**
 * Which nodes come before which, for all pairs at once: one set of bits a node, passed on along the edges in topological
 * order. In a cycle, which a save refuses anyway, nodes beyond it have no ancestors.
 */
function ancestry({ nodes, edges }: Graph): (before: string, after: string) => boolean {
  const index = new Map(nodes.map((node, position) => [node.id, position]));
  const width = Math.ceil(nodes.length / 32);
  const bits = new Uint32Array(width * nodes.length);
  const next = Map.groupBy(edges, (edge) => edge.source);
  const order = topologicalOrder(
    nodes.map((node) => node.id),
    next,
  );
  for (const id of order) {
    const from = index.get(id);
    for (const { target } of next.get(id) ?? []) {
      const to = index.get(target);
      if (from === undefined || to === undefined) continue;
      for (let word = 0; word < width; word++) bits[to * width + word] = (bits[to * width + word] ?? 0) | (bits[from * width + word] ?? 0);
      bits[to * width + (from >> 5)] = (bits[to * width + (from >> 5)] ?? 0) | (1 << (from & 31));
    }
  }
  return (before, after) => {
    const [from, to] = [index.get(before), index.get(after)];
    return from !== undefined && to !== undefined && ((bits[to * width + (from >> 5)] ?? 0) & (1 << (from & 31))) !== 0;
  };
}

const MOST_SUGGESTIONS = 20;

function directoryOf(graph: Graph, scope: NodeScope, plan: Plan): Directory {
  const names = namesOf(graph, scope);
  const exact = new Map(names.toReversed().map((named) => [named.name, named]));
  const slugs = new Map(names.toReversed().map((named) => [slugOf(named.name), named]));
  const bearers = Map.groupBy(names, (named) => named.name);
  const isBefore = ancestry(graph);
  const before = Map.groupBy(graph.edges, ({ target }) => target);
  const upstream = new Map<string, boolean>();
  let suggested = 0;
  return {
    isName: isNameOf(names.map((named) => named.name)),
    find: (name) => exact.get(name) ?? slugs.get(slugOf(name)),
    suggest: (reference) =>
      suggested++ < MOST_SUGGESTIONS ? suggestionFor([...RESERVED_NAMES, ...new Set(names.map((named) => named.name))], reference) : "",
    plan,
    names: new Set(exact.keys()),
    isUpstream(name, id) {
      const key = JSON.stringify([name, id]);
      const found = upstream.get(key) ?? (bearers.get(name) ?? []).some((named) => isBefore(named.node.id, id));
      upstream.set(key, found);
      return found;
    },
    beginsBefore: (id, other) => id !== other && (before.get(id) ?? []).every(({ source }) => isBefore(source, other)),
    triggerFields: ["output", ...triggerFieldNames(graph.nodes.find((node) => node.type === "triggerNode"))],
  };
}

/** Builds the text of a problem. A function, so that problems that are only counted cost no text. */
type Reason = (() => string) | undefined;

/** Returns why `field` of an upstream node cannot be read at `reader`: loops hide what is inside, and have an item only there. */
function unreadable(source: GraphNode, field: string, reader: GraphNode, plan: Plan): Reason {
  const definition = definitionOf(source.type);
  const name = () => quoted(source, source.id);
  const around = plan.loopsAround(reader.id);
  const body = definition?.body?.fields ?? [];
  if (around.includes(source.id))
    return body.includes(field) ? undefined : () => `inside its body ${name()} has no "${shownName(field)}".${suggestion(body, field)}`;
  if (body.includes(field)) return () => `"${field}" can be read only inside the body of ${name()}.`;
  const hidden = plan.loopsAround(source.id).find((loop) => !around.includes(loop));
  if (hidden !== undefined) return () => `${name()} runs inside a loop, once for each item. Read the output of the loop instead.`;
  const fields = fieldsOf(source);
  return fields.includes(field) ? undefined : () => `${name()} has no "${shownName(field)}".${suggestion(fields, field)}`;
}

/** True for a node whose own work is not done: it is switched off, or a pinned output stands in for it. */
const isIdle = (node: GraphNode | undefined): boolean => isDisabled(node) || pinnedWork(node) !== undefined;

/** How deep loops may stand inside each other. */
const MOST_NESTED = 10;

/** Adds loops without a body, and nodes that two loops claim. */
function checkLoops(graph: Graph, plan: Plan, isOut: (node: GraphNode) => boolean, found: Findings): void {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const named = (id: string) => quoted(nodes.get(id), id);
  for (const { id, type } of graph.nodes)
    if (definitionOf(type)?.body && plan.loopsAround(id).length >= MOST_NESTED)
      found.add(id, null, () => `Loops can stand ${MOST_NESTED} deep inside each other, no deeper.`);
  // Gates can make loops wait for each other, where the graph itself has no cycle.
  for (const { nodeIds, outgoing } of plan.scopes.values()) {
    const order = new Set(topologicalOrder(nodeIds, outgoing));
    for (const id of nodeIds)
      if (!order.has(id) && definitionOf(nodes.get(id)?.type ?? "")?.body)
        found.add(id, null, () => `${named(id)} would wait for a loop that waits for it: their bodies need each other's results.`);
  }
  for (const [loop, { nodeIds }] of plan.scopes) {
    const node = loop === null ? undefined : nodes.get(loop);
    if (node && nodeIds.length === 0 && !isOut(node))
      found.add(node.id, null, () => "Connect what this loop is to do for each item to its body.");
  }
  for (const { node_id, loops } of plan.contested)
    found.add(
      node_id,
      null,
      () =>
        `${named(node_id)} is in the bodies of both ${named(loops[0])} and ${named(loops[1])}. Connect it to one of them, or after both by done.`,
    );
}

/** What is wrong with a reference to a credential; unknown names are found where the project's are known. */
function credentialFault(reference: Reference, name: string, names: readonly string[] | undefined): Reason {
  const flat = flatFault(reference);
  if (flat !== undefined) return () => flat;
  if (!names || names.includes(name)) return undefined;
  return () =>
    `${shownSource(reference)}: the project has no credential "${shownName(name)}".${suggestion(names, name) || " Add it in the project's settings."}`;
}

/** Returns why a reference cannot be read at a node. */
function referenceFault(reference: Reference, node: GraphNode, directory: Directory, scope: NodeScope): Reason {
  const shown = () => shownSource(reference);
  if (OF_N8N.test(reference.source) && (reference.fault || directory.find(reference.head)?.name !== reference.head))
    return () =>
      `${shown()} is written as in n8n. Here a value is read by its node’s name, as in {{trigger.output}}; what computes goes into a Code node.`;
  const { fault } = reference;
  if (fault) return () => fault;
  const wanted = String(reference.path[0]);
  if (reference.head === "execution") return wanted === "id" ? undefined : () => `${shown()}: execution has only "id".`;
  if (reference.head === "trigger") {
    const { triggerFields } = directory;
    if (triggerFields.includes(wanted)) return undefined;
    return () => `${shown()}: the trigger gives no "${shownName(wanted)}".${suggestion(triggerFields, wanted)}`;
  }
  const named = reference.head === CREDENTIALS ? undefined : directory.find(reference.head);
  const credential = named ? undefined : credentialOf(reference);
  if (credential !== undefined) return credentialFault(reference, credential, scope.credentialNames);
  if (!named) return () => `${shown()} names nothing in this workflow.${directory.suggest(reference)}`;
  const isEarly = definitionOf(named.node.type)?.earlyFields?.includes(wanted) && directory.beginsBefore(named.node.id, node.id);
  if (isEarly || directory.isUpstream(named.name, node.id)) {
    const reason = unreadable(named.node, wanted, node, directory.plan);
    return reason && (() => `${shown()}: ${reason()}`);
  }
  return () => `${shown()}: ${quoted(named.node, named.node.id)} does not come before this node. Connect it upstream to read its output.`;
}

function* checkReferences(node: GraphNode, directory: Directory, scope: NodeScope, found: Findings): Generator<void> {
  for (const { path, text } of textsOf(definitionOf(node.type), node.data, "template"))
    for (const reference of eachReference(text, directory.isName)) {
      yield;
      const reason = referenceFault(reference, node, directory, scope);
      if (reason) found.add(node.id, path, reason);
    }
}

/** Adds what a condition reads that does not exist, and what it probably does not mean. */
function* checkConditions(node: GraphNode, { names }: Directory, found: Findings): Generator<void, void> {
  for (const { path, text } of textsOf(definitionOf(node.type), node.data, "python")) {
    yield;
    for (const { message, severity } of checkCondition(text, names)) found.add(node.id, path, () => message, severity);
  }
}

/** Adds fields and names of a node that have no effect, or not the one that they seem to have. */
function checkData(node: GraphNode, definition: NodeDefinition, scope: NodeScope, found: Findings): void {
  for (const name of unknownFields(definition, node.data)) found.warn(node.id, name, () => unknownFieldText(definition, name));
  const agent = typeof node.data.agent_id === "string" ? scope.agentName(node.data.agent_id) : undefined;
  if (agent !== undefined && isReserved(agent))
    found.warn(
      node.id,
      "agent_id",
      () => `The agent's name "${agent}" is reserved: {{${agent}.…}} reads something else. Rename the agent.`,
    );
}

/** Names that only the expressions of n8n have, which those who come from there write from habit, and their files bring along. */
const OF_N8N = /\$(?:\(|(?:json|node|input|items?|now|today|env|vars|execution|workflow|prevNode|binary|fromAI)\b)/;

/** Problems of a graph, errors first; `errors` of `total` prevent a run. */
export interface Problems {
  problems: Problem[];
  total: number;
  errors: number;
}

/** Gathers problems by severity: the first 50 of each are built, the others counted. */
class Findings {
  readonly #errors = new Listing<Problem>();
  readonly #warnings = new Listing<Problem>();

  add(node_id: string | null, field: string | null, message: () => string, severity: Problem["severity"] = "error"): void {
    const list = severity === "error" ? this.#errors : this.#warnings;
    list.add(() => ({ node_id, field: field && shorten(field, MAX_LISTED_LENGTH), message: message(), severity }));
  }

  warn(node_id: string | null, field: string | null, message: () => string): void {
    this.add(node_id, field, message, "warning");
  }

  /** Takes over structural faults, those that are only counted too. */
  addFaults({ items, total }: Listed<GraphFault>): void {
    for (const { node_id, field, message } of items) this.add(node_id, field?.replace(/^data\./, "") ?? null, () => message);
    this.#errors.total += total - items.length;
  }

  get result(): Problems {
    const [errors, warnings] = [this.#errors, this.#warnings];
    return {
      problems: [...errors.items, ...warnings.items].slice(0, MAX_LISTED),
      total: errors.total + warnings.total,
      errors: errors.total,
    };
  }
}

/** Nodes that take part in a run, each with its type and its config, if that is valid. */
function* activeNodes({ nodes }: Graph, isOut: (node: GraphNode) => boolean) {
  for (const node of nodes) {
    const definition = definitionOf(node.type);
    const config = definition?.config.safeParse(node.data);
    if (definition && config?.success && !isOut(node)) yield { node, definition, config: config.data };
  }
}

/** Tells nodes that a run passes over: what is switched off or pinned, and the bodies of such loops. */
function idleTest(graph: Graph, plan: Plan): (node: GraphNode) => boolean {
  const idle = new Set(graph.nodes.filter(isIdle).map((node) => node.id));
  return ({ id }) => idle.size > 0 && (idle.has(id) || plan.loopsAround(id).some((loop) => idle.has(loop)));
}

/** Asks for the checks of node types only, in slices: what they look up is what `checkGraph` will look up. */
export function* visitChecks(graph: Graph, scope: NodeScope): Generator<void, void> {
  yield* prepareNames(graph);
  for (const { definition, config } of activeNodes(graph, idleTest(graph, makePlan(graph)))) {
    yield;
    definition.problems?.(config, scope);
  }
}

/** Checks a graph in slices: its structure, what is not filled in yet, what cannot be read, and what probably is a mistake. */
export function* checkGraph(graph: Graph, scope: NodeScope): Generator<void, Problems> {
  const found = new Findings();
  found.addFaults(yield* checkStructure(graph));
  for (const { node_id, field, message } of unreadableNames(graph))
    found.warn(node_id, field?.replace(/^data\./, "") ?? null, () => message);
  yield* prepareNames(graph);
  const plan = makePlan(graph);
  const directory = directoryOf(graph, scope, plan);
  const isOut = idleTest(graph, plan);
  checkLoops(graph, plan, isOut, found);
  const entered = new Set(graph.edges.map(({ target }) => target));
  for (const { node, definition, config } of activeNodes(graph, isOut)) {
    yield;
    for (const { field, message, severity } of definition.problems?.(config, scope) ?? [])
      found.add(node.id, field, () => message, severity);
    checkData(node, definition, scope, found);
    yield* checkConditions(node, directory, found);
    yield* checkReferences(node, directory, scope, found);
    if (definition.hasInput && !definition.isInert && !entered.has(node.id))
      found.warn(node.id, null, () => `Nothing leads to ${quoted(node, node.id)}, so it never runs.`);
  }
  return found.result;
}

/** Returns the problems that prevent a run, at most 50. */
export const findProblems = (graph: Graph, scope: NodeScope): Problem[] =>
  runAtOnce(checkGraph(graph, scope)).problems.filter(({ severity }) => severity === "error");
