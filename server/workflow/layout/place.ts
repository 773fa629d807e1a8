import { handlesOf, topologicalOrder } from "#server/workflow/graph.ts";
import {
  alignLoopsToFrames,
  type Bodies,
  bodiesOf,
  cardBox,
  type Drawing,
  type DrawnNode,
  descendantsOf,
  FRAME,
  framesIn,
  isLoop,
  loopsAround,
} from "#server/workflow/layout/loop-frames.ts";
import {
  type Box,
  GAP,
  MARGIN,
  makeRoomForFrames,
  moved,
  movedRight,
  overlap,
  pushed,
  rightOf,
  type Scene,
  sceneOf,
  upTo10,
} from "#server/workflow/layout/make-room.ts";
import { NOTE_SIZE, WAY_DISTANCE } from "#server/workflow/layout/node-size.ts";
import { isNote, noteBox, setOut, tidyPositions } from "#server/workflow/layout/tidy.ts";

// Nodes that nobody has placed go where a person would put them: behind what leads to them, beside or below what is there,
// and what follows gives way. Those that hang together are set out together first and then placed as one block.

/** Free space between one row and the next. */
const ROW_GAP = 40;

/** Nodes without a place that are placed together, with their places from the block's own corner. */
interface Block {
  ids: ReadonlySet<string>;
  /** The loop in whose body they stand. */
  scope: string | undefined;
  places: ReadonlyMap<string, { x: number; y: number }>;
  width: number;
  height: number;
}

const only = <Document extends Drawing>(document: Document, ids: ReadonlySet<string>): Document => ({
  ...document,
  nodes: document.nodes.filter(({ id }) => ids.has(id)),
});

/** The open nodes in groups that hang together, in the order in which the flow reaches them. */
function blocksOf(document: Drawing, bodies: Bodies, open: ReadonlySet<string>): Block[] {
  const ids = document.nodes.filter((node) => open.has(node.id) && !isNote(node)).map(({ id }) => id);
  const scopes = new Map(ids.map((id) => [id, loopsAround(bodies, id).find((loop) => !open.has(loop))]));
  const near = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { source, target } of document.edges)
    if (near.has(source) && near.has(target) && scopes.get(source) === scopes.get(target)) {
      near.get(source)?.push(target);
      near.get(target)?.push(source);
    }
  const order = topologicalOrder(
    document.nodes.map(({ id }) => id),
    Map.groupBy(document.edges, (edge) => edge.source),
  );
  const known = new Set<string>();
  return [...order, ...ids].flatMap((first): Block[] => {
    if (!near.has(first) || known.has(first)) return [];
    const group = new Set([first]);
    for (const id of group) for (const other of near.get(id) ?? []) group.add(other);
    for (const id of group) known.add(id);
    const scope = scopes.get(first);
    const owner = Object.fromEntries(Object.entries(bodies.owner).filter(([id, loop]) => group.has(id) && group.has(loop)));
    const inner = { owner, loops: bodies.loops.filter((loop) => group.has(loop)) };
    return [{ ids: group, scope, ...setOut(only(document, group), inner, undefined) }];
  });
}

/** How far below the beginning of its source an edge leaves for what follows by that way out. */
function rowOf({ data }: Drawing, source: DrawnNode | undefined, handle: string | null | undefined): number {
  const handles = (source && handlesOf({ type: source.type, data: data[source.id] })) ?? [];
  return !source || isLoop(source.type) || !handle ? 0 : Math.max(0, handles.indexOf(handle)) * WAY_DISTANCE;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What a block is joined to, of what has its place in the same scope. */
interface Surroundings {
  /** Boxes of what leads to it, with the row of each edge. */
  before: { id: string; box: Box; row: number }[];
  /** What it leads to, directly. */
  after: Map<string, Box>;
  /** Everything that it leads to. */
  later: Set<string>;
  /** How far below the block's beginning edges arrive. */
  entry: number;
}

function surroundingsOf(document: Drawing, scene: Scene, { ids, places }: Block): Surroundings {
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const before: Surroundings["before"] = [];
  const after = new Map<string, Box>();
  const entries: number[] = [];
  for (const edge of document.edges) {
    const [isFrom, isTo] = [ids.has(edge.source), ids.has(edge.target)];
    if (isFrom === isTo) continue;
    const other = scene.seenAs(isTo ? edge.source : edge.target);
    const box = other === undefined ? undefined : scene.boxes.get(other);
    if (isTo) entries.push(places.get(edge.target)?.y ?? 0);
    if (other === undefined || !box) continue;
    if (isFrom) after.set(other, box);
    else before.push({ id: other, box, row: box.y + (other === edge.source ? rowOf(document, nodes.get(other), edge.sourceHandle) : 0) });
  }
  const next = Map.groupBy(document.edges, (edge) => edge.source);
  const reached = new Set(ids);
  for (const id of reached) for (const { target } of next.get(id) ?? []) reached.add(target);
  const later = new Set([...reached].flatMap((id) => (ids.has(id) ? [] : (scene.seenAs(id) ?? []))));
  for (const { id } of before) later.delete(id);
  return { before, after, later, entry: entries.length ? mean(entries) : (places.values().next().value?.y ?? 0) };
}

/** Where a block would go if nothing stood in its way. */
function wish(document: Drawing, scene: Scene, block: Block, { before, after, entry }: Surroundings): { x: number; y: number } {
  const { scope, places } = block;
  const frame = scope === undefined ? undefined : framesIn(document, scene.bodies).get(scope);
  const boxes = [...scene.boxes].filter(([id]) => !scene.notes.has(id)).map(([, box]) => box);
  const [follower, ...others] = after;
  // In a line the new ones take the row of what follows; where several lines join, of what comes before.
  const isLine = follower && others.length === 0 && document.edges.filter(({ target }) => target === follower[0]).length === 1;
  const exit = isLine && document.edges.find((edge) => block.ids.has(edge.source) && edge.target === follower[0])?.source;
  const lined = isLine && exit ? follower[1].y - (places.get(exit)?.y ?? 0) : undefined;
  if (before.length > 0) {
    const x = upTo10(Math.max(...before.map(({ box }) => rightOf(box))) + GAP);
    return { x, y: lined !== undefined && follower && follower[1].x >= x - GAP ? lined : mean(before.map(({ row }) => row)) - entry };
  }
  if (frame) {
    const first = boxes.length > 0 ? Math.min(...boxes.map(({ y }) => y)) : frame.y + FRAME.head;
    return { x: frame.x + FRAME.left, y: lined ?? first };
  }
  if (follower) return { x: Math.min(...[...after.values()].map(({ x }) => x)) - GAP - block.width, y: lined ?? follower[1].y };
  if (boxes.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...boxes.map(({ x }) => x)), y: Math.max(...boxes.map((box) => box.y + box.height)) + ROW_GAP };
}

/** The document with a block in it, and with what follows moved out of its way. */
function withBlock(document: Drawing, bodies: Bodies, block: Block, whole: readonly DrawnNode[]): Drawing {
  const scene = sceneOf(document, block.scope, bodies);
  const around = surroundingsOf(document, scene, block);
  const { x, y } = wish(document, scene, block, around);
  const own = { x: Math.round(x), y: Math.round(y), width: block.width, height: block.height };
  // What stands left of it cannot give way to the right, and a note may lie behind what it is about.
  const isMovable = (id: string, box: Box) => around.later.has(id) && box.x >= own.x - GAP;
  const joined = [...around.before.map(({ box }) => box), ...around.after.values()];
  const isBackground = (id: string, box: Box) => scene.notes.has(id) && joined.some((other) => overlap(box, other));
  const fixed = [...scene.boxes].filter(([id, box]) => !isMovable(id, box) && !isBackground(id, box)).map(([, box]) => box);
  for (let hits = fixed; hits.length > 0; ) {
    hits = fixed.filter((box) => overlap(own, box, MARGIN));
    if (hits.length > 0) own.y = upTo10(Math.max(...hits.map((box) => box.y + box.height)) + ROW_GAP);
  }
  const near = [...scene.boxes].filter(
    ([id, box]) =>
      isMovable(id, box) && (overlap(own, box, MARGIN) || (around.after.has(id) && box.x < rightOf(own) + GAP)) && !isBackground(id, box),
  );
  const by = upTo10(Math.max(0, ...near.map(([, box]) => rightOf(own) + GAP - box.x)));
  const grown = near.map(([id, box]) => ({ id, before: box, after: moved(box, by) }));
  const staying = new Set([...scene.boxes].filter(([id, box]) => !isMovable(id, box) && box.x < own.x).map(([id]) => id));
  const roomy = movedRight(document, scene, new Set([...near.map(([id]) => id), ...pushed(scene, grown, by, staying)]), by);
  const added = whole
    .filter(({ id }) => block.ids.has(id))
    .map((node) => {
      const place = block.places.get(node.id) ?? { x: 0, y: 0 };
      return { ...node, position: { x: own.x + place.x, y: own.y + place.y } };
    });
  return makeRoomForFrames({ ...roomy, nodes: [...roomy.nodes, ...added] }, block.scope ?? null, framesIn(document, bodies), bodies);
}

/** The document with a new note in it: above the flow, beside other notes there. */
function withNote(document: Drawing, bodies: Bodies, note: DrawnNode): Drawing {
  const frames = framesIn(document, bodies);
  const boxes = document.nodes.map((node) => frames.get(node.id) ?? noteBox(node));
  const height = noteBox(note).height;
  const own = { x: 0, y: 0, width: note.width ?? NOTE_SIZE.width, height };
  if (boxes.length > 0) {
    own.x = Math.min(...boxes.map(({ x }) => x));
    own.y =
      Math.min(...document.nodes.filter((node) => !isNote(node)).map(({ position }) => position.y), boxes[0]?.y ?? 0) - ROW_GAP - height;
    for (let hit = boxes.find((box) => overlap(own, box)); hit; hit = boxes.find((box) => overlap(own, box)))
      own.x = rightOf(hit) + ROW_GAP;
  }
  return { ...document, nodes: [...document.nodes, { ...note, position: { x: own.x, y: own.y } }] };
}

/** Pairs of cards or frames that lie over each other, in the body of one loop or in none. Notes do not count. */
export function overlapsIn(document: Drawing, bodies: Bodies = bodiesOf(document)): Set<string> {
  const found = new Set<string>();
  const frames = framesIn(document, bodies);
  const cards = document.nodes.filter((node) => !isNote(node));
  for (const scene of Map.groupBy(cards, ({ id }) => bodies.owner[id]).values()) {
    const shown = scene.map((node) => [node.id, frames.get(node.id) ?? cardBox(node)] as const).sort(([, a], [, b]) => a.x - b.x);
    for (const [index, [id, box]] of shown.entries())
      for (let at = index + 1; at < shown.length; at++) {
        const [other, next] = shown[at] as (typeof shown)[number];
        if (next.x >= rightOf(box)) break;
        if (overlap(box, next)) found.add([id, other].sort().join(" "));
      }
  }
  return found;
}

/**
 * Gives nodes their places.
 * @param open ids of those that have none yet; the others move only to make room
 * @returns places of top left corners, by node id
 */
export function placeNodes(drawing: Drawing, open: ReadonlySet<string>): Map<string, { x: number; y: number }> {
  const bodies = bodiesOf(drawing);
  // With a loop goes what stands in it.
  const unplaced = new Set([...open].flatMap((id) => [id, ...descendantsOf(bodies, id)]));
  const kept = new Set(drawing.nodes.flatMap(({ id }) => (unplaced.has(id) ? [] : [id])));
  let document = only(drawing, kept);
  const before = overlapsIn(document, bodies);
  for (const block of blocksOf(drawing, bodies, unplaced)) document = withBlock(document, bodies, block, drawing.nodes);
  for (const note of drawing.nodes.filter((node) => isNote(node) && unplaced.has(node.id))) document = withNote(document, bodies, note);
  // Where giving way in one place was covering something in another, everything is set out anew.
  const isCrowded = [...overlapsIn(document, bodies)].some((pair) => !before.has(pair));
  const places = isCrowded ? tidyPositions(document) : new Map<string, { x: number; y: number }>();
  const set = { ...document, nodes: document.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position })) };
  return new Map(alignLoopsToFrames(set).nodes.map(({ id, position }) => [id, position]));
}
