import { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { agentIdsOf } from "#server/features/workflows/checks.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { type AgentNames, type FormerlyNamed, renameAgents, withoutFormerNames } from "#server/workflow/rename.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Expressions read agents by name, so that a graph and the names it was written with belong together.

type Tx = Prisma.TransactionClient;

/**
 * Keeps agents of the project from being renamed until the transaction ends; with `rename`, graphs from being written too.
 * Comes before any lock of a row, since a rename locks the rows of workflows.
 */
export async function lockAgentNames(tx: Tx, project_id: string, mode: "read" | "rename" = "read"): Promise<void> {
  const key = `agent names ${project_id}`;
  if (mode === "rename") await tx.$queryRaw`SELECT 1 AS held FROM (SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))) AS lock`;
  else await tx.$queryRaw`SELECT 1 AS held FROM (SELECT pg_advisory_xact_lock_shared(hashtextextended(${key}, 0))) AS lock`;
}

const agentsIn = async (tx: Tx, project_id: string, graph: Graph): Promise<FormerlyNamed[]> => {
  const ids = agentIdsOf(graph).filter(isUuid);
  if (ids.length === 0) return [];
  return tx.agent.findMany({ where: { project_id, id: { in: ids } }, select: { id: true, name: true, former_names: true } });
};

export const namesById = (agents: readonly { id: string; name: string }[]): AgentNames =>
  Object.fromEntries(agents.map(({ id, name }) => [id, name]));

/**
 * Rewrites a graph for agents that were renamed since its client read it. The transaction holds `lockAgentNames`.
 * @param then names that the client knew; left out, texts that nothing answers to are looked up among former names
 * @returns with the names that the graph is written with
 */
export async function withCurrentNames(
  tx: Tx,
  project_id: string,
  graph: Graph,
  then: AgentNames = {},
): Promise<{ graph: Graph; names: AgentNames }> {
  const agents = await agentsIn(tx, project_id, graph);
  const names = namesById(agents);
  const isRenamed = agents.some(({ id, name }) => then[id] !== undefined && then[id] !== name);
  const current = isRenamed ? renameAgents(graph, { ...names, ...then }, names).graph : graph;
  return { graph: withoutFormerNames(current, agents), names };
}

const Renames = z.array(z.object({ revision: z.int(), agent_id: z.string(), from: z.string() })).catch([]);
type Renames = z.infer<typeof Renames>;

/** Renames of a draft that are kept; a client that read it before is asked to choose, as after any other change. */
const MAX_RENAMES = 20;

/** The renames of a draft with one that rewrites its current revision. */
export const withRename = (renames: unknown, rename: Renames[number]): Renames => [...Renames.parse(renames), rename].slice(-MAX_RENAMES);

/**
 * Names that a client knew which read an earlier revision of a draft.
 * @returns undefined when something other than renames has been written since
 */
export function namesAtRevision(draft: { revision: number; renames: unknown }, revision: number): AgentNames | undefined {
  const since = Renames.parse(draft.renames).filter((rename) => rename.revision >= revision);
  if (revision >= draft.revision || since.length !== draft.revision - revision) return undefined;
  return Object.fromEntries(since.toReversed().map(({ agent_id, from }) => [agent_id, from]));
}

/** The earliest revision of a draft after which only renames were written; null when its last write is something else. */
export function renamedSince({ revision, renames }: { revision: number; renames: unknown }): number | null {
  const rewritten = new Set(Renames.parse(renames).map((rename) => rename.revision));
  let since = revision;
  while (rewritten.has(since - 1)) since -= 1;
  return since === revision ? null : since;
}

/**
 * Names that a client knew which read an earlier version of a workflow.
 * @returns undefined when something other than renames has been saved since
 */
export async function namesAtVersion(
  tx: Tx,
  { workflow_id, version, current }: { workflow_id: string; version: number; current: number },
): Promise<AgentNames | undefined> {
  const since = await tx.workflowVersion.count({ where: { workflow_id, version: { gt: version }, by: "rename" } });
  if (version >= current || since !== current - version) return undefined;
  const read = await tx.workflowVersion.findUnique({
    where: { workflow_id_version: { workflow_id, version } },
    select: { snapshot: { select: { agent_names: true } } },
  });
  return read ? storedNames(read.snapshot.agent_names) : undefined;
}

const StoredNames = z.record(z.string(), z.string()).catch({});
export const storedNames = (value: unknown): AgentNames => StoredNames.parse(value ?? {});
