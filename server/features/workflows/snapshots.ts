import { createHash } from "node:crypto";
import { v7 as uuid } from "uuid";
import { Prisma, type PrismaClient } from "#prisma/generated/client.ts";
import { agentIdsOf } from "#server/features/workflows/checks.ts";
import { db } from "#server/platform/db/client.ts";
import { jsonColumn, jsonTextColumn } from "#server/platform/db/json-column.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { inTimeSlices } from "#server/platform/time-slice.ts";
import { noteStored } from "#server/runs/store/space.ts";
import { canonicalPieces } from "#server/shared/canonical-json.ts";
import type { AgentNames } from "#server/workflow/rename.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** Hashes the JSON of a value in steps. @param written takes its pieces */
function* hashInSteps(value: object, written?: string[]): Generator<void, string> {
  const sum = createHash("sha256");
  for (const piece of canonicalPieces(value)) {
    sum.update(piece);
    written?.push(piece);
    yield;
  }
  return sum.digest("hex");
}

/** SHA-256 of a graph's nodes and edges, whatever the order of their keys. */
export const graphHash = ({ nodes, edges }: Graph): Promise<string> => inTimeSlices(hashInSteps({ nodes, edges }));

/**
 * The columns of a snapshot, and the length of the graph's JSON.
 * @param names of the graph's agents: the same texts under other names are another snapshot
 */
export async function snapshotColumns({ nodes, edges }: Graph, agent_names: AgentNames) {
  const has = Object.keys(agent_names).length > 0;
  const written: string[] = [];
  const hash = await inTimeSlices(hashInSteps({ nodes, edges }, written));
  const json = written.join("");
  const columns = {
    hash: has ? await inTimeSlices(hashInSteps({ nodes, edges, agent_names })) : hash,
    graph: jsonTextColumn(json),
    agent_names: has ? jsonColumn(agent_names) : Prisma.DbNull,
  };
  return { columns, length: json.length };
}

/** Takes note of a graph that was written for a project, so many times. */
export const noteGraph = (project_id: string, graph: Graph, times = 1): void =>
  noteStored(project_id, "workflows", times * JSON.stringify(graph).length);

/**
 * The id of the snapshot that holds this graph, made when the workflow has none like it yet.
 * @param names of its agents, read together with the graph
 * @param within pass the transaction of the save, so that no snapshot is left without a version
 */
export async function snapshotOf(
  { project_id, workflow_id }: { project_id: string; workflow_id: string },
  graph: Graph,
  names: AgentNames,
  within: Pick<PrismaClient, "workflowSnapshot"> = db(),
): Promise<string> {
  const { columns, length } = await snapshotColumns(graph, names);
  const made = uuid();
  const { id } = await within.workflowSnapshot.upsert({
    where: { workflow_id_hash: { workflow_id, hash: columns.hash } },
    create: { id: made, workflow_id, ...columns },
    update: {},
    select: { id: true },
  });
  if (id === made) noteStored(project_id, "workflows", length);
  return id;
}

/** Keeps which agents a workflow names, so that deleting one in use can be refused. */
export async function recordAgentUses(workflow_id: string, graphs: Graph[], within: Pick<PrismaClient, "workflowAgentUse">): Promise<void> {
  const agent_ids = [...new Set(graphs.flatMap(agentIdsOf))].filter(isUuid);
  await within.workflowAgentUse.deleteMany({ where: { workflow_id, agent_id: { notIn: agent_ids } } });
  await within.workflowAgentUse.createMany({ data: agent_ids.map((agent_id) => ({ workflow_id, agent_id })), skipDuplicates: true });
}
