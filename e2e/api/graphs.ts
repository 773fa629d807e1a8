import type { Graph } from "#server/workflow/schema.ts";

// Graphs for specs, written short: nodes by id, edges as "a>b" or "a.true>b".

type Data = Record<string, unknown>;

/** @param nodes id → [type without "Node", data]; the id is also the label unless data has one */
export function graphOf(nodes: Record<string, [string, Data?]>, edges: string[]): Pick<Graph, "nodes" | "edges"> {
  const ids = Object.keys(nodes);
  return {
    nodes: Object.entries(nodes).map(([id, [type, data]]) => ({
      id,
      type: `${type}Node`,
      position: { x: 280 * ids.indexOf(id), y: 0 },
      data: { label: id, ...data },
    })),
    edges: edges.map((text) => {
      const [from = "", target = ""] = text.split(">");
      const [source = "", sourceHandle] = from.split(".");
      return { id: text, source, target, ...(sourceHandle && { sourceHandle }) };
    }),
  };
}
