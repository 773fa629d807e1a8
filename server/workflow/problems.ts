import { makePlan, type Plan } from "#server/workflow/compile.ts";
import { isDisabled } from "#server/workflow/disabled.ts";
import {
  CREDENTIALS,
  credentialOf,
  flatFault,
  type IsName,
  isNameOf,
  type Reference,
  referencesOf,
  slugOf,
  suggestion,
  suggestionFor,
} from "#server/workflow/expressions.ts";
import { definitionOf, fieldsOf, findFaults, type NamedNode, namesOf, quoted, topologicalOrder } from "#server/workflow/graph.ts";
import { textsOf } from "#server/workflow/node-texts.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { pinnedWork } from "#server/workflow/pins.ts";
import type { Graph, GraphNode, Problem } from "#server/workflow/schema.ts";

// What would stop a run, beyond what a save refuses. Pure and browser-safe, like server/workflow/graph.ts.

/** Names that expressions can use besides nodes. */
const ROOTS = ["trigger", "execution", CREDENTIALS];

/** What the references of a graph are checked against, gathered once for all of them. */
interface Directory {
  find(name: string): NamedNode | undefined;
  isName: IsName | undefined;
  /** " Did you mean …?"; only for the first few problems, since each compares with every name. */
  suggest(reference: Reference): string;
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
  const params = graph.nodes.find((node) => node.type === "triggerNode")?.data.parameters;
  let suggested = 0;
  return {
    isName: isNameOf(names.map((named) => named.name)),
    find: (name) => exact.get(name) ?? slugs.get(slugOf(name)),
    suggest: (reference) =>
      suggested++ < MOST_SUGGESTIONS ? suggestionFor([...ROOTS, ...new Set(names.map((named) => named.name))], reference) : "",
    plan,
    isUpstream: (name, id) => (bearers.get(name) ?? []).some((named) => isBefore(named.node.id, id)),
    beginsBefore: (id, other) => id !== other && (before.get(id) ?? []).every(({ source }) => isBefore(source, other)),
    triggerFields: ["output", ...(Array.isArray(params) ? params.map((parameter) => String(parameter?.name)) : [])],
  };
}

/** Why `field` of a node before it cannot be read at `reader`, or undefined: loops hide what is inside, and have an item only there. */
function unreadable(source: GraphNode, field: string, reader: GraphNode, plan: Plan): string | undefined {
  const definition = definitionOf(source.type);
  const name = quoted(source, source.id);
  const around = plan.loopsAround(reader.id);
  if (around.includes(source.id)) {
    const fields = definition?.body?.fields ?? [];
    return fields.includes(field) ? undefined : `inside its body ${name} has no "${field}".${suggestion(fields, field)}`;
  }
  if (definition?.body?.fields.includes(field)) return `"${field}" can be read only inside the body of ${name}.`;
  const hidden = plan.loopsAround(source.id).find((loop) => !around.includes(loop));
  if (hidden !== undefined) return `${name} runs inside a loop, once for each item. Read the output of the loop instead.`;
  const fields = fieldsOf(source);
  return fields.includes(field) ? undefined : `${name} has no "${field}".${suggestion(fields, field)}`;
}

/** True for a node whose own work is not done: it is switched off, or a pinned output stands in for it. */
const isIdle = (node: GraphNode | undefined): boolean => isDisabled(node) || pinnedWork(node) !== undefined;

/** How deep loops may stand inside each other. */
const MOST_NESTED = 10;

/** Loops without a body, and nodes that two loops claim. */
function loopProblems(graph: Graph, plan: Plan, isOut: (node: GraphNode) => boolean): Problem[] {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const named = (id: string) => quoted(nodes.get(id), id);
  const empty = [...plan.scopes].flatMap(([loop, { nodeIds }]) => {
    const node = loop === null ? undefined : nodes.get(loop);
    return node && nodeIds.length === 0 && !isOut(node) ? [node.id] : [];
  });
  // Gates can make loops wait for each other, where the graph itself has no cycle.
  const stuck = [...plan.scopes.values()].flatMap(({ nodeIds, outgoing }) => {
    const order = new Set(topologicalOrder(nodeIds, outgoing));
    return nodeIds.filter((id) => !order.has(id) && definitionOf(nodes.get(id)?.type ?? "")?.body);
  });
  const deep = graph.nodes.filter(({ id, type }) => definitionOf(type)?.body && plan.loopsAround(id).length >= MOST_NESTED);
  return [
    ...deep.map(({ id }) => ({ node_id: id, field: null, message: `Loops can stand ${MOST_NESTED} deep inside each other, no deeper.` })),
    ...stuck.map((node_id) => ({
      node_id,
      field: null,
      message: `${named(node_id)} would wait for a loop that waits for it: their bodies need each other's results.`,
    })),
    ...empty.map((node_id) => ({ node_id, field: null, message: "Connect what this loop is to do for each item to its body." })),
    ...plan.contested.map(({ node_id, loops: [one, other] }) => ({
      node_id,
      field: null,
      message: `${named(node_id)} is in the bodies of both ${named(one)} and ${named(other)}. Connect it to one of them, or after both by done.`,
    })),
  ];
}

/** What is wrong with a reference to a credential; unknown names are found where the project's are known. */
function credentialFault(reference: Reference, name: string, names: readonly string[] | undefined): string | undefined {
  const flat = flatFault(reference);
  if (flat !== undefined) return flat;
  if (!names || names.includes(name)) return undefined;
  return `${reference.source}: the project has no credential "${name}".${suggestion(names, name) || " Add it in the project's settings."}`;
}

function referenceProblems(node: GraphNode, directory: Directory, scope: NodeScope): Problem[] {
  return textsOf(definitionOf(node.type), node.data, "template").flatMap(({ path: field, text }) =>
    referencesOf(text, directory.isName).flatMap((reference) => {
      const problem = (message: string): Problem[] => [{ node_id: node.id, field, message }];
      if (OF_N8N.test(reference.source) && (reference.fault || directory.find(reference.head)?.name !== reference.head))
        return problem(
          `${reference.source} is written as in n8n. Here a value is read by its node’s name, as in {{trigger.output}}; what computes goes into a Code node.`,
        );
      if (reference.fault) return problem(reference.fault);
      if (reference.head === "execution") return reference.path[0] === "id" ? [] : problem(`${reference.source}: execution has only "id".`);
      if (reference.head === "trigger") {
        const wanted = String(reference.path[0]);
        const { triggerFields } = directory;
        if (triggerFields.includes(wanted)) return [];
        return problem(`${reference.source}: the trigger gives no "${wanted}".${suggestion(triggerFields, wanted)}`);
      }
      const named = reference.head === CREDENTIALS ? undefined : directory.find(reference.head);
      const credential = named ? undefined : credentialOf(reference);
      if (credential !== undefined) {
        const fault = credentialFault(reference, credential, scope.credentialNames);
        return fault ? problem(fault) : [];
      }
      if (!named) return problem(`${reference.source} names nothing in this workflow.${directory.suggest(reference)}`);
      const wanted = String(reference.path[0]);
      const isEarly = definitionOf(named.node.type)?.earlyFields?.includes(wanted) && directory.beginsBefore(named.node.id, node.id);
      if (isEarly || directory.isUpstream(named.name, node.id)) {
        const fault = unreadable(named.node, wanted, node, directory.plan);
        return fault ? problem(`${reference.source}: ${fault}`) : [];
      }
      return problem(
        `${reference.source}: ${quoted(named.node, named.node.id)} does not come before this node. Connect it upstream to read its output.`,
      );
    }),
  );
}

/** Names that only the expressions of n8n have, which those who come from there write from habit, and their files bring along. */
const OF_N8N = /\$(?:\(|(?:json|node|input|items?|now|today|env|vars|execution|workflow|prevNode|binary|fromAI)\b)/;

/** Everything that would stop a run: the structural faults, and what is not filled in yet. */
export function findProblems(graph: Graph, scope: NodeScope): Problem[] {
  const standing = findFaults(graph).filter(({ isForSaves }) => !isForSaves);
  const faults = standing.map(({ node_id, field, message }) => ({
    node_id,
    field: field?.replace(/^data\./, "") ?? null,
    message,
  }));
  const plan = makePlan(graph);
  const directory = directoryOf(graph, scope, plan);
  const idle = new Set(graph.nodes.filter(isIdle).map((node) => node.id));
  // The body of a loop that is switched off is skipped with it.
  const isOut = ({ id }: GraphNode) => idle.size > 0 && (idle.has(id) || plan.loopsAround(id).some((loop) => idle.has(loop)));
  const nodes = graph.nodes.flatMap((node) => {
    const definition = definitionOf(node.type);
    const config = definition?.config.safeParse(node.data);
    if (!definition || !config?.success || isOut(node)) return [];
    const own = (definition.problems?.(config.data, scope) ?? []).map((problem) => ({ node_id: node.id, ...problem }));
    return [...own, ...referenceProblems(node, directory, scope)];
  });
  return [...faults, ...loopProblems(graph, plan, isOut), ...nodes];
}
