import { createHash } from "node:crypto";
import { v7 as uuid } from "uuid";
import type { PrismaClient } from "#prisma/generated/client.ts";
import { agentIdsOf } from "#server/features/workflows/checks.ts";
import { db } from "#server/platform/db/client.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { noteStored } from "#server/runs/store/space.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** JSON with keys in order, so that equal graphs have equal hashes. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, canonical(item)]),
  );
}

/** SHA-256 of a graph's nodes and edges, whatever the order of their keys. */
export const graphHash = ({ nodes, edges }: Graph): string =>
  createHash("sha256")
    .update(JSON.stringify(canonical({ nodes, edges })))
    .digest("hex");

/** Takes note of a graph that was written for a project, so many times. */
export const noteGraph = (project_id: string, graph: Graph, times = 1): void =>
  noteStored(project_id, "workflows", times * JSON.stringify(graph).length);

/**
 * The id of the snapshot that holds this graph, made when the workflow has none like it yet.
 * @param within pass the transaction of the save, so that no snapshot is left without a version
 */
export async function snapshotOf(
  { project_id, workflow_id }: { project_id: string; workflow_id: string },
  graph: Graph,
  within: Pick<PrismaClient, "workflowSnapshot"> = db(),
): Promise<string> {
  const hash = graphHash(graph);
  const made = uuid();
  const { id } = await within.workflowSnapshot.upsert({
    where: { workflow_id_hash: { workflow_id, hash } },
    create: { id: made, workflow_id, hash, graph: jsonColumn(graph) },
    update: {},
    select: { id: true },
  });
  if (id === made) noteGraph(project_id, graph);
  return id;
}

/** Keeps which agents a workflow names, so that deleting one in use can be refused. */
export async function recordAgentUses(workflow_id: string, graphs: Graph[], within: Pick<PrismaClient, "workflowAgentUse">): Promise<void> {
  const agent_ids = [...new Set(graphs.flatMap(agentIdsOf))].filter(isUuid);
  await within.workflowAgentUse.deleteMany({ where: { workflow_id, agent_id: { notIn: agent_ids } } });
  await within.workflowAgentUse.createMany({ data: agent_ids.map((agent_id) => ({ workflow_id, agent_id })), skipDuplicates: true });
}
