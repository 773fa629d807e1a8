import { pool } from "#server/platform/db/client.ts";
import { Graph } from "#server/workflow/schema.ts";

/** What all graphs that are kept in memory come to, in characters of their JSON. */
const MOST_KEPT = 64 * 1024 * 1024;
/** What a node costs beside its text: it is taken apart and planned once. */
const NODE = 2000;

// The one used last stands last. A snapshot never changes, so what is kept never goes stale.
const graphs = new Map<string, { graph: Graph; size: number }>();
let kept = 0;

/**
 * The graph of a snapshot. The latest ones are kept, checked once, so that runs of one workflow need not read and check it
 * again; whoever gets it must not change it.
 * @throws Error when there is no such snapshot
 */
export async function snapshotGraph(id: string): Promise<Graph> {
  const known = graphs.get(id);
  if (known) {
    graphs.delete(id);
    graphs.set(id, known);
    return known.graph;
  }
  const { rows } = await pool().query<{ graph: unknown; characters: number }>({
    name: "snapshot-graph",
    text: "SELECT graph, length(graph::text) AS characters FROM workflow_snapshots WHERE id = $1",
    values: [id],
  });
  const [row] = rows;
  if (!row) throw new Error(`There is no snapshot ${id}.`);
  const graph = Graph.parse(row.graph);
  const size = row.characters + graph.nodes.length * NODE;
  kept += size - (graphs.get(id)?.size ?? 0); // two may have read it at once
  graphs.set(id, { graph, size });
  for (const [oldest, its] of graphs) {
    if (kept <= MOST_KEPT) break;
    graphs.delete(oldest);
    kept -= its.size;
  }
  return graph;
}
