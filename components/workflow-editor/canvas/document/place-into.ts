import type { EditorState, Placement } from "#components/workflow-editor/canvas/store/editor-store.ts";

/** Into the connection, when one alone is selected. */
export function placeInto({ nodes, edges }: Pick<EditorState, "nodes" | "edges">): Placement | null {
  const [edge, ...others] = edges.filter((candidate) => candidate.selected);
  const ends = edge && [edge.source, edge.target].map((id) => nodes.find((node) => node.id === id)?.position);
  if (!edge || others.length > 0 || !ends?.[0] || !ends[1]) return null;
  return { position: { x: (ends[0].x + ends[1].x) / 2, y: (ends[0].y + ends[1].y) / 2 }, edgeId: edge.id };
}
