import { pool } from "#server/db/client.ts";
import { Graph } from "#server/schemas/graph.ts";

/** Nodes of all graphs that are kept in memory together. */
const MOST_NODES = 20_000;

// The one used last stands last. A snapshot never changes, so what is kept never goes stale.
const graphs = new Map<string, Graph>();
let nodes = 0;

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
    return known;
  }
  const { rows } = await pool().query<{ graph: unknown }>({
    name: "snapshot-graph",
    text: "SELECT graph FROM workflow_snapshots WHERE id = $1",
    values: [id],
  });
  if (!rows[0]) throw new Error(`There is no snapshot ${id}.`);
  const graph = Graph.parse(rows[0].graph);
  if (!graphs.has(id)) nodes += graph.nodes.length;
  graphs.set(id, graph);
  for (const [oldest, { nodes: its }] of graphs) {
    if (nodes <= MOST_NODES) break;
    graphs.delete(oldest);
    nodes -= its.length;
  }
  return graph;
}
