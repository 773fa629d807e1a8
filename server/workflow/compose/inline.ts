import { makePlan } from "#server/workflow/compile.ts";
import {
  assertLoops,
  assertNotNamed,
  assertReached,
  contentSources,
  namesIn,
  pythonOf,
  readsOutput,
  refuse,
  takenIn,
  withReferences,
} from "#server/workflow/compose/reads.ts";
import { isDisabled } from "#server/workflow/disabled.ts";
import { parseTemplate, type Reference, referencesOf, shownSource } from "#server/workflow/expressions.ts";
import { definitionOf, endsByRejection, findFaults, handlesOf, labelOf, passesContent, quoted } from "#server/workflow/graph.ts";
import { NEXT_NODE_DISTANCE } from "#server/workflow/layout/node-size.ts";
import { textsOf, withTexts } from "#server/workflow/node-texts.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import { workflowNode } from "#server/workflow/nodes/workflow-node.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import { asText } from "#server/workflow/resolve-expressions.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

/** The child without what begins and ends it, and the node whose output is its output. */
interface Inner {
  trigger: GraphNode;
  nodes: readonly GraphNode[];
  exit: GraphNode;
}

const isActive = ({ type }: GraphNode) => !definitionOf(type)?.isInert;

/** The node before an Output that only passes on what that says. @throws ComposeRefusal for one that says something of its own */
function sourceOf(child: Graph, output: GraphNode): GraphNode {
  const name = quoted(output, output.id);
  const sources = child.edges.filter(({ target }) => target === output.id);
  const [edge] = sources;
  const source = child.nodes.find(({ id }) => id === edge?.source);
  if (!source || sources.length > 1) return refuse(`Its ${name} has not one node before it.`);
  const value = String(output.data.value ?? "").trim();
  const parts = parseTemplate(value, (text) => text === labelOf(source));
  const [only] = parts;
  const reference = parts.length === 1 && only && "reference" in only ? only.reference : undefined;
  const isPlain = reference?.head === labelOf(source) && reference.path.join() === "output" && reference.filters.length === 0;
  if ((value !== "" && !isPlain) || (output.data.format ?? "passthrough") !== "passthrough" || isDisabled(output))
    refuse(`Its ${name} makes a text of its own, which no node here would make.`);
  if (child.edges.some((one) => one.source === output.id)) refuse(`Its ${name} is followed by others.`);
  return source;
}

/** @throws ComposeRefusal for what would not come to the same in the middle of another workflow */
function innerOf(child: Graph): Inner {
  const trigger = child.nodes.find(({ type }) => definitionOf(type)?.group === "trigger");
  if (!trigger) return refuse("The workflow has no trigger.");
  const active = child.nodes.filter((node) => isActive(node) && node !== trigger);
  for (const node of active) {
    const definition = definitionOf(node.type);
    const name = quoted(node, node.id);
    if (!definition) refuse(`Its ${name} is of a type that is not known here.`);
    if (node.type === "terminateNode") refuse(`Its ${name} ends its run, and here would end the whole run.`);
    if (endsByRejection(node, child.edges).length)
      refuse(`Its ${name} ends its run when it is rejected, and here would end the whole run.`);
    if (/\btrigger_output\b/.test(pythonOf(node))) refuse(`The condition of its ${name} reads trigger_output, which is another one here.`);
  }
  const plan = makePlan(child);
  const top = plan.scopes.get(null);
  const outputs = active.filter(({ type }) => type === "outputNode");
  const [output] = outputs;
  if (outputs.length > 1) refuse("It has several Outputs. A Workflow node reads them together, and here there would be no such value.");
  const ends = top?.ends.filter((id) => id !== trigger.id) ?? [];
  if (!output && ends.length !== 1) refuse("It has no Output, and not one end.");
  const exit = output ? sourceOf(child, output) : active.find(({ id }) => id === ends[0]);
  if (!top || !exit || exit === trigger) return refuse("It does nothing.");
  const name = quoted(exit, exit.id);
  const isLoop = definitionOf(exit.type)?.body !== undefined;
  if (!top.nodeIds.includes(exit.id)) refuse(`Its output comes from ${name}, which stands in a loop.`);
  if ((handlesOf(exit) !== null && !isLoop) || passesContent(exit, definitionOf(exit.type), null) || isDisabled(exit))
    refuse(`Its output comes from ${name}, which decides and makes no content of its own.`);
  const units = top.nodeIds.filter((id) => id !== output?.id);
  const edges = units.flatMap((id) => (top.outgoing.get(id) ?? []).filter(({ target }) => target !== output?.id));
  assertReached(child, units, edges, trigger.id, exit.id);
  return { trigger, exit, nodes: child.nodes.filter((node) => node !== trigger && node !== output) };
}

/** What the trigger gives, as texts of the graph in which the Workflow node stands. */
interface Given {
  /** By name; `output` is what it is given as a whole. Undefined for what cannot be written as a text. */
  values: ReadonlyMap<string, string | undefined>;
  /** Whether what came before the Workflow node simply goes on. */
  isPassed: boolean;
}

function givenTo(graph: Graph, node: GraphNode, trigger: GraphNode): Given {
  const { input, params } = workflowNode.config.parse(node.data);
  const { kind, parameters } = triggerNode.config.parse(trigger.data);
  if (kind === "params") {
    const texts = parameters.map(({ name, type, default: preset }) => {
      const text = params[name] ?? asText(preset);
      const isPlain = type !== "boolean" || text === "true" || text === "false";
      return [name, isPlain ? text : undefined] as const;
    });
    return { isPassed: false, values: new Map(texts) };
  }
  if (input.trim() !== "") return { isPassed: false, values: new Map([["output", input]]) };
  const [id, ...others] = contentSources(graph, node.id);
  const source = others.length === 0 ? graph.nodes.find((one) => one.id === id) : undefined;
  const isItem = source && makePlan(graph).loopsAround(node.id).includes(source.id);
  const head = source && (definitionOf(source.type)?.group === "trigger" ? "trigger" : labelOf(source));
  const before = head === undefined ? undefined : `{{${head}.${isItem ? "current_item" : "output"}}}`;
  return { isPassed: true, values: new Map([["output", before]]) };
}

/** An expression that reads the trigger, as it reads the same where the Workflow node stands. @throws ComposeRefusal */
function spliced({ source, path, pathAt, filters }: Reference, { values }: Given, isJson: boolean): string {
  const [field = ""] = path;
  const text = values.get(String(field));
  if (text === undefined) return refuse(`It reads ${source}, which cannot be written here: what comes is of several nodes, or no text.`);
  const rest = source
    .slice(pathAt, -2)
    .replace(/^\s*(?:\.[^.[\]|]+|\[\s*(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')\s*\])/, "")
    .trimEnd();
  const parts = parseTemplate(text);
  const [only] = parts;
  const inner = parts.length === 1 && only && "reference" in only ? only.reference : undefined;
  if (rest.trim() === "") {
    if (isJson && !inner && /["\\\n]/.test(text)) refuse(`It puts ${source} into JSON, where what is given has quotes or line breaks.`);
    return text;
  }
  if (!inner || inner.fault) return refuse(`It reads a part of ${source}, and what is given is not one expression.`);
  if (inner.filters.length > 0 && path.length > 1) refuse(`It reads a part of ${source}, of which a filter has made a text.`);
  if (filters.length > 0 && (inner.path.length > 1 || inner.path[0] !== "output"))
    refuse(`It has a filter on ${source}, which is a text there and may be none here.`);
  return `{{${inner.source.slice(2, -2).trim()}${rest}}}`;
}

const unused = (wanted: string, isTaken: (name: string) => boolean): string => {
  let name = wanted;
  for (let count = 2; isTaken(name); count++) name = `${wanted} ${count}`;
  return name;
};

/** The child's nodes under ids and labels that are free here, at the place of the Workflow node. */
function renamed(graph: Graph, node: GraphNode, { trigger, nodes }: Inner, first: GraphNode | undefined) {
  const kept = graph.nodes.filter((one) => one !== node);
  const taken = new Set(kept.flatMap((one) => [one.id, labelOf(one)]));
  const ids = new Map<string, string>();
  const labels = new Map<string, string>();
  for (const one of nodes) {
    const id = unused(one.id, (name) => taken.has(name));
    const label = unused(labelOf(one), (name) => taken.has(name));
    taken.add(id).add(label);
    ids.set(one.id, id.replaceAll(" ", "-"));
    labels.set(one.id, label);
  }
  const idOf = (id: string) => ids.get(id) ?? id;
  const named = (own: (one: GraphNode) => string) => namesFrom(nodes.filter(isActive).map((one) => [idOf(one.id), own(one)]));
  const before = named(labelOf);
  const after = named((one) => labels.get(one.id) ?? "");
  const from = first?.position ?? trigger.position;
  const shift = { x: node.position.x - from.x, y: node.position.y - from.y };
  const made = nodes.map((one) => ({
    ...one,
    id: idOf(one.id),
    position: { x: one.position.x + shift.x, y: one.position.y + shift.y },
    data: { ...withNames(one.type, one.data, before, after), ...(isActive(one) && { label: labels.get(one.id) }) },
  }));
  return { made, idOf };
}

/**
 * Puts the workflow that a Workflow node runs in the node's place. Runs come to the same.
 * @param child its graph
 * @throws ComposeRefusal with a sentence that says why it cannot be done
 */
export function inlineWorkflow(graph: Graph, node_id: string, child: Graph, scope: NodeScope): Graph {
  const node = graph.nodes.find(({ id }) => id === node_id);
  if (node?.type !== "workflowNode") return refuse("This is no Workflow node.");
  if (isDisabled(node)) refuse("It is switched off. Enable it first.");
  if (node.data.on_error === "continue")
    refuse("It goes on when the other workflow fails, whatever fails in it. Let it end the run first.");
  const inner = innerOf(child);
  const [outer, own] = [makePlan(graph), makePlan(child)];
  const around = outer.scopes.get(outer.ownerOf(node_id));
  if (around) assertNotNamed(around, node);
  const { trigger, exit } = inner;
  const given = givenTo(graph, node, trigger);
  const followers = child.edges.flatMap(({ source, target }) => (source === trigger.id ? [target] : []));
  const into = graph.edges.filter(({ target }) => target === node_id);
  const isDecided = into.some(({ source, sourceHandle }) => {
    const before = graph.nodes.find(({ id }) => id === source);
    return before && passesContent(before, definitionOf(before.type), sourceHandle ?? null);
  });
  const { made, idOf } = renamed(
    graph,
    node,
    inner,
    inner.nodes.find(({ id }) => id === followers[0]),
  );

  const childNames = namesIn(child, scope);
  const filled = made.map((one, index): GraphNode => {
    const definition = definitionOf(one.type);
    const original = inner.nodes[index];
    if (!definition || !original || definition.isInert) return one;
    const name = quoted(original, original.id);
    if (followers.includes(original.id) && readsOutput(original) && (!given.isPassed || isDecided))
      refuse(`The condition of its ${name} reads what its trigger gives, which is nothing here.`);
    const data = withTexts(definition, one.data, "template", (text, path) =>
      withReferences(text, childNames.isName, (reference) => {
        if (reference.head === "execution" && !reference.fault)
          refuse(`Its ${name} reads ${shownSource(reference)}, which would be the id of this run.`);
        if (reference.head !== "trigger" || reference.fault) return reference.source;
        return spliced(reference, given, one.type === "httpNode" && path === "body");
      }),
    );
    const sources = contentSources(child, original.id);
    const field = given.isPassed || !sources.has(trigger.id) ? undefined : takenIn(original);
    if (field === undefined) return { ...one, data };
    const text = given.values.get("output");
    if (field === null || text === undefined || sources.size > 1)
      return refuse(`Its ${name} takes what its trigger gives, which is nothing here.`);
    return { ...one, data: { ...data, [field]: text } };
  });

  const end = filled.find(({ id }) => id === idOf(exit.id));
  if (!end) return refuse("It does nothing.");
  const kept = graph.nodes.filter((one) => one !== node);
  const labels = (nodes: readonly GraphNode[]) => nodes.filter(isActive).map((one) => [one.id, labelOf(one)] as const);
  const before = namesFrom(labels(graph.nodes));
  const after = namesFrom([...labels(kept), [node_id, labelOf(end)]]);
  const right = Math.max(...filled.map(({ position }) => position.x));
  const isInWay = kept.some(({ position }) => position.x > node.position.x && position.x <= right + NEXT_NODE_DISTANCE / 2);
  const rest = kept.map((one) => ({
    ...one,
    ...(isInWay && one.position.x > node.position.x && { position: { ...one.position, x: one.position.x + right - node.position.x } }),
    data: withNames(one.type, one.data, before, after),
  }));

  const edgeIds = new Set(graph.edges.map(({ id }) => id));
  const fresh = (edge: GraphEdge, wanted: string): GraphEdge => {
    const id = unused(wanted.slice(0, 180), (name) => edgeIds.has(name)).replaceAll(" ", "-");
    edgeIds.add(id);
    return { ...edge, id };
  };
  const done = handlesOf(exit)?.find((handle) => handle !== definitionOf(exit.type)?.body?.handle);
  const edges = graph.edges.flatMap((edge): GraphEdge[] => {
    if (edge.target === node_id)
      return followers.map((target, index) =>
        index === 0 ? { ...edge, target: idOf(target) } : fresh({ ...edge, target: idOf(target) }, edge.id),
      );
    return [edge.source === node_id ? { ...edge, source: end.id, ...(done && { sourceHandle: done }) } : edge];
  });
  const isInner = (id: string) => inner.nodes.some((one) => one.id === id);
  const between = child.edges
    .filter(({ source, target }) => isInner(source) && isInner(target))
    .map((edge) => fresh({ ...edge, source: idOf(edge.source), target: idOf(edge.target) }, edge.id));
  const whole = { nodes: [...rest, ...filled], edges: [...edges, ...between] };
  const fault = findFaults(whole)[0];
  if (fault) refuse(fault.message);
  const original = new Map(inner.nodes.map(({ id }) => [idOf(id), id]));
  assertLoops(whole, (id) => {
    const was = original.get(id);
    const loop = was === undefined ? null : own.ownerOf(was);
    return was === undefined ? outer.ownerOf(id) : loop === null ? outer.ownerOf(node_id) : idOf(loop);
  });
  assertSameReads(graph, whole, scope, (id) => (id === node_id ? end.id : id), rest);
  assertSameReads(child, whole, scope, idOf, filled);
  return whole;
}

/** An agent's name may mean other nodes among more of them. @throws ComposeRefusal */
function assertSameReads(from: Graph, to: Graph, scope: NodeScope, idOf: (id: string) => string, nodes: readonly GraphNode[]): void {
  const [before, after] = [namesIn(from, scope), namesIn(to, scope)];
  for (const node of nodes) {
    const definition = definitionOf(node.type);
    const original = from.nodes.find(({ id }) => idOf(id) === node.id);
    if (!definition || !original) continue;
    for (const { text } of textsOf(definition, original.data, "template"))
      for (const reference of referencesOf(text, before.isName)) {
        const bearers = before.bearersOf(reference);
        if (!bearers?.isAlias) continue;
        const now = new Set(after.bearersOf(reference)?.ids);
        if (now.symmetricDifference(new Set(bearers.ids.map(idOf))).size > 0)
          refuse(`${shownSource(reference)} in ${quoted(node, node.id)} would mean another node, or several. Read it by its label.`);
      }
  }
}
