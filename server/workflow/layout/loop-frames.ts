import { dictionary } from "#server/shared/json-text.ts";
import { makePlan } from "#server/workflow/compile.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { sizeOf } from "#server/workflow/layout/node-size.ts";

// A loop is drawn as a frame around its body. Which nodes these are follows from the edges (server/workflow/compile.ts), and
// where the frame lies from where they are: nothing of it is stored. The canvas draws it, and whoever places nodes makes room for it.

/** A node with its place, as something draws it; its config lies beside it, by id, as in the editor's document. */
export interface DrawnNode {
  id: string;
  type?: string | undefined;
  position: { x: number; y: number };
  width?: number | undefined;
  height?: number | undefined;
  measured?: { width?: number | undefined; height?: number | undefined } | undefined;
}
export type DrawnEdge = { id: string; source: string; target: string; sourceHandle?: string | null | undefined };
/** What places are worked out from: what the editor edits, or a graph that nobody has open. */
export interface Drawing<DrawingNode extends DrawnNode = DrawnNode> {
  nodes: DrawingNode[];
  edges: DrawnEdge[];
  data: Record<string, Record<string, unknown>>;
}

export interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Where the line into the body starts, below the frame's top. */
  entry: number;
}

/** Which loop each node belongs to. */
export interface Bodies {
  /** The innermost loop around a node, by node id; absent when there is none. */
  readonly owner: Readonly<Record<string, string>>;
  /** Loops, the innermost first. */
  readonly loops: readonly string[];
}

/** Least size of a frame, and what it keeps free around the body (canvas units). */
export const FRAME = { width: 400, height: 200, head: 80, left: 100, right: 30, bottom: 30 } as const;
/** Distance of a port from the top of what it belongs to. */
export const PORT_HEIGHT = 20;

const NO_BODIES: Bodies = { owner: {}, loops: [] };

const bodyHandleOf = (type: string | undefined) => definitionOf(type ?? "")?.body?.handle;
/** True for a type that is drawn as a frame. */
export const isLoop = (type: string | undefined): boolean => bodyHandleOf(type) !== undefined;

/** Which nodes stand in the bodies of which loops. */
export function bodiesOf({ nodes, edges, data }: Drawing): Bodies {
  if (!nodes.some((node) => isLoop(node.type))) return NO_BODIES;
  const graph = { nodes: nodes.map(({ id, type, position }) => ({ id, type: type ?? "", position, data: data[id] ?? {} })), edges };
  const plan = makePlan(graph);
  const owner = dictionary<string>();
  for (const { id } of nodes) {
    const loop = plan.ownerOf(id);
    if (loop !== null) owner[id] = loop;
  }
  const loops = nodes.filter((node) => isLoop(node.type)).map(({ id }) => id);
  const depth = new Map(loops.map((id) => [id, plan.loopsAround(id).length]));
  return { owner, loops: loops.sort((a, b) => (depth.get(b) ?? 0) - (depth.get(a) ?? 0)) };
}

export const equalBodies = (a: Bodies, b: Bodies): boolean =>
  a === b ||
  (a.loops.length === b.loops.length &&
    a.loops.every((id, index) => id === b.loops[index]) &&
    Object.keys(a.owner).length === Object.keys(b.owner).length &&
    Object.entries(a.owner).every(([id, loop]) => b.owner[id] === loop));

/** Whether the data of loops that are collapsed says so. */
export const isCollapsed = (data: Record<string, unknown> | undefined): boolean => data?.collapsed === true;

/** The loops around a node, the innermost first. */
export function loopsAround(bodies: Bodies, id: string): string[] {
  const around = new Set<string>();
  for (let loop = bodies.owner[id]; loop !== undefined && !around.has(loop); loop = bodies.owner[loop]) around.add(loop);
  return [...around];
}

/** Everything inside a loop, at any depth. */
export const descendantsOf = (bodies: Bodies, loop: string): Set<string> =>
  new Set(Object.keys(bodies.owner).filter((id) => loopsAround(bodies, id).includes(loop)));

/**
 * Where the frames lie, by loop id; of a collapsed loop there is none, and it counts as a card.
 * @param held frames that must not follow their bodies now, because something is being dragged out of them or into them
 */
export function framesOf(
  { nodes, edges }: Pick<Drawing, "nodes" | "edges">,
  bodies: Bodies,
  collapsed: ReadonlySet<string>,
  held: ReadonlyMap<string, Frame> = new Map(),
): Map<string, Frame> {
  const frames = new Map<string, Frame>();
  if (bodies.loops.length === 0) return frames;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const members = Map.groupBy(Object.entries(bodies.owner), ([, loop]) => loop);
  const boxOf = (id: string) => {
    const node = byId.get(id);
    return frames.get(id) ?? (node && cardBox(node));
  };
  for (const loop of bodies.loops) {
    const node = byId.get(loop);
    if (!node || collapsed.has(loop)) continue;
    const kept = held.get(loop);
    const boxes = (members.get(loop) ?? []).flatMap(([id]) => boxOf(id) ?? []);
    if (kept) frames.set(loop, kept);
    else if (boxes.length === 0) frames.set(loop, { ...node.position, width: FRAME.width, height: FRAME.height, entry: FRAME.head + 40 });
    else {
      const x = Math.min(...boxes.map((box) => box.x)) - FRAME.left;
      const y = Math.min(...boxes.map((box) => box.y)) - FRAME.head;
      const width = Math.max(FRAME.width, Math.max(...boxes.map((box) => box.x + box.width)) + FRAME.right - x);
      const height = Math.max(FRAME.height, Math.max(...boxes.map((box) => box.y + box.height)) + FRAME.bottom - y);
      const first = edges
        .filter((edge) => edge.source === loop && (edge.sourceHandle || bodyHandleOf(node.type)) === bodyHandleOf(node.type))
        .flatMap((edge) => boxOf(edge.target) ?? []);
      const entry = first.length ? Math.min(...first.map((box) => box.y)) + PORT_HEIGHT - y : FRAME.head + PORT_HEIGHT;
      frames.set(loop, { x, y, width, height, entry });
    }
  }
  return frames;
}

/** Loops that are drawn as cards. */
export const collapsedLoopIds = ({ nodes, data }: Pick<Drawing, "nodes" | "data">): ReadonlySet<string> =>
  new Set(nodes.filter((node) => isLoop(node.type) && isCollapsed(data[node.id])).map(({ id }) => id));

/** The frames of a document as it stands. */
export const framesIn = (document: Drawing, bodies: Bodies = bodiesOf(document)): Map<string, Frame> =>
  framesOf(document, bodies, collapsedLoopIds(document));

/** What a card takes up that is no frame; a collapsed loop is a card like others. */
export const cardBox = (node: DrawnNode) => ({ ...node.position, ...(isLoop(node.type) ? COLLAPSED_SIZE : sizeOf(node)) });

/** The frame of one loop; undefined while it is collapsed. */
export function frameOf(document: Drawing, loop: string): Frame | undefined {
  return framesIn(document).get(loop);
}

/** The document with each loop's own place where its frame begins, so that what reads positions finds it there. */
export function alignLoopsToFrames<Document extends Drawing>(document: Document): Document {
  const bodies = bodiesOf(document);
  if (bodies.loops.length === 0) return document;
  const frames = framesIn(document, bodies);
  const nodes = document.nodes.map((node) => {
    const frame = frames.get(node.id);
    if (!frame || (frame.x === node.position.x && frame.y === node.position.y)) return node;
    return { ...node, position: { x: frame.x, y: frame.y } };
  });
  return { ...document, nodes };
}

/** A node at the place where it is drawn: of a loop its frame's, which its own may be far from until the first edit. */
export function atDrawnPosition<Node extends DrawnNode>(document: Drawing, node: Node): Node {
  const frame = isLoop(node.type) ? frameOf(document, node.id) : undefined;
  return frame ? { ...node, position: { x: frame.x, y: frame.y } } : node;
}

/** A collapsed loop is a card like others. */
export const COLLAPSED_SIZE = { width: 250, height: 120 };

/** What of a document is drawn: without the insides of collapsed loops, whose edges then belong to the loop. */
export function edgesBesideCollapsed<Edge extends DrawnEdge>(
  edges: readonly Edge[],
  bodies: Bodies,
  collapsed: ReadonlySet<string>,
): Edge[] {
  const shownAs = (id: string) => loopsAround(bodies, id).findLast((loop) => collapsed.has(loop)) ?? id;
  const seen = new Set<string>();
  return edges.flatMap((edge) => {
    const [source, target] = [shownAs(edge.source), shownAs(edge.target)];
    if (source === edge.source && target === edge.target) return [edge];
    const key = `${source} ${target} ${source === edge.source ? (edge.sourceHandle ?? "") : ""}`;
    if (source === target || seen.has(key)) return [];
    seen.add(key);
    // It leaves where the loop as a whole is left.
    const { sourceHandle, ...rest } = edge;
    // cast: it is the edge with another end
    return [
      {
        ...rest,
        source,
        target,
        selectable: false,
        ...(source === edge.source ? { sourceHandle } : { sourceHandle: "done" }),
      } as unknown as Edge,
    ];
  });
}

/** Moves of frames, as the canvas tells them, turned into moves of the loop's node and of all that lies inside. */
export function withBodyMoves(
  moves: ReadonlyMap<string, { x: number; y: number }>,
  nodes: readonly DrawnNode[],
  bodies: Bodies,
  frames: ReadonlyMap<string, Frame>,
): Map<string, { x: number; y: number }> {
  const places = new Map(moves);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const [id, to] of moves) {
    const loop = byId.get(id);
    if (!loop || !isLoop(loop.type) || loopsAround(bodies, id).some((outer) => moves.has(outer))) continue;
    const from = frames.get(id) ?? loop.position;
    const by = { x: to.x - from.x, y: to.y - from.y };
    for (const inner of descendantsOf(bodies, id)) {
      const node = byId.get(inner);
      if (node) places.set(inner, { x: node.position.x + by.x, y: node.position.y + by.y });
    }
  }
  return places;
}

/** What a node is seen as: itself, or the outermost collapsed loop that hides it. */
export function visibleIdOf(document: Drawing, id: string): string {
  if (!Object.values(document.data).some(isCollapsed)) return id;
  return loopsAround(bodiesOf(document), id).findLast((loop) => isCollapsed(document.data[loop])) ?? id;
}

/** Moves of nodes, with those of what lies inside of the loops among them. */
export function movesWithBodies(
  document: Drawing,
  moves: ReadonlyMap<string, { x: number; y: number }>,
): Map<string, { x: number; y: number }> {
  const bodies = bodiesOf(document);
  return withBodyMoves(moves, document.nodes, bodies, framesIn(document, bodies));
}
