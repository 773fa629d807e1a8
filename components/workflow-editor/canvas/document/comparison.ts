import { dictionary } from "#server/shared/json-text.ts";
import type { EdgeDiffKind, GraphDiff, NodeDiffKind } from "#server/workflow/diff.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** What a canvas that compares shows at a node or an edge, e.g. "New". */
export type DiffLabels = Record<NodeDiffKind, string>;

/** How what is on a canvas differs, by id; what is not named is the same on both sides. */
export interface CanvasDiff {
  nodes: Readonly<Record<string, NodeDiffKind>>;
  edges: Readonly<Record<string, EdgeDiffKind>>;
  words: DiffLabels;
  /** What is shown at some of them in place of the word for their kind, e.g. "Changed by them". */
  said?: Readonly<Record<string, string>>;
}

/** The id under which a comparison draws a node or an edge: the live canvas stays in the document, and ids there are unique. */
export const comparisonId = (id: string): string => `${id}~`;

/** The node or edge that is drawn under such an id. */
export const comparedId = (id: string): string => id.slice(0, -1);

const CARD = { width: 250, height: 110 };
/** How far a ghost gives way when another node stands in its place. */
const STEP_ASIDE = 140;

const parentOf = (node: GraphNode): string | undefined => (typeof node.parentId === "string" ? node.parentId : undefined);

/** The place of a node that is gone, or the nearest one below it where nobody stands. */
function ghostPosition(ghost: GraphNode, others: readonly GraphNode[]): { x: number; y: number } {
  const near = others.filter((node) => parentOf(node) === parentOf(ghost) && node.type !== "noteNode");
  const { x, y } = ghost.position;
  const isTaken = (at: number) =>
    near.some(({ position }) => Math.abs(position.x - x) < CARD.width && Math.abs(position.y - at) < CARD.height);
  let free = y;
  for (let tries = 0; tries < 20 && isTaken(free); tries++) free += STEP_ASIDE;
  return { x, y: free };
}

/**
 * One graph that shows both sides: the later one, and of the earlier one what the later does not have, as ghosts.
 * Ids are those of `shownId`.
 */
export function comparisonGraph(after: Graph, diff: GraphDiff): Graph {
  const nodes = [...after.nodes];
  for (const { kind, node } of diff.nodes) if (kind === "removed") nodes.push({ ...node, position: ghostPosition(node, nodes) });
  const known = new Set(nodes.map((node) => node.id));
  const edges = [...after.edges, ...diff.edges.flatMap(({ kind, edge }) => (kind === "removed" ? [edge] : []))];
  return {
    nodes: nodes.map((node) => {
      const parent = parentOf(node);
      const { parentId: _, ...rest } = node;
      // Nothing that differs hides in a folded loop.
      const { collapsed: __, ...data } = node.data;
      return {
        ...rest,
        data,
        id: comparisonId(node.id),
        ...(parent !== undefined && known.has(parent) && { parentId: comparisonId(parent) }),
      } as GraphNode;
    }),
    edges: edges.map((edge) => ({
      ...edge,
      id: comparisonId(edge.id),
      source: comparisonId(edge.source),
      target: comparisonId(edge.target),
    })),
  };
}

/** The marks that belong to `comparisonGraph`. */
export function canvasDiff(diff: GraphDiff, words: DiffLabels): CanvasDiff {
  return {
    nodes: dictionary(Object.fromEntries(diff.nodes.map(({ id, kind }) => [comparisonId(id), kind]))),
    edges: dictionary(Object.fromEntries(diff.edges.map(({ id, kind }) => [comparisonId(id), kind]))),
    words,
  };
}
