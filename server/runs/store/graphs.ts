import { LRUCache } from "lru-cache";
import { pool } from "#server/platform/db/client.ts";
import { Graph } from "#server/workflow/schema.ts";

/** What a node costs beside its text: it is taken apart and planned once. */
const NODE = 2000;

/** Graphs in memory, bounded by the characters of their JSON. A snapshot never changes, so what is kept never goes stale. */
const graphs = new LRUCache<string, Graph>({ maxSize: 64 * 1024 * 1024 });

/**
 * The graph of a snapshot. The latest ones are kept, checked once, so that runs of one workflow need not read and check it
 * again; whoever gets it must not change it.
 * @throws Error when there is no such snapshot
 */
export async function snapshotGraph(id: string): Promise<Graph> {
  const known = graphs.get(id);
  if (known) return known;
  const { rows } = await pool().query<{ graph: unknown; characters: number }>({
    name: "snapshot-graph",
    text: "SELECT graph, length(graph::text) AS characters FROM workflow_snapshots WHERE id = $1",
    values: [id],
  });
  const [row] = rows;
  if (!row) throw new Error(`There is no snapshot ${id}.`);
  const graph = Graph.parse(row.graph);
  graphs.set(id, graph, { size: row.characters + graph.nodes.length * NODE });
  return graph;
}
