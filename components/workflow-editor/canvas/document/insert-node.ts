import { connectNodes, spliceEdge } from "#components/workflow-editor/canvas/document/edits.ts";
import { type FlowDocument, toGraph } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { checkConnection } from "#server/workflow/graph.ts";
import { bodiesOf, framesIn } from "#server/workflow/layout/loop-frames.ts";
import { makeRoomBetween, makeRoomForFrames } from "#server/workflow/layout/make-room.ts";

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

/** Lets a node that was just added follow another, as far as the rules allow it. */
export function appendAfter(document: FlowDocument, after: { nodeId: string; handle: string | null }, id: string): FlowDocument {
  const ends = { source: after.nodeId, sourceHandle: after.handle, target: id };
  if (checkConnection(toGraph(document), ends) !== null) return document;
  const joined = connectNodes(document, ends);
  return makeRoomForFrames(joined, bodiesOf(joined).owner[id] ?? null, framesIn(document));
}
