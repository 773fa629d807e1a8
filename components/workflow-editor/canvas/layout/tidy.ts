import { Graph as DagreGraph, layout } from "@dagrejs/dagre";
import type { FlowDocument, FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import {
  type Bodies,
  bodiesOf,
  FOLDED,
  FRAME,
  isCollapsed,
  isLoop,
  loopsAround,
} from "#components/workflow-editor/canvas/geometry/loop-frames.ts";
import { sizeOf } from "#components/workflow-editor/canvas/geometry/node-size.ts";
import { notePlaces } from "#components/workflow-editor/canvas/layout/tidy-notes.ts";
import { keepWays } from "#components/workflow-editor/canvas/layout/tidy-order.ts";
import { wrapRows } from "#components/workflow-editor/canvas/layout/tidy-rows.ts";
import { definitionOf } from "#server/workflow/graph.ts";

interface Place {
  x: number;
  y: number;
}
/** The nodes of one scope, set out from its own corner, with the bodies of the loops among them. */
interface Layout {
  width: number;
  height: number;
  places: Map<string, Place>;
}

const round = (value: number) => Math.round(value / 10) * 10;

/** One scope: the workflow, or the body of a loop. The bodies inside come first, since a frame is as large as its body. */
function setOut(document: FlowDocument, bodies: Bodies, loop: string | undefined): Layout {
  const members = document.nodes.filter((node) => bodies.owner[node.id] === loop && !definitionOf(node.type ?? "")?.isInert);
  const bodyOf = new Map(members.filter((node) => isLoop(node.type)).map((node) => [node.id, setOut(document, bodies, node.id)]));
  const boxOf = (node: FlowNode) => {
    const body = bodyOf.get(node.id);
    if (!body) return sizeOf(node);
    if (isCollapsed(document.data[node.id])) return FOLDED;
    const { left, right, head, bottom } = FRAME;
    return { width: Math.max(FRAME.width, body.width + left + right), height: Math.max(FRAME.height, body.height + head + bottom) };
  };
  const graph = new DagreGraph();
  graph.setGraph({ rankdir: "LR", nodesep: 48, ranksep: 80, edgesep: 24 });
  graph.setDefaultEdgeLabel(() => ({}));
  // By number: dagre keeps its nodes in plain objects, and what people call theirs may be a name that every object has.
  const keys = new Map(members.map((node, index) => [node.id, String(index)]));
  for (const node of members) graph.setNode(keys.get(node.id) ?? "", boxOf(node));
  // Seen from here, what lies in a loop is the loop.
  const seenAs = (id: string) => {
    const seen = [id, ...loopsAround(bodies, id)].find((candidate) => keys.has(candidate));
    return seen === undefined ? undefined : keys.get(seen);
  };
  const ways = new Map<string, Map<string, number>>();
  const types = new Map(members.map((node) => [keys.get(node.id), node.type]));
  for (const edge of document.edges) {
    const [source, target] = [seenAs(edge.source), seenAs(edge.target)];
    if (source === undefined || target === undefined || source === target) continue;
    graph.setEdge(source, target);
    const handles = definitionOf(types.get(source) ?? "")?.handles ?? [];
    if (handles.length < 2) continue;
    const way = Math.max(0, edge.sourceHandle ? handles.indexOf(edge.sourceHandle) : 0);
    const known = ways.get(source) ?? new Map<string, number>();
    ways.set(source, known.set(target, Math.min(way, known.get(target) ?? way)));
  }
  const customOrder = (ranked: DagreGraph, order: (graph: DagreGraph) => void) => {
    order(ranked);
    keepWays(ranked, ways);
  };
  if (members.length > 0) layout(graph, { customOrder });
  const places = new Map<string, Place>();
  let [width, height] = [0, 0];
  const corners = members.map((node) => {
    const box = graph.node(keys.get(node.id) ?? "") as { x: number; y: number; width: number; height: number };
    return { node, x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height };
  });
  if (loop === undefined) {
    const cornerOf = (key: string) => corners[Number(key)];
    const lines = graph.edges().flatMap(({ v, w }) => {
      const [from, to] = [cornerOf(v), cornerOf(w)];
      return from && to ? [[from, to] as const] : [];
    });
    wrapRows(corners, lines);
  }
  const [left, top] = [Math.min(...corners.map(({ x }) => x)), Math.min(...corners.map(({ y }) => y))];
  for (const { node, ...box } of corners) {
    const place = { x: round(box.x - left), y: round(box.y - top) };
    places.set(node.id, place);
    for (const [id, inner] of bodyOf.get(node.id)?.places ?? [])
      places.set(id, { x: place.x + FRAME.left + inner.x, y: place.y + FRAME.head + inner.y });
    width = Math.max(width, place.x + box.width);
    height = Math.max(height, place.y + box.height);
  }
  return { width, height, places };
}

/**
 * Positions (top left corners, by node id) that set the workflow out from left to right, bodies of loops within their
 * frames. The flow keeps its top left corner. Notes stay beside what they lie nearest to: people put them beside what they
 * are about.
 */
export function tidyPositions(document: FlowDocument): Map<string, Place> {
  const bodies = bodiesOf(document);
  const { places } = setOut(document, bodies, undefined);
  const moved = document.nodes.filter((node) => places.has(node.id));
  const left = Math.min(...moved.map((node) => node.position.x));
  const top = Math.min(...moved.map((node) => node.position.y));
  const found = new Map([...places].map(([id, place]) => [id, { x: round(place.x + left), y: round(place.y + top) }]));
  return new Map([...found, ...notePlaces(document, bodies, found)]);
}
