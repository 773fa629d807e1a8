import { makePlan, type PlanScope } from "#server/workflow/compile.ts";
import {
  assertLoops,
  assertNotNamed,
  assertReached,
  type Bearers,
  contentSources,
  type Names,
  namesIn,
  pythonOf,
  readsOutput,
  refuse,
  takenIn,
  withReferences,
} from "#server/workflow/compose/reads.ts";
import { isDisabled } from "#server/workflow/disabled.ts";
import { CREDENTIALS, type Reference, shownSource, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, endsByRejection, findFaults, handlesOf, labelOf, passesContent, quoted } from "#server/workflow/graph.ts";
import { NEXT_NODE_DISTANCE } from "#server/workflow/layout/node-size.ts";
import { withTexts } from "#server/workflow/node-texts.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** A part of a graph as a workflow of its own. */
export interface Extraction {
  /** The new workflow. */
  workflow: Graph;
  /** The graph with a Workflow node in the part's place. @param workflow_id of the new workflow, once it has one */
  graphWith(workflow_id: string): Graph;
  /** Id of that node. */
  node_id: string;
  /** What it is handed besides what came before: expressions of the graph. */
  given: readonly string[];
}

/** The part with its one way in and its one way out. */
interface Part {
  ids: ReadonlySet<string>;
  /** Nodes of the part that stand in no loop of it. */
  units: readonly string[];
  entry: GraphNode;
  exit: GraphNode;
  scope: PlanScope;
}

/** Takes a selection out: the bodies of its loops with it. @throws ComposeRefusal */
function partOf(graph: Graph, selected: ReadonlySet<string>): Part {
  const plan = makePlan(graph);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const named = (id: string) => quoted(byId.get(id), id);
  const active = graph.nodes.filter((node) => {
    const isIn = selected.has(node.id) || plan.loopsAround(node.id).some((loop) => selected.has(loop));
    return isIn && !definitionOf(node.type)?.isInert;
  });
  const ids = new Set(active.map(({ id }) => id));
  if (active.length === 0) refuse("Select what the other workflow is to do.");
  for (const node of active) {
    const definition = definitionOf(node.type);
    const name = quoted(node, node.id);
    if (!definition) refuse(`${name} is of a type that is not known here.`);
    else if (definition.group === "trigger") refuse("The trigger stays: it starts this workflow.");
    else if (node.type === "outputNode") refuse(`${name} is a result of this workflow's runs. Leave it out of the selection.`);
    else if (node.type === "terminateNode") refuse(`${name} ends the whole run, and in another workflow would end only that.`);
    else if (isDisabled(node)) refuse(`${name} is switched off. Enable it, or leave it out.`);
    const ending = endsByRejection(node, graph.edges);
    if (ending.length) refuse(`${name} ends the whole run when it is rejected. Connect its ${ending.join(" and ")} first.`);
  }
  const units = active.filter(({ id }) => !ids.has(plan.ownerOf(id) ?? "")).map(({ id }) => id);
  const owners = new Set(units.map((id) => plan.ownerOf(id)));
  if (owners.size > 1) refuse("Some of it stands in a loop and some does not. Select nodes of one level.");
  const scope = plan.scopes.get(owners.values().next().value ?? null);
  const into = graph.edges.filter((edge) => !ids.has(edge.source) && ids.has(edge.target));
  const out = graph.edges.filter((edge) => ids.has(edge.source) && !ids.has(edge.target));
  const entries = [...new Set(into.map(({ target }) => target))];
  const listed = (found: readonly string[]) => found.slice(0, 3).map(named).join(", ");
  if (entries.length === 0) refuse("Nothing leads to the selection.");
  if (entries.length > 1) refuse(`It can have one way in only, and there are ${entries.length}: ${listed(entries)}.`);
  const isEnd = (id: string) => (scope?.outgoing.get(id) ?? []).every(({ target }) => !ids.has(target));
  const exits = out.length ? [...new Set(out.map(({ source }) => source))] : units.filter(isEnd);
  if (exits.length > 1) refuse(`It can have one way out only, and there are ${exits.length}: ${listed(exits)}.`);
  const [entry, exit] = [byId.get(entries[0] ?? ""), byId.get(exits[0] ?? "")];
  if (!scope || !entry || !exit) return refuse("The selection has no beginning or no end.");
  for (const end of [entry, exit]) if (!units.includes(end.id)) refuse(`${quoted(end, end.id)} stands in a loop. Select the loop with it.`);
  if (handlesOf(exit) !== null && !definitionOf(exit.type)?.body)
    refuse(`${quoted(exit, exit.id)} decides how it goes on, so it cannot be the last of it. Select what follows too, or leave it out.`);
  if (passesContent(exit, definitionOf(exit.type), null)) refuse(`${quoted(exit, exit.id)} cannot be the last of it: it only decides.`);
  return { ids, units, entry, exit, scope };
}

/** Whatever is decided in the part, it must come to its end: else what follows would be skipped now, and run then. @throws ComposeRefusal */
function assertAlwaysEnds(graph: Graph, { units, entry, exit, scope }: Part): void {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const named = (id: string) => quoted(byId.get(id), id);
  const inner = new Set(units);
  const edges = units.flatMap((id) => (scope.outgoing.get(id) ?? []).filter(({ target }) => inner.has(target)));
  const reach = (from: string, step: (id: string) => string[]) => {
    const found = new Set([from]);
    for (const id of found) for (const next of step(id)) found.add(next);
    return found;
  };
  const after = reach(entry.id, (id) => edges.flatMap(({ source, target }) => (source === id ? [target] : [])));
  const before = reach(exit.id, (id) => edges.flatMap(({ source, target }) => (target === id ? [source] : [])));
  for (const id of units) {
    if (!after.has(id)) refuse(`${named(entry.id)} does not lead to ${named(id)}. Select only what follows from its beginning.`);
    if (!before.has(id)) refuse(`${named(id)} does not lead to ${named(exit.id)}. Select only what leads to its end.`);
  }
  assertReached(graph, units, edges, entry.id, exit.id);
}

/** What hands values over: names by expression. */
class Params {
  readonly values = new Map<string, string>();

  /** The name under which the other workflow reads what an expression reads here. */
  of({ source, head, path, filters }: Pick<Reference, "source" | "head" | "path" | "filters">): string {
    const last = path.filter((part) => part !== "output").join(" ");
    const words = head === "trigger" ? last || "input" : `${head} ${last} ${filters.map(({ name }) => name).join(" ")}`;
    const plain = slugOf(words)
      .replace(/[^a-z0-9_]/g, "")
      .replace(/^_+|(?<!_)_+$/g, "")
      .slice(0, 50);
    return this.add(/^[a-z]/.test(plain) ? plain : `value_${plain}`.replace(/_$/, ""), source);
  }

  add(wanted: string, value: string): string {
    const known = [...this.values].find(([, given]) => given === value);
    if (known) return known[0];
    let name = wanted === "output" ? "value" : wanted;
    for (let count = 2; this.values.has(name); count++) name = `${wanted}_${count}`;
    this.values.set(name, value);
    return name;
  }
}

/** The nodes of the part as they stand in the other workflow: what they read of others they are handed. @throws ComposeRefusal */
function handedOver(graph: Graph, { ids }: Part, names: Names, params: Params): GraphNode[] {
  const inside = (bearers: Bearers | undefined) => bearers?.ids.filter((id) => ids.has(id)).length ?? 0;
  return graph.nodes.flatMap((node) => {
    const definition = definitionOf(node.type);
    if (!ids.has(node.id) || !definition) return [];
    const outer = /\b(?:trigger_output|node_outputs)\b/.exec(pythonOf(node));
    if (outer) refuse(`The condition of ${quoted(node, node.id)} reads ${outer[0]}, which another workflow does not have.`);
    const data = withTexts(definition, node.data, "template", (text) =>
      withReferences(text, names.isName, (reference) => {
        const { head, source, fault } = reference;
        const bearers = names.bearersOf(reference);
        const isKnown = bearers !== undefined || head === "trigger" || head === "execution";
        if (fault || head === CREDENTIALS || !isKnown || (bearers && inside(bearers) === bearers.ids.length)) return source;
        if (inside(bearers) > 0) return refuse(`${source} in ${quoted(node, node.id)} may mean a node of the selection or another one.`);
        return `{{trigger.${params.of(reference)}}}`;
      }),
    );
    return [{ ...node, data }];
  });
}

/** Those that stay, reading the Workflow node where they read the end of the part. @throws ComposeRefusal for whatever else they read of it */
function rewritten(graph: Graph, { ids, exit }: Part, names: Names, label: string): GraphNode[] {
  const kept = graph.nodes.filter(({ id }) => !ids.has(id));
  const labels = (nodes: readonly GraphNode[]) =>
    nodes.filter(({ type }) => !definitionOf(type)?.isInert).map((node) => [node.id, labelOf(node)] as const);
  const before = namesFrom(labels(graph.nodes));
  const after = namesFrom([...labels(kept), [exit.id, label]]);
  const gone = graph.nodes.filter(({ id }) => ids.has(id) && id !== exit.id).map(labelOf);
  return kept.map((node) => {
    const definition = definitionOf(node.type);
    if (!definition) return node;
    const name = quoted(node, node.id);
    const python = pythonOf(node);
    const lost = python.includes("node_outputs") && gone.find((one) => python.includes(one));
    if (lost) refuse(`The condition of ${name} reads "${lost}", which is in the selection. Only the output of its end can be read.`);
    withTexts(definition, node.data, "template", (text) =>
      withReferences(text, names.isName, (reference) => {
        const bearers = names.bearersOf(reference);
        if (reference.fault || !bearers?.ids.some((id) => ids.has(id))) return reference.source;
        const isExit = !bearers.isAlias && bearers.ids[0] === exit.id && reference.path[0] === "output";
        if (!isExit)
          refuse(`${name} reads ${shownSource(reference)} of the selection. Only the output of ${quoted(exit, exit.id)} can be read.`);
        return reference.source;
      }),
    );
    return { ...node, data: withNames(node.type, node.data, before, after) };
  });
}

/** Hands over what came before, where the trigger gives values by name and no text. @throws ComposeRefusal */
function withContent(graph: Graph, child: Graph, part: Part, params: Params): Graph {
  const takers = new Map(
    child.nodes.flatMap((node) => {
      const field = part.ids.has(node.id) && contentSources(child, node.id).has(TRIGGER) ? takenIn(node) : undefined;
      return field === undefined ? [] : [[node.id, field] as const];
    }),
  );
  const { entry } = part;
  if (readsOutput(entry)) refuse(`The condition of ${quoted(entry, entry.id)} reads what came before it. Begin with the node before it.`);
  if (takers.size === 0) return child;
  const sources = [...contentSources(graph, entry.id)];
  const source = graph.nodes.find(({ id }) => id === sources[0]);
  const first = child.nodes.find(({ id }) => takers.has(id));
  const name = quoted(first, first?.id ?? "");
  if (!source || sources.length > 1)
    return refuse(`${name} takes what comes from several nodes, and others are read by name as well. Name them in it.`);
  const isItem = definitionOf(source.type)?.body && part.scope.loop === source.id;
  const head = definitionOf(source.type)?.group === "trigger" ? "trigger" : labelOf(source);
  const given = params.add("input", `{{${head}.${isItem ? "current_item" : "output"}}}`);
  const nodes = child.nodes.map((node) => {
    const field = takers.get(node.id);
    if (field === undefined) return node;
    const isMixed = contentSources(child, node.id).size > 1;
    if (field === null || isMixed)
      return refuse(`${quoted(node, node.id)} takes what came before it, and others are read by name as well. Name it in its field.`);
    return { ...node, data: { ...node.data, [field]: `{{trigger.${given}}}` } };
  });
  return { ...child, nodes };
}

const TRIGGER = "extracted-trigger";
const RESULT = "extracted-result";

const unused = (wanted: string, taken: ReadonlySet<string>, joint: string): string => {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}${joint}${count}`;
  return name;
};

/**
 * Makes a workflow of its own of a part of a graph: one way in, one way out. What the part reads of other nodes becomes
 * parameters, or the input where it is one value, and what others read of its end they read of the Workflow node that takes its
 * place. Runs come to the same. (Only an agent whose whole text comes to nothing is told something else: the parameters.)
 * @param selected ids; bodies of loops among them go along
 * @param name of the new workflow, and of the node as far as nobody bears it
 * @throws ComposeRefusal with a sentence that says why it cannot be done
 */
export function extractWorkflow(graph: Graph, selected: ReadonlySet<string>, name: string, scope: NodeScope): Extraction {
  const part = partOf(graph, selected);
  assertAlwaysEnds(graph, part);
  assertNotNamed(part.scope, part.exit);
  const { ids, entry, exit } = part;
  const names = namesIn(graph, scope);
  const params = new Params();
  const into = graph.edges.filter((edge) => !ids.has(edge.source) && edge.target === entry.id);
  const isDecided = into.some(({ source, sourceHandle }) => {
    const node = graph.nodes.find(({ id }) => id === source);
    return node && passesContent(node, definitionOf(node.type), sourceHandle ?? null);
  });
  if (isDecided && readsOutput(entry))
    refuse(`The condition of ${quoted(entry, entry.id)} reads how the node before it decided. Take that along.`);

  const nodes = handedOver(graph, part, names, params);
  const body = definitionOf(exit.type)?.body?.handle;
  const done = handlesOf(exit)?.find((handle) => handle !== body);
  const labels = new Set(nodes.map(labelOf));
  const right = Math.max(...nodes.map(({ position }) => position.x));
  const inner: Graph = {
    nodes: [
      { id: TRIGGER, type: "triggerNode", position: { x: entry.position.x - NEXT_NODE_DISTANCE, y: entry.position.y }, data: {} },
      ...nodes,
      {
        ...{ id: RESULT, type: "outputNode", position: { x: right + NEXT_NODE_DISTANCE, y: exit.position.y } },
        data: { label: unused("Result", labels, " "), value: "", format: "passthrough" },
      },
    ],
    edges: [
      { id: unused("begin", new Set(graph.edges.map(({ id }) => id)), "-"), source: TRIGGER, target: entry.id },
      ...graph.edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target)),
      {
        id: unused("end", new Set(graph.edges.map(({ id }) => id)), "-"),
        source: exit.id,
        target: RESULT,
        ...(done && { sourceHandle: done }),
      },
    ],
  };
  const whole = params.values.size > 0 ? withContent(graph, inner, part, params) : inner;
  const [only, ...others] = params.values;
  // One value alone is what a workflow is started with.
  const isText = only !== undefined && others.length === 0;
  const parameters = [...params.values].map(([param, text]) => ({ name: param, label: text.slice(0, 120), type: "text", required: false }));
  const kind = parameters.length === 0 || isText ? { kind: "manual" } : { kind: "params", parameters };
  const workflow: Graph = {
    ...whole,
    nodes: whole.nodes.map((node) => {
      if (node.id === TRIGGER) return { ...node, data: { label: unused("Start", labels, " "), ...kind } };
      const definition = isText ? definitionOf(node.type) : undefined;
      const plain = (text: string) => text.replaceAll(`{{trigger.${only?.[0]}}}`, "{{trigger.output}}");
      return definition ? { ...node, data: withTexts(definition, node.data, "template", plain) } : node;
    }),
  };
  const fault = findFaults(workflow)[0];
  if (fault) refuse(fault.message);
  const { ownerOf } = makePlan(graph);
  assertLoops(workflow, (id) => (part.units.includes(id) || !ids.has(id) ? null : ownerOf(id)));

  const kept = graph.nodes.filter(({ id }) => !ids.has(id));
  const label = unused(name.replace(/[{}]/g, "").trim().slice(0, 110) || "Workflow", new Set(kept.map(labelOf)), " ");
  const node_id = unused("workflow", new Set(graph.nodes.map(({ id }) => id)), "-");
  const rest = rewritten(graph, part, names, label);
  const edges = graph.edges.flatMap((edge) => {
    const [isFrom, isTo] = [ids.has(edge.source), ids.has(edge.target)];
    if (isFrom && isTo) return [];
    if (isTo) return [{ ...edge, target: node_id }];
    if (!isFrom) return [edge];
    const { sourceHandle: _, ...plain } = edge;
    return [{ ...plain, source: node_id }];
  });
  const given = { input: isText ? only[1] : "", params: isText ? {} : Object.fromEntries(params.values) };
  const graphWith = (workflow_id: string): Graph => {
    const data = { label, workflow_id, ...given, version: "current", on_error: "fail" };
    return { nodes: [...rest, { id: node_id, type: "workflowNode", position: entry.position, data }], edges };
  };
  const wrong = findFaults(graphWith("new"))[0];
  if (wrong) refuse(wrong.message);
  assertLoops(graphWith("new"), (id) => (id === node_id ? part.scope.loop : ownerOf(id)));
  return { workflow, graphWith, node_id, given: [...params.values.values()] };
}
