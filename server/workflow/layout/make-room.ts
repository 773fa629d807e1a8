import { definitionOf } from "#server/workflow/graph.ts";
import {
  type Bodies,
  bodiesOf,
  cardBox,
  type Drawing,
  type DrawnNode,
  descendantsOf,
  FRAME,
  type Frame,
  framesIn,
  loopsAround,
} from "#server/workflow/layout/loop-frames.ts";
import { CARD_WIDTH, NEXT_NODE_DISTANCE } from "#server/workflow/layout/node-size.ts";

// A node that is put between two others gets room: what follows moves right, and frames that grow push what stands around them.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
/** Something that reaches further than it did. */
interface Grown {
  id: string;
  before: Box;
  after: Box;
}

/** Free space between a card and the next one. */
export const GAP = NEXT_NODE_DISTANCE - CARD_WIDTH;
/** How near a new card may come to what it has nothing to do with. */
export const MARGIN = 10;

export const rightOf = (box: Box) => box.x + box.width;
export const moved = (box: Box, by: number): Box => ({ ...box, x: box.x + by });
export const upTo10 = (value: number) => Math.ceil(value / 10) * 10;
export const overlap = (a: Box, b: Box, margin = 0) =>
  a.x < rightOf(b) + margin && b.x < rightOf(a) + margin && a.y < b.y + b.height + margin && b.y < a.y + a.height + margin;

/**
 * What stands side by side in the body of one loop, or in none: cards, and frames as a whole.
 * @param bodies of the whole graph, where the document lacks nodes that have no place yet
 */
export function sceneOf(document: Drawing, scope: string | undefined, bodies: Bodies = bodiesOf(document)) {
  const frames = framesIn(document, bodies);
  const boxOf = (node: DrawnNode): Box => frames.get(node.id) ?? cardBox(node);
  const members = document.nodes.filter(({ id }) => bodies.owner[id] === scope);
  const boxes = new Map(members.map((node) => [node.id, boxOf(node)]));
  const seenAs = (id: string) => [id, ...loopsAround(bodies, id)].find((candidate) => boxes.has(candidate));
  const next = new Map<string, Set<string>>();
  for (const edge of document.edges) {
    const [source, target] = [seenAs(edge.source), seenAs(edge.target)];
    if (source !== undefined && target !== undefined && source !== target) next.set(source, (next.get(source) ?? new Set()).add(target));
  }
  const notes = new Set(members.filter(({ type }) => definitionOf(type ?? "")?.isInert).map(({ id }) => id));
  return { bodies, boxes, seenAs, next, notes };
}
export type Scene = ReturnType<typeof sceneOf>;

/** What has to move right by as much: what follows something grown and comes too near, what it would cover, and so on. */
export function pushed(scene: Scene, grown: readonly Grown[], by: number, fixed: ReadonlySet<string>): Set<string> {
  const ids = new Set<string>();
  const queue = [...grown];
  for (let one = queue.shift(); one; one = queue.shift()) {
    const { id: from, before, after } = one;
    for (const [id, box] of scene.boxes) {
      if (ids.has(id) || fixed.has(id) || id === from || grown.some((other) => other.id === id)) continue;
      const gap = box.x - rightOf(before);
      const isNext = scene.next.get(from)?.has(id) === true && box.x >= before.x && box.x - rightOf(after) < Math.min(GAP, gap);
      const isHit = gap >= 0 && overlap(after, box) && !overlap(before, box);
      if (!isNext && !isHit) continue;
      ids.add(id);
      queue.push({ id, before: box, after: moved(box, by) });
    }
  }
  return ids;
}

/** Moves these right and down, frames with everything inside. */
function shifted<Document extends Drawing>(
  document: Document,
  scene: Scene,
  ids: ReadonlySet<string>,
  by: { x: number; y: number },
): Document {
  if (ids.size === 0 || (by.x === 0 && by.y === 0)) return document;
  const all = new Set([...ids].flatMap((id) => [id, ...descendantsOf(scene.bodies, id)]));
  const nodes = document.nodes.map((node) =>
    all.has(node.id) ? { ...node, position: { x: node.position.x + by.x, y: node.position.y + by.y } } : node,
  );
  return { ...document, nodes };
}

export const movedRight = <Document extends Drawing>(document: Document, scene: Scene, ids: ReadonlySet<string>, by: number): Document =>
  shifted(document, scene, ids, { x: by, y: 0 });

/** A way in which a frame can grow. Seen by it, a box lies as if the way led to the right. */
interface Way {
  see(box: Box): Box;
  /** A step along the way, on the canvas. */
  step(by: number): { x: number; y: number };
  /** What stands next to a node along the way: what follows it, or what comes before it. */
  next(next: Scene["next"]): Scene["next"];
}

const turned = ({ x, y, width, height }: Box): Box => ({ x: y, y: x, width: height, height: width });
const mirrored = (box: Box): Box => ({ ...box, x: -rightOf(box) });

/** The same steps, led back. */
function reversed(next: Scene["next"]): Scene["next"] {
  const back: Scene["next"] = new Map();
  for (const [from, targets] of next) for (const target of targets) back.set(target, (back.get(target) ?? new Set()).add(from));
  return back;
}

const WAYS: readonly Way[] = [
  { see: (box) => box, step: (by) => ({ x: by, y: 0 }), next: (next) => next },
  { see: mirrored, step: (by) => ({ x: -by, y: 0 }), next: reversed },
  // Above and below nothing keeps a distance: it moves only when it would be covered.
  { see: turned, step: (by) => ({ x: 0, y: by }), next: () => new Map() },
  { see: (box) => mirrored(turned(box)), step: (by) => ({ x: 0, y: -by }), next: () => new Map() },
];

/**
 * Moves away what frames would cover that have grown, each way by as much as they have.
 * @param loop the innermost frame that may have grown, null for none
 * @param before where the frames were
 */
export function makeRoomForFrames<Document extends Drawing>(
  document: Document,
  loop: string | null,
  before: ReadonlyMap<string, Frame>,
  bodies: Bodies = bodiesOf(document),
): Document {
  let next = document;
  for (const id of loop === null ? [] : [loop, ...loopsAround(bodies, loop)])
    for (const { see, step, next: nextTo } of WAYS) {
      const frames = [before.get(id), framesIn(next, bodies).get(id)];
      const [was, now] = frames.map((frame) => frame && see(frame));
      const by = was && now ? upTo10(rightOf(now) - rightOf(was)) : 0;
      if (!was || !now || by <= 0) continue;
      const scene = sceneOf(next, bodies.owner[id], bodies);
      const seen = { ...scene, boxes: new Map([...scene.boxes].map(([at, box]) => [at, see(box)])), next: nextTo(scene.next) };
      next = shifted(next, scene, pushed(seen, [{ id, before: was, after: now }], by, new Set()), step(by));
    }
  return next;
}

const placed = <Document extends Drawing>(document: Document, id: string, position: { x: number; y: number }): Document => ({
  ...document,
  nodes: document.nodes.map((node) => (node.id === id ? { ...node, position } : node)),
});

/** A new loop has taken what follows into its body: the frame around all of it begins right of what comes before. */
function besideFrame<Document extends Drawing>(document: Document, scene: Scene, id: string, left: number): Document {
  const frame = scene.boxes.get(id);
  const by = frame ? upTo10(left - frame.x) : 0;
  if (!frame || by <= 0) return document;
  const body = { ...frame, x: frame.x + FRAME.left, width: frame.width - FRAME.left - FRAME.right };
  const ids = pushed(scene, [{ id, before: body, after: moved(frame, by) }], by, new Set());
  return movedRight(document, scene, new Set([...ids, id]), by);
}

/** Room for a new node between the ends of what was one edge. */
export function makeRoomBetween<Document extends Drawing>(
  document: Document,
  id: string,
  ends: { source: string; target: string },
): Document {
  const owner = bodiesOf(document).owner[id];
  const scene = sceneOf(document, owner);
  const own = scene.boxes.get(id);
  const [sourceId, targetId] = [scene.seenAs(ends.source), scene.seenAs(ends.target)];
  const source = sourceId === undefined ? undefined : scene.boxes.get(sourceId);
  const target = targetId === undefined ? undefined : scene.boxes.get(targetId);
  if (!own || !target || !targetId) return document;
  // Straight from the loop around them, the new node is the first of the body.
  if (targetId === id) return besideFrame(document, scene, id, source ? rightOf(source) + GAP : own.x + FRAME.left);
  const left = source ? upTo10(rightOf(source) + GAP) : target.x;
  const others = [...scene.boxes].filter(([other]) => other !== id && !scene.notes.has(other));
  const isFree = (box: Box) => others.every(([, other]) => !overlap(box, other, MARGIN));
  if (source && target.x < rightOf(source)) {
    // The line leads back or down: nothing stands to the right to be moved, so it goes below what is there.
    let place = own;
    for (let tries = 0; tries < 50 && !isFree(place); tries++) place = { ...place, y: place.y + 40 };
    return placed(document, id, { x: place.x, y: place.y });
  }
  const isJoin = document.edges.filter((edge) => edge.target === ends.target).length > 1;
  const row = isJoin && source ? source.y : target.y;
  const most = target.x - GAP - own.width;
  const spots = [Math.min(Math.max(own.x, left), most), left]
    .filter((x) => x >= left && x <= most)
    .flatMap((x) => [row, source?.y ?? row].map((y) => ({ ...own, x: Math.round(x), y })));
  const spot = spots.find(isFree);
  if (spot) return placed(document, id, { x: spot.x, y: spot.y });
  const place = { ...own, x: left, y: row };
  const near = others.filter(
    ([other, box]) => other !== sourceId && (other === targetId || (overlap(place, box, MARGIN) && rightOf(box) > left + MARGIN)),
  );
  const by = upTo10(Math.max(0, ...near.map(([, box]) => rightOf(place) + GAP - box.x)));
  const first = near.map(([other, box]) => ({ id: other, before: box, after: moved(box, by) }));
  const fixed = new Set([id, ...(sourceId === undefined ? [] : [sourceId])]);
  const ids = new Set([...first.map((one) => one.id), ...pushed(scene, first, by, fixed)]);
  return placed(movedRight(document, scene, ids, by), id, { x: place.x, y: place.y });
}
