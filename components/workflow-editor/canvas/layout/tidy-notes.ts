import type { FlowDocument, FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { type Bodies, collapsedIn, framesOf, loopsAround } from "#components/workflow-editor/canvas/geometry/loop-frames.ts";
import { NOTE_SIZE, sizeOf } from "#components/workflow-editor/canvas/geometry/node-size.ts";
import type { Box } from "#components/workflow-editor/canvas/layout/tidy-rows.ts";
import { definitionOf } from "#server/workflow/graph.ts";

type Place = Pick<Box, "x" | "y">;

/** Free space above the flow, and between notes that are put there. */
const GAP = 40;

const isNote = (node: FlowNode) => definitionOf(node.type ?? "")?.isInert === true;
const overlap = (a: Box, b: Box) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** How far two boxes are apart. */
function distance(a: Box, b: Box): number {
  const apart = (from: number, length: number, to: number, other: number) => Math.max(0, from - (to + other), to - (from + length));
  return Math.hypot(apart(a.x, a.width, b.x, b.width), apart(a.y, a.height, b.y, b.height));
}

/** What is drawn of the flow: cards, and frames that are not collapsed. */
function drawn(document: FlowDocument, bodies: Bodies): Map<string, Box> {
  const collapsed = collapsedIn(document);
  const frames = framesOf(document, bodies, collapsed);
  const shown = document.nodes.filter((node) => !isNote(node) && !loopsAround(bodies, node.id).some((loop) => collapsed.has(loop)));
  return new Map(shown.map((node) => [node.id, frames.get(node.id) ?? { ...node.position, ...sizeOf(node) }]));
}

function noteBox(node: FlowNode): Box {
  const { width, height } = sizeOf(node);
  const isMeasured = node.measured?.width !== undefined;
  return { ...node.position, width: node.width ?? (isMeasured ? width : NOTE_SIZE.width), height: node.height ?? height };
}

/**
 * Where notes go when the flow is set out anew: each moves along with what it lies nearest to. One that would cover
 * something there goes above the flow.
 * @param places where everything else goes
 */
export function notePlaces(document: FlowDocument, bodies: Bodies, places: ReadonlyMap<string, Place>): Map<string, Place> {
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
