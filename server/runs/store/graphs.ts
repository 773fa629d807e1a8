import { LRUCache } from "lru-cache";
import type pg from "pg";
import type { Prisma } from "#prisma/generated/client.ts";
import { pool } from "#server/platform/db/client.ts";
import { Graph } from "#server/workflow/schema.ts";

/** What a node costs beside its text: it is taken apart and planned once. */
const NODE = 2000;

interface Row {
  graph: unknown;
  agent_names: Record<string, string> | null;
  characters: number;
}

/** A transaction that the caller has open. */
type Transaction = Prisma.TransactionClient | pg.PoolClient;

const READ = "SELECT graph, agent_names, length(graph::text) AS characters FROM workflow_snapshots WHERE id = $1::uuid";

/** Graphs in memory, bounded by the characters of their JSON. A snapshot never changes, so what is kept never goes stale. */
const graphs = new LRUCache<string, Graph>({ maxSize: 64 * 1024 * 1024 });

/**
 * The graph of a snapshot. The latest ones are kept, checked once, so that runs of one workflow need not read and check it
 * again; whoever gets it must not change it.
 * @param tx transaction of the caller, if it has one open
 * @throws Error when there is no such snapshot
 */
export async function snapshotGraph(id: string, tx?: Transaction): Promise<Graph> {
  const known = graphs.get(id);
  if (known) return known;
  const [row] =
    tx && "$queryRawUnsafe" in tx
      ? await tx.$queryRawUnsafe<Row[]>(READ, id)
      : (await (tx ?? pool()).query<Row>({ name: "snapshot-graph", text: READ, values: [id] })).rows;
  if (!row) throw new Error(`There is no snapshot ${id}.`);
  const graph: Graph = { ...Graph.parse(row.graph), ...(row.agent_names && { agent_names: row.agent_names }) };
  graphs.set(id, graph, { size: row.characters + graph.nodes.length * NODE });
  return graph;
}
