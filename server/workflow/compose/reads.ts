import { makePlan, type PlanEdge, type PlanScope } from "#server/workflow/compile.ts";
import { type IsName, isNameOf, parseTemplate, RESERVED_NAMES, type Reference, slugOf, writtenOf } from "#server/workflow/expressions.ts";
import { definitionOf, handlesOf, namesOf, passesContent, quoted, topologicalOrder } from "#server/workflow/graph.ts";
import { textsOf } from "#server/workflow/node-texts.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

// Who reads what of whom in a graph, for taking a part of it out and putting one in. Pure and browser-safe.

/** Thrown where a part cannot be taken out or put in; the text is a sentence that says why. */
export class ComposeRefusal extends Error {
  override name = "ComposeRefusal";
}

export const refuse = (message: string): never => {
  throw new ComposeRefusal(message);
};

/** What a reference reads: the node that bears the label, or the nodes that share an agent's name. */
export interface Bearers {
  ids: readonly string[];
  isAlias: boolean;
}

export interface Names {
  isName: IsName | undefined;
  /** Undefined for what is no node: the trigger's values, the execution, credentials, and names that nobody bears. */
  bearersOf(reference: Reference): Bearers | undefined;
}

/** What expressions of a graph can call its nodes, as a run finds them. */
export function namesIn(graph: Graph, scope: NodeScope): Names {
  const names = namesOf(graph, scope);
  return {
    isName: isNameOf(names.map(({ name }) => name)),
    bearersOf({ head }) {
      if (RESERVED_NAMES.includes(head)) return undefined;
      const slug = slugOf(head);
      const found = names.find(({ name }) => name === head) ?? names.find(({ name }) => slug !== "" && slugOf(name) === slug);
      if (!found) return undefined;
      const { name, isAlias, node } = found;
      return { isAlias, ids: isAlias ? names.filter((one) => one.isAlias && one.name === name).map((one) => one.node.id) : [node.id] };
    },
  };
}

/** A template with each reference as `change` writes it. */
export const withReferences = (template: string, isName: IsName | undefined, change: (reference: Reference) => string): string =>
  parseTemplate(template, isName)
    .map((part) => ("text" in part ? writtenOf(part) : change(part.reference)))
    .join("");

/** The Python of a node, which is given names and not expressions. */
export const pythonOf = ({ type, data }: GraphNode): string =>
  textsOf(definitionOf(type), data, "python")
    .map(({ text }) => text)
    .join("\n");

/** Ids of the nodes whose content comes to a node: those that lead to it, or, where one only decides, those before that. */
export function contentSources(graph: Graph, id: string): Set<string> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const collect = (target: string) => {
    for (const edge of graph.edges) {
      if (edge.target !== target || seen.has(edge.source)) continue;
      seen.add(edge.source);
      const node = graph.nodes.find((one) => one.id === edge.source);
      if (node && passesContent(node, definitionOf(node.type), edge.sourceHandle ?? null)) collect(edge.source);
      else found.add(edge.source);
    }
  };
  collect(id);
  return found;
}

/**
 * The field in which a node says what it works with, where it is empty, so that what came before is taken; null where that is
 * taken in another way, and undefined where it is not taken.
 */
export function takenIn({ type, data }: GraphNode): string | null | undefined {
  const definition = definitionOf(type);
  const config = definition?.config.safeParse(data).data;
  if (!definition || !config) return undefined;
  if (definition.takesUpstream) return definition.takesUpstream(config) ? null : undefined;
  const texts = textsOf(definition, config, "template");
  const own = definition.input ?? texts[0]?.path;
  const text = texts.find(({ path }) => path === own);
  return text && text.text.trim() === "" ? own : undefined;
}

/** True when the Python of a node reads the literal output of the node before it. */
export const readsOutput = (node: GraphNode): boolean => /\boutput\b/.test(pythonOf(node));

/** The items of a loop whose body ends at several nodes are objects by their labels. @throws ComposeRefusal when this node is one of those */
export function assertNotNamed({ loop, ends }: PlanScope, node: GraphNode): void {
  if (loop !== null && ends.length > 1 && ends.includes(node.id))
    refuse(`The results of the loop name ${quoted(node, node.id)}, since its body ends at several nodes. Join them first.`);
}

/** Which nodes a loop goes through is told by ways and by reads, and both have changed. @throws ComposeRefusal when it is another loop now */
export function assertLoops(graph: Graph, loopOf: (id: string) => string | null): void {
  const plan = makePlan(graph);
  for (const node of graph.nodes)
    if (!definitionOf(node.type)?.isInert && plan.ownerOf(node.id) !== loopOf(node.id))
      refuse(`${quoted(node, node.id)} would stand in another loop than now.`);
  const [contested] = plan.contested;
  if (contested) refuse("A node would stand in two loops.");
}

/** Decisions whose every outcome is tried out. */
const MOST_DECISIONS = 10;

/**
 * Whatever is decided among these nodes, the run must come from the first to the last: else what follows would be skipped when
 * they stand here, and run when they stand elsewhere.
 * @param ids nodes of one scope
 * @param edges between them
 * @throws ComposeRefusal
 */
export function assertReached(graph: Graph, ids: readonly string[], edges: readonly PlanEdge[], first: string, last: string): void {
  const named = (id: string) => {
    const node = graph.nodes.find((one) => one.id === id);
    return quoted(node, id);
  };
  const ways = ids.flatMap((id) => {
    const node = graph.nodes.find((one) => one.id === id);
    const handles = node && !definitionOf(node.type)?.body ? handlesOf(node) : null;
    return handles && handles.length > 1 ? [{ id, handles }] : [];
  });
  if (ways.length > MOST_DECISIONS) refuse(`It decides in more than ${MOST_DECISIONS} places, which is too much to follow.`);
  const order = topologicalOrder(
    ids,
    Map.groupBy(edges, ({ source }) => source),
  );
  const into = Map.groupBy(edges, ({ target }) => target);
  const tryOut = (at: number, taken: ReadonlyMap<string, string>): void => {
    const way = ways[at];
    if (way) {
      for (const handle of way.handles) tryOut(at + 1, new Map([...taken, [way.id, handle]]));
      return;
    }
    const live = new Set([first]);
    const isLive = ({ source, handle }: PlanEdge) =>
      live.has(source) && (handle === "" || !taken.has(source) || taken.get(source) === handle);
    for (const id of order) if (into.get(id)?.some(isLive)) live.add(id);
    if (live.has(last)) return;
    const [id, handle] = [...taken].find(([decision]) => live.has(decision)) ?? [first, "its end"];
    refuse(`When ${named(id)} goes on by ${handle}, ${named(last)} may not be reached. Every way must lead there.`);
  };
  tryOut(0, new Map());
}
