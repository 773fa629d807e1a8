import { Graph as DagreGraph, layout } from "@dagrejs/dagre";
import { definitionOf, handlesOf } from "#server/workflow/graph.ts";
import {
  type Bodies,
  bodiesOf,
  COLLAPSED_SIZE,
  collapsedLoopIds,
  type Drawing,
  type DrawnNode,
  FRAME,
  framesOf,
  isCollapsed,
  isLoop,
  loopsAround,
} from "#server/workflow/layout/loop-frames.ts";
import { type Box, overlap } from "#server/workflow/layout/make-room.ts";
import { NOTE_SIZE, sizeOf } from "#server/workflow/layout/node-size.ts";

interface Place {
  x: number;
  y: number;
}
/** The nodes of one scope, set out from its own corner, with the bodies of the loops among them. */
export interface Layout {
  width: number;
  height: number;
  places: Map<string, Place>;
}

const round = (value: number) => Math.round(value / 10) * 10;

/** One scope: the workflow, or the body of a loop. The bodies inside come first, since a frame is as large as its body. */
export function setOut(document: Drawing, bodies: Bodies, loop: string | undefined): Layout {
  const members = document.nodes.filter((node) => bodies.owner[node.id] === loop && !definitionOf(node.type ?? "")?.isInert);
  const bodyOf = new Map(members.filter((node) => isLoop(node.type)).map((node) => [node.id, setOut(document, bodies, node.id)]));
  const boxOf = (node: DrawnNode) => {
    const body = bodyOf.get(node.id);
    if (!body) return sizeOf(node);
    if (isCollapsed(document.data[node.id])) return COLLAPSED_SIZE;
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
  const byKey = new Map(members.map((node) => [keys.get(node.id), node]));
  for (const edge of document.edges) {
    const [source, target] = [seenAs(edge.source), seenAs(edge.target)];
    if (source === undefined || target === undefined || source === target) continue;
    graph.setEdge(source, target);
    const from = byKey.get(source);
    const handles = (from && handlesOf({ type: from.type, data: document.data[from.id] })) ?? [];
    if (handles.length < 2) continue;
    const way = Math.max(0, edge.sourceHandle ? handles.indexOf(edge.sourceHandle) : 0);
    const known = ways.get(source) ?? new Map<string, number>();
    ways.set(source, known.set(target, Math.min(way, known.get(target) ?? way)));
  }
  const customOrder = (ranked: DagreGraph, order: (graph: DagreGraph) => void) => {
    order(ranked);
    keepHandleOrder(ranked, ways);
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
export function tidyPositions(document: Drawing): Map<string, Place> {
  const bodies = bodiesOf(document);
  const { places } = setOut(document, bodies, undefined);
  const moved = document.nodes.filter((node) => places.has(node.id));
  const left = Math.min(...moved.map((node) => node.position.x));
  const top = Math.min(...moved.map((node) => node.position.y));
  const found = new Map([...places].map(([id, place]) => [id, { x: round(place.x + left), y: round(place.y + top) }]));
  return new Map([...found, ...placeNotes(document, bodies, found)]);
}

/** Free space above the flow, and between notes that are put there. */
const GAP = 40;

export const isNote = (node: DrawnNode) => definitionOf(node.type ?? "")?.isInert === true;

/** How far two boxes are apart. */
function distance(a: Box, b: Box): number {
  const apart = (from: number, length: number, to: number, other: number) => Math.max(0, from - (to + other), to - (from + length));
  return Math.hypot(apart(a.x, a.width, b.x, b.width), apart(a.y, a.height, b.y, b.height));
}

/** What is drawn of the flow: cards, and frames that are not collapsed. */
function drawn(document: Drawing, bodies: Bodies): Map<string, Box> {
  const collapsed = collapsedLoopIds(document);
  const frames = framesOf(document, bodies, collapsed);
  const shown = document.nodes.filter((node) => !isNote(node) && !loopsAround(bodies, node.id).some((loop) => collapsed.has(loop)));
  return new Map(shown.map((node) => [node.id, frames.get(node.id) ?? { ...node.position, ...sizeOf(node) }]));
}

export function noteBox(node: DrawnNode): Box {
  const { width, height } = sizeOf(node);
  const isMeasured = node.measured?.width !== undefined;
  return { ...node.position, width: node.width ?? (isMeasured ? width : NOTE_SIZE.width), height: node.height ?? height };
}

/**
 * Where notes go when the flow is set out anew: each moves along with what it lies nearest to. One that would cover
 * something there goes above the flow.
 * @param places where everything else goes
 */
export function placeNotes(document: Drawing, bodies: Bodies, places: ReadonlyMap<string, Place>): Map<string, Place> {
  const notes = document.nodes.filter(isNote);
  const before = drawn(document, bodies);
  const nodes = document.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position }));
  const after = drawn({ ...document, nodes }, bodies);
  if (notes.length === 0 || before.size === 0) return new Map();
  const taken = [...after.values()];
  const top = Math.min(...taken.map(({ y }) => y));
  const found = new Map<string, Place>();
  const put = (id: string, box: Box) => {
    taken.push(box);
    found.set(id, { x: box.x, y: box.y });
  };
  const homeless: { id: string; box: Box }[] = [];
  for (const note of notes) {
    const box = noteBox(note);
    let [anchor, least] = ["", Number.POSITIVE_INFINITY];
    for (const [id, other] of before) {
      // A card within a frame is nearer than the frame.
      const far = distance(box, other) + (loopsAround(bodies, anchor).includes(id) ? 1 : 0);
      if (far < least || (far === least && loopsAround(bodies, id).includes(anchor))) [anchor, least] = [id, far];
    }
    const [from, to] = [before.get(anchor), after.get(anchor)];
    if (!from || !to) continue;
    const moved = { ...box, x: box.x + to.x - from.x, y: box.y + to.y - from.y };
    if (taken.some((other) => overlap(moved, other))) homeless.push({ id: note.id, box: moved });
    else put(note.id, moved);
  }
  for (const { id, box } of homeless) {
    const above = { ...box, y: top - GAP - box.height };
    for (let hit = taken.find((other) => overlap(above, other)); hit; hit = taken.find((other) => overlap(above, other)))
      above.x = hit.x + hit.width + GAP;
    put(id, above);
  }
  return found;
}

/** Of one node with several ways out: which of them leads to which of the nodes after it, by key. */
export type HandleOrders = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What is asked of a node of the graph that is being set out; dagre adds nodes of its own where a line is long. */
interface Ranked {
  rank: number;
  order: number;
  /** The line that a node of dagre's own is part of. */
  edgeObj?: { v: string; w: string };
}

/** The nodes that can be reached by one way out of `from` alone, with that way's number. */
function groupsOf(graph: DagreGraph, from: string, ways: ReadonlyMap<string, number>, ranked: readonly string[]): Map<string, number> {
  const groups = new Map<string, number>();
  for (const key of ranked) {
    const before = graph.predecessors(key) ?? [];
    if (before.length === 0) continue;
    const found = new Set(
      before.map((one) => {
        if (String(one) !== from) return groups.get(String(one));
        return ways.get((graph.node(key) as Ranked).edgeObj?.w ?? key);
      }),
    );
    const [only] = found;
    if (found.size === 1 && only !== undefined) groups.set(key, only);
  }
  return groups;
}

/**
 * Keeps what follows the ways out of a node in the order of these ways: dagre orders each column so that few lines cross,
 * which does not say what comes first. Of each column only the places change hands that such nodes have already.
 */
export function keepHandleOrder(graph: DagreGraph, ways: HandleOrders): void {
  const of = (key: string) => graph.node(key) as Ranked;
  const ranked = graph
    .nodes()
    .map(String)
    .sort((a, b) => of(a).rank - of(b).rank);
  for (const [from, targets] of ways) {
    const groups = groupsOf(graph, from, targets, ranked);
    for (const column of Map.groupBy(groups.keys(), (key) => of(key).rank).values()) {
      const places = column.map((key) => of(key).order).sort((a, b) => a - b);
      column.sort((a, b) => (groups.get(a) ?? 0) - (groups.get(b) ?? 0) || of(a).order - of(b).order);
      const orders = column.map((key, index) => [key, places[index] ?? 0] as const);
      for (const [key, order] of orders) of(key).order = order;
    }
  }
}

/** A flow that is wider than so many columns is set out in rows of so many. Canvas units. */
const COLUMN = 330;
const WIDEST = 24 * COLUMN;
const ROW_WIDTH = 12 * COLUMN;
/** Free space between two rows. */
const ROW_GAP = 120;

/**
 * Breaks a very long flow into rows, so that it can be seen as a whole; boxes are moved in place. It breaks only where no
 * more than one line leads on, so that a row ends as a sentence does; a flow that is nowhere so narrow stays as it is.
 * @param lines pairs of boxes that an edge joins
 */
export function wrapRows(boxes: readonly Box[], lines: readonly (readonly [Box, Box])[]): void {
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  if (right - Math.min(...boxes.map(({ x }) => x)) <= WIDEST) return;
  const order = [...boxes].sort((a, b) => a.x - b.x);
  const isBreak = (at: number) =>
    boxes.every((box) => box.x >= at || box.x + box.width < at) && lines.filter(([from, to]) => from.x < at && to.x >= at).length <= 1;
  const breaks = [...new Set(order.map(({ x }) => x))].filter(isBreak);
  const rows: Box[][] = [];
  for (let start = order[0]?.x; start !== undefined; ) {
    const from = start;
    const later = breaks.filter((at) => at > from);
    // The last that fits; where none does, the first after it.
    const end: number | undefined = right - from <= ROW_WIDTH ? undefined : (later.findLast((at) => at - from <= ROW_WIDTH) ?? later[0]);
    rows.push(order.filter(({ x }) => x >= from && (end === undefined || x < end)));
    start = end;
  }
  const left = order[0]?.x ?? 0;
  let top = Math.min(...boxes.map(({ y }) => y));
  for (const row of rows) {
    const [first, upper] = [Math.min(...row.map(({ x }) => x)), Math.min(...row.map(({ y }) => y))];
    const height = Math.max(...row.map((box) => box.y + box.height)) - upper;
    for (const box of row) {
      box.x += left - first;
      box.y += top - upper;
    }
    top += height + ROW_GAP;
  }
}
