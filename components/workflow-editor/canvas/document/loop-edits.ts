import { connectNodes, type Ends, newEdge } from "#components/workflow-editor/canvas/document/edits.ts";
import {
  type FlowDocument,
  type FlowEdge,
  type FlowNode,
  labelOf,
  toGraph,
} from "#components/workflow-editor/canvas/document/flow-document.ts";
import { checkConnection, definitionOf, handlesOf } from "#server/workflow/graph.ts";
import { type Bodies, bodiesOf, descendantsOf, type Frame, loopsAround } from "#server/workflow/layout/loop-frames.ts";
import { sizeOf } from "#server/workflow/layout/node-size.ts";

// Moving nodes into a loop's frame and out of it is an edit of edges: a loop's body is what its body handle leads to.

/**
 * What came of it: the new document, a sentence about it, and names of nodes that what moved was connected to and is not any
 * more; or only the sentence that says why not.
 */
export type LoopEdit = { document: FlowDocument; say: string; cut: string[] } | { refusal: string };

const isActive = (node: FlowNode | undefined) => {
  const definition = definitionOf(node?.type ?? "");
  return definition !== undefined && !definition.isInert;
};

/** Adds an edge where the rules allow it. */
function joined(document: FlowDocument, ends: Ends): FlowDocument | null {
  return checkConnection(toGraph(document), ends) === null ? connectNodes(document, ends) : null;
}

/** Ways out of a node that lead nowhere yet. */
function freeWays(document: FlowDocument, node: FlowNode): (string | null)[] {
  const handles = handlesOf({ type: node.type, data: document.data[node.id] }) ?? [null];
  return handles.filter((way) => !document.edges.some((edge) => edge.source === node.id && (edge.sourceHandle ?? null) === way));
}

/** Takes nodes out of where they stand: what led to them leads on to what followed them, as far as the rules allow. */
function lifted(document: FlowDocument, ids: ReadonlySet<string>): FlowDocument {
  const crosses = (edge: FlowEdge) => ids.has(edge.source) !== ids.has(edge.target);
  const into = document.edges.filter((edge) => crosses(edge) && ids.has(edge.target));
  const out = document.edges.filter((edge) => crosses(edge) && ids.has(edge.source));
  let next: FlowDocument = { ...document, edges: document.edges.filter((edge) => !crosses(edge)) };
  for (const { source, sourceHandle } of into) for (const { target } of out) next = joined(next, { source, sourceHandle, target }) ?? next;
  return next;
}

/** Whom these nodes are connected to, either way. */
function neighbours(document: FlowDocument, ids: ReadonlySet<string>): Set<string> {
  const crossing = document.edges.filter((edge) => ids.has(edge.source) !== ids.has(edge.target));
  return new Set(crossing.map((edge) => (ids.has(edge.source) ? edge.target : edge.source)));
}

/** How far a card may reach over the one that it follows and still count as right of it. */
const OVERLAP = 40;

/** The node of a body after which something dropped at `x` comes: the nearest free way out to its left, else the loop's own entry. */
function anchors(document: FlowDocument, bodies: Bodies, loop: string, x: number): Ends[] {
  const inside = document.nodes.filter((node) => bodies.owner[node.id] === loop && isActive(node));
  const entry = {
    source: loop,
    sourceHandle: definitionOf(document.nodes.find(({ id }) => id === loop)?.type ?? "")?.body?.handle ?? "body",
    target: "",
  };
  const ways = inside
    .flatMap((node) => freeWays(document, node).map((sourceHandle) => ({ node, ends: { source: node.id, sourceHandle, target: "" } })))
    .sort((a, b) => Math.abs(a.node.position.x - x) - Math.abs(b.node.position.x - x));
  const isLeft = ({ node }: (typeof ways)[number]) => node.position.x + sizeOf(node).width <= x + OVERLAP;
  const [left, right] = [ways.filter(isLeft), ways.filter((way) => !isLeft(way))];
  return [...left.map(({ ends }) => ends), entry, ...right.map(({ ends }) => ends)];
}

/**
 * Makes nodes part of a loop's body, or of no loop's.
 * @param loop the frame that they were dropped into, null for none
 */
export function moveToLoop(document: FlowDocument, nodeIds: readonly string[], loop: string | null): LoopEdit {
  const bodies = bodiesOf(document);
  const ids = new Set(nodeIds);
  // What stands in a loop that moves goes with it.
  for (const id of nodeIds) for (const inner of descendantsOf(bodies, id)) ids.add(inner);
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const name = (id: string) => labelOf(document.data[id], nodes.get(id)?.type);
  const what = nodeIds.length === 1 ? name(String(nodeIds[0])) : `${nodeIds.length} nodes`;
  if (loop !== null && ids.has(loop)) return { refusal: "A loop cannot stand in its own body." };
  if ([...ids].some((id) => definitionOf(nodes.get(id)?.type ?? "")?.group === "trigger"))
    return { refusal: "The trigger starts the whole workflow; it cannot stand in a loop." };
  const owner = nodeIds[0] === undefined ? undefined : bodies.owner[nodeIds[0]];
  let next = lifted(document, ids);
  const cutIn = (made: FlowDocument) => [...neighbours(document, ids).difference(neighbours(made, ids))].map(name);
  if (loop === null)
    return { document: next, cut: cutIn(next), say: `${what} taken out of ${owner === undefined ? "the loop" : name(owner)}` };
  const heads = nodeIds.filter((id) => !next.edges.some((edge) => edge.target === id) && isActive(nodes.get(id)));
  for (const head of heads) {
    const x = nodes.get(head)?.position.x ?? 0;
    let refusal: string | null = null;
    let made: FlowDocument | null = null;
    for (const ends of anchors(next, bodiesOf(next), loop, x)) {
      const full = { ...ends, target: head };
      const why = checkConnection(toGraph(next), full);
      refusal ??= why;
      if (why) continue;
      made = { ...next, edges: [...next.edges, newEdge(full, next)] };
      break;
    }
    if (!made) return { refusal: refusal ?? `${name(head)} cannot stand in ${name(loop)}.` };
    next = made;
  }
  // Whoever reads the loop's output runs after it, wherever it was dropped.
  const now = bodiesOf(next);
  const outside = heads.find((id) => !loopsAround(now, id).includes(loop));
  if (outside !== undefined)
    return { refusal: `${name(outside)} reads the output of ${name(loop)}, so it runs after the loop, not in it.` };
  return { document: next, cut: cutIn(next), say: `${what} put into ${name(loop)}` };
}

/** A loop drawn as one card, or as a frame again; its place is where its frame was. */
export function toggleCollapsed(document: FlowDocument, loop: string, frame: Frame | undefined): FlowDocument {
  const { collapsed, ...rest } = document.data[loop] ?? {};
  const data = { ...document.data, [loop]: collapsed === true ? rest : { ...rest, collapsed: true } };
  const nodes = document.nodes.map((node) => (node.id === loop && frame ? { ...node, position: { x: frame.x, y: frame.y } } : node));
  return { ...document, data, nodes };
}
