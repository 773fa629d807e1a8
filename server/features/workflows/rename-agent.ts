import type { Prisma } from "#prisma/generated/client.ts";
import { namesById, withRename } from "#server/features/workflows/agent-names.ts";
import { agentIdsOf } from "#server/features/workflows/checks.ts";
import { recordAgentUses, snapshotOf } from "#server/features/workflows/snapshots.ts";
import { keepText } from "#server/features/workflows/texts.ts";
import { versionChanges } from "#server/features/workflows/versions.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError } from "#server/platform/errors.ts";
import type { FieldError } from "#server/shared/error-schema.ts";
import { findFaults, MAX_COMPARED } from "#server/workflow/graph.ts";
import { type AgentNames, renameAgents, type UnrenamedReader } from "#server/workflow/rename.ts";
import { Graph } from "#server/workflow/schema.ts";

type Tx = Prisma.TransactionClient;

/** Workflows that use an agent which a rename rewrites; one of more workflows keeps its name. */
const MAX_WORKFLOWS = 1000;
/** Workflows and texts that an answer lists. */
const MAX_LISTED = 50;

/** The workflows that a rename has changed. */
export interface ChangedWorkflows {
  items: { id: string; name: string }[];
  total: number;
}

interface Names {
  before: AgentNames;
  after: AgentNames;
}

/** A graph under the new name, with the texts that would not read the same. */
function renamed(graph: Graph, { before, after }: Names) {
  const result = renameAgents(graph, before, after);
  const known = new Set(findFaults(graph, MAX_COMPARED).map(({ path }) => path));
  const tooLong = result.graph === graph ? [] : findFaults(result.graph, MAX_COMPARED).filter(({ path }) => !known.has(path));
  const faults: UnrenamedReader[] = [
    ...result.faults,
    ...tooLong.map(({ node_id, field, message }) => ({ node_id: node_id ?? "", field: field ?? "", message })),
  ];
  return { ...result, faults };
}

const fields = { id: true, name: true, description: true, version: true, snapshot_id: true } as const;

/** Rewrites one workflow. @returns the texts that stand in the way, and whether it was changed */
async function renameIn(tx: Tx, principal: ProjectPrincipal, id: string, agent_id: string, names: Names) {
  const row = await tx.workflow.findUniqueOrThrow({ where: { id }, select: fields });
  const { graph } = await tx.workflowSnapshot.findUniqueOrThrow({ where: { id: row.snapshot_id }, select: { graph: true } });
  const draft = await tx.workflowDraft.findUniqueOrThrow({ where: { workflow_id: id } });
  const stored = Graph.parse(graph);
  const saved = renamed(stored, names);
  const before = Graph.parse(draft.graph);
  const drafted = renamed(before, names);
  const faults = new Map([...saved.faults, ...drafted.faults].map((fault) => [`${fault.node_id} ${fault.field}`, fault]));
  const isSavedChanged = saved.isRead || saved.graph !== stored;
  const isDraftChanged = drafted.graph !== before;
  if (faults.size > 0 || !(isSavedChanged || isDraftChanged)) return { row, faults: [...faults.values()], isChanged: false };

  const version = isSavedChanged ? row.version + 1 : row.version;
  const own = { workflow_id: id, project_id: principal.project.id };
  if (isSavedChanged) {
    const ids = agentIdsOf(saved.graph).filter((agent) => names.after[agent] !== undefined);
    const used = Object.fromEntries(ids.map((agent) => [agent, names.after[agent] ?? ""]));
    const snapshot_id = await snapshotOf(own, saved.graph, used, tx);
    await tx.workflow.update({ where: { id }, data: { version, snapshot_id } });
    await keepText(tx, row, saved.graph);
    const changes = { ...versionChanges(stored, saved.graph) };
    const saved_by_id = principal.user.id;
    await tx.workflowVersion.create({ data: { workflow_id: id, version, snapshot_id, saved_by_id, changes, by: "rename" } });
  }
  const rename = { revision: draft.revision, agent_id, from: names.before[agent_id] ?? "" };
  await tx.workflowDraft.update({
    where: { workflow_id: id },
    data: {
      ...(draft.base_version === row.version && { base_version: version }),
      ...(isDraftChanged && {
        graph: jsonColumn(drafted.graph),
        revision: { increment: 1 },
        renames: withRename(draft.renames, rename),
        updated_by_id: principal.user.id,
      }),
    },
  });
  await recordAgentUses(id, [saved.graph, drafted.graph], tx);
  const detail = { version, renamed_agent: { id: agent_id, from: rename.from, to: names.after[agent_id] ?? "" } };
  const resource = { resource_type: "workflow", resource_id: id, resource_name: row.name } as const;
  await recordAudit(tx, principal, { action: "workflow.update", ...resource, detail });
  return { row, faults: [], isChanged: true };
}

/**
 * Rewrites all that reads an agent by its name, in saved versions and drafts, for its new name. The transaction holds
 * `lockAgentNames` with `rename`, so that no graph with the old name is written meanwhile.
 * @throws AppError CONFLICT that lists the texts which would not read the same
 */
export async function renameInWorkflows(
  tx: Tx,
  principal: ProjectPrincipal,
  agent: { id: string; from: string; to: string },
): Promise<ChangedWorkflows> {
  const project_id = principal.project.id;
  const users = await tx.$queryRaw<{ id: string }[]>`
    SELECT id
    FROM workflows w
    WHERE project_id = ${project_id}::uuid
      AND deleted_at IS NULL
      AND EXISTS (SELECT FROM workflow_agent_uses u WHERE u.workflow_id = w.id AND u.agent_id = ${agent.id}::uuid)
    ORDER BY id
    LIMIT ${MAX_WORKFLOWS + 1}
    FOR NO KEY UPDATE`;
  if (users.length > MAX_WORKFLOWS)
    throw new AppError(
      "CONFLICT",
      `The agent is used in more than ${MAX_WORKFLOWS} workflows, too many to rename it in. Create an agent with the new name instead.`,
    );
  if (users.length === 0) return { items: [], total: 0 };
  const current = namesById(await tx.agent.findMany({ where: { project_id }, select: { id: true, name: true } }));
  const names = { before: { ...current, [agent.id]: agent.from }, after: { ...current, [agent.id]: agent.to } };

  const items: { id: string; name: string }[] = [];
  const errors: FieldError[] = [];
  let faulty = 0;
  for (const { id } of users) {
    const { row, faults, isChanged } = await renameIn(tx, principal, id, agent.id, names);
    if (isChanged) items.push({ id, name: row.name });
    faulty += faults.length;
    for (const { node_id, field, message } of faults.slice(0, MAX_LISTED - errors.length))
      errors.push({ path: `workflows.${id}.${node_id}.${field}`, message: `"${row.name}": ${message}` });
  }
  if (errors[0]) {
    const more = faulty > 1 ? ` (and ${faulty - 1} more)` : "";
    throw new AppError(
      "CONFLICT",
      `"${agent.from}" cannot be renamed to "${agent.to}", since a workflow could not follow. ${errors[0].message}${more} Change these texts first, or choose another name.`,
      { errors },
    );
  }
  return { items: items.slice(0, MAX_LISTED), total: items.length };
}
