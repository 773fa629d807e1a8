import { labelOf, type NodeData, typeTitle } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { findText } from "#server/shared/find-text.ts";
import { own } from "#server/shared/json-text.ts";
import { definitionOf } from "#server/workflow/graph.ts";

/** A node that says what was looked for, and where. */
interface NodeMatch {
  nodeId: string;
  label: string;
  /** "Name", "Type", or the title of the field. */
  place: string;
  /** The words around it, cut to a line. */
  excerpt: string;
}

export interface SearchableNodes {
  nodes: readonly { id: string; type?: string | undefined; position: { x: number; y: number } }[];
  data: Readonly<Record<string, NodeData>>;
  /** Name of an agent by its id. */
  agentName(id: string): string | null | undefined;
}

const BEFORE = 20;
const AFTER = 50;

function excerptOf(text: string, { start, end }: { start: number; end: number }): string {
  const from = Math.max(0, start - BEFORE);
  const to = Math.min(text.length, end + AFTER);
  return `${from > 0 ? "…" : ""}${text.slice(from, to).replace(/\s+/g, " ")}${to < text.length ? "…" : ""}`;
}

/** Every text in a value, however deep. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "number") yield String(value);
  else if (value !== null && typeof value === "object") for (const item of Object.values(value)) yield* textsIn(item);
}

/** The texts of a node with where they stand, the most telling first. */
function* placesOf(type: string | undefined, data: NodeData, agentName: SearchableNodes["agentName"]): Generator<[string, string]> {
  yield ["Name", labelOf(data, type)];
  yield ["Type", typeTitle(type)];
  const shape = definitionOf(type ?? "")?.config.shape ?? {};
  for (const [field, value] of Object.entries(data)) {
    if (field === "label") continue;
    const meta = own(shape, field)?.meta();
    const title = typeof meta?.title === "string" ? meta.title : field.replaceAll("_", " ");
    if (meta?.widget === "agent") {
      const name = typeof value === "string" ? agentName(value) : null;
      if (name) yield [title, name];
    } else for (const text of textsIn(value)) yield [title, text];
  }
}

/** Nodes whose name, type or settings contain the words, as they stand on the canvas: from left to right, then down. */
export function searchNodes({ nodes, data, agentName }: SearchableNodes, query: string): NodeMatch[] {
  const wanted = query.trim();
  if (wanted === "") return [];
  const inOrder = nodes.toSorted((a, b) => a.position.x - b.position.x || a.position.y - b.position.y);
  return inOrder.flatMap(({ id, type }) => {
    for (const [place, text] of placesOf(type, data[id] ?? {}, agentName)) {
      const found = findText(text, wanted);
      if (found) return [{ nodeId: id, label: labelOf(data[id], type), place, excerpt: excerptOf(text, found) }];
    }
    return [];
  });
}
