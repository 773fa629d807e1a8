import { connectNodes, spliceEdge } from "#components/workflow-editor/canvas/document/edits.ts";
import { type FlowDocument, toGraph } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { checkConnection } from "#server/workflow/graph.ts";
import { bodiesOf, framesIn } from "#server/workflow/layout/loop-frames.ts";
import { MARGIN, makeRoomBetween, makeRoomForFrames, overlap, sceneOf } from "#server/workflow/layout/make-room.ts";

/** Puts a node that was just added into an edge, as far as the rules allow it, with room on both sides. */
export function insertIntoEdge(document: FlowDocument, edgeId: string, id: string): FlowDocument {
  const edge = document.edges.find((candidate) => candidate.id === edgeId);
  if (!edge) return document;
  const spliced = spliceEdge(document, edgeId, id);
  const isOwn = ({ source, target }: { source: string; target: string }) => source === id || target === id;
  const rest = toGraph({ ...spliced, edges: spliced.edges.filter((candidate) => !isOwn(candidate)) });
  if (!spliced.edges.filter(isOwn).every((candidate) => checkConnection(rest, candidate) === null)) return document;
  const roomy = makeRoomBetween(spliced, id, edge);
  return makeRoomForFrames(roomy, bodiesOf(roomy).owner[id] ?? null, framesIn(document));
}

/** How far a place is looked for, above and below, in steps of the grid. */
const STEP = 10;
const MAX_STEPS = 500;

/** Moves a node that was just added off the cards and frames on which it would lie: down, or up where that is nearer. */
export function offOthers(document: FlowDocument, id: string): FlowDocument {
  const bodies = bodiesOf(document);
  const { boxes } = sceneOf(document, bodies.owner[id], bodies);
  const own = boxes.get(id);
  if (!own) return document;
  const others = [...boxes].flatMap(([other, box]) => (other === id ? [] : [box]));
  const isFree = (by: number) => others.every((box) => !overlap({ ...own, y: own.y + by }, box, MARGIN));
  const by = Array.from({ length: MAX_STEPS }, (_, step) => step * STEP)
    .flatMap((far) => [far, -far])
    .find(isFree);
  if (!by) return document;
  const nodes = document.nodes.map((node) =>
    node.id === id ? { ...node, position: { ...node.position, y: node.position.y + by } } : node,
  );
  return { ...document, nodes };
}

/** Lets a node that was just added follow another, as far as the rules allow it. */
export function appendAfter(document: FlowDocument, after: { nodeId: string; handle: string | null }, id: string): FlowDocument {
  const ends = { source: after.nodeId, sourceHandle: after.handle, target: id };
  if (checkConnection(toGraph(document), ends) !== null) return offOthers(document, id);
  const joined = offOthers(connectNodes(document, ends), id);
  return makeRoomForFrames(joined, bodiesOf(joined).owner[id] ?? null, framesIn(document));
}
