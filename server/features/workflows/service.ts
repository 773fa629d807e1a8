import { v7 as uuid } from "uuid";
import type { Prisma } from "#prisma/generated/client.ts";
import { tellDisabled } from "#server/features/notifications/not-started.ts";
import { checkedGraph, firstGraph, triggerKind } from "#server/features/workflows/checks.ts";
import { assertErrorWorkflow, errorWorkflow, errorWorkflowUsers } from "#server/features/workflows/error-workflow-setting.ts";
import { findWorkflow, summaryFields, workflowDto } from "#server/features/workflows/rows.ts";
import { registerSchedule } from "#server/features/workflows/schedule.ts";
import type { CreateWorkflowInput, UpdateWorkflowInput, Workflow, WorkflowHead } from "#server/features/workflows/schema.ts";
import { graphHash, noteGraph, recordAgentUses, snapshotOf } from "#server/features/workflows/snapshots.ts";
import { keepText } from "#server/features/workflows/texts.ts";
import { versionChanges } from "#server/features/workflows/versions.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { namesInUse } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { Graph } from "#server/workflow/schema.ts";

/** Tags as they are kept: each once, whatever its case, as it stands first. */
export const distinctTags = (tags: readonly string[]): string[] =>
  tags.filter((tag, index) => tags.findIndex((other) => other.toLowerCase() === tag.toLowerCase()) === index);

/**
 * Writes a workflow as version 1, with a draft that equals it, and the audit entry for it.
 * @param graph checked already (services/workflows/checked-graph.ts)
 */
export async function insertWorkflow(
  tx: Prisma.TransactionClient,
  principal: ProjectPrincipal,
  {
    name,
    description = "",
    enabled = true,
    error_workflow_id,
    tags = [],
    folder = null,
  }: Pick<CreateWorkflowInput, "name" | "description" | "enabled" | "error_workflow_id" | "tags" | "folder">,
  graph: Graph,
) {
  const id = uuid();
  await assertErrorWorkflow(tx, principal.project.id, error_workflow_id, id);
  const snapshot_id = uuid();
  const by = principal.user.id;
  const json = jsonColumn(graph);
  const created = await tx.workflow.create({
    data: {
      id,
      project_id: principal.project.id,
      name,
      description,
      enabled,
      tags: distinctTags(tags),
      folder,
      ...errorWorkflow(error_workflow_id),
      snapshot_id,
      trigger: triggerKind(graph),
      snapshots: { create: { id: snapshot_id, hash: graphHash(graph), graph: json } },
      draft: { create: { graph: json, base_version: 1, updated_by_id: by } },
    },
    select: summaryFields,
  });
  await keepText(tx, created, graph);
  await registerSchedule(created, graph, tx);
  await tx.workflowVersion.create({ data: { workflow_id: id, version: 1, snapshot_id, saved_by_id: by } });
  await recordAgentUses(id, [graph], tx);
  await recordAudit(principal, { action: "workflow.create", resource_type: "workflow", resource_id: id, resource_name: name }, tx);
  noteGraph(principal.project.id, graph, 2);
  return created;
}

/**
 * Creates a workflow as version 1, with a draft that equals it.
 * @throws AppError VALIDATION_ERROR with every structural fault of the graph, or a schedule that cannot be kept; CONFLICT when the project
 *   holds as much as it may
 */
export async function createWorkflow(principal: ProjectPrincipal, input: CreateWorkflowInput): Promise<Workflow> {
  const first = firstGraph();
  const graph = checkedGraph({ nodes: input.nodes ?? first.nodes, edges: input.edges ?? [] });
  await assertRoom(principal.project.id);
  const row = await db().$transaction((tx) => insertWorkflow(tx, principal, input, graph));
  return workflowDto(principal.project.id, row, graph);
}

/**
 * A workflow with the graph of its current version and its problems.
 * @throws AppError NOT_FOUND
 */
export async function getWorkflow(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<Workflow> {
  const { snapshot_id, ...row } = await findWorkflow(principal, workflow_id, { ...summaryFields, snapshot_id: true });
  const { graph } = await db().workflowSnapshot.findUniqueOrThrow({ where: { id: snapshot_id }, select: { graph: true } });
  return workflowDto(principal.project.id, row, Graph.parse(graph));
}

const fields = { version: true, draft: { select: { revision: true, updated_by: { select: { name: true } } } } } as const;

/**
 * How far a workflow and its draft have come, without any graph.
 * @throws AppError NOT_FOUND
 */
export async function getWorkflowHead(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<WorkflowHead> {
  const { version, draft } = await findWorkflow(principal, workflow_id, fields);
  if (!draft) throw notFound("workflow");
  return { version, revision: draft.revision, updated_by: draft.updated_by?.name ?? null };
}

/** Triggers that `enabled` silences. */
const BY_ITSELF = ["schedule", "webhook", "http"];

/** A change of the saved graph and, separately, of the draft; a draft that is ahead keeps what else it holds. */
type Edit = (graph: Graph, which: "saved" | "draft") => Graph;

/**
 * Saves a workflow: checks the graph, counts the version up, makes the draft equal to it, and registers its schedule. Tags and folder
 * alone count no version up.
 * @param edit instead of a whole graph in the input, a change of the one that is there
 * @throws AppError NOT_FOUND; VALIDATION_ERROR with every structural fault or a schedule that cannot be kept; CONFLICT, naming who saved, when `version` is
 *   older than the current one, and when the project has no room for another graph
 */
export async function updateWorkflow(principal: ProjectPrincipal, input: UpdateWorkflowInput, edit?: Edit): Promise<Workflow> {
  const { workflow_id } = input;
  const project_id = principal.project.id;
  const by = principal.user.id;
  if (!isUuid(workflow_id)) throw notFound("workflow");
  const hasGraph = input.nodes !== undefined || input.edges !== undefined;
  if (hasGraph || edit) await assertRoom(project_id);
  const saved = await db().$transaction(async (tx) => {
    // Not FOR UPDATE: an autosave that records an agent's use holds a key lock on this row.
    await tx.$queryRaw`SELECT 1 FROM workflows WHERE id = ${workflow_id}::uuid FOR NO KEY UPDATE`;
    const current = await findWorkflow(
      principal,
      workflow_id,
      { name: true, version: true, snapshot_id: true, enabled: true, updated_at: true },
      tx,
    );
    if (input.version !== undefined && input.version !== current.version) {
      const last = await tx.workflowVersion.findFirst({
        where: { workflow_id, version: current.version },
        select: { created_at: true, saved_by_id: true },
      });
      const saver = last?.saved_by_id ? await tx.user.findUnique({ where: { id: last.saved_by_id }, select: { name: true } }) : null;
      const who = `${saver?.name ?? "Somebody"} saved version ${current.version}${last ? ` at ${last.created_at.toISOString()}` : ""}`;
      throw new AppError(
        "CONFLICT",
        `${who}, and you edited version ${input.version}. Load it and apply your changes to it, or save without a version to overwrite.`,
      );
    }
    const stored = Graph.parse((await tx.workflowSnapshot.findUniqueOrThrow({ where: { id: current.snapshot_id } })).graph);
    const { name, description, enabled, error_workflow_id, tags, folder } = input;
    const filed = { ...(tags !== undefined && { tags: distinctTags(tags) }), ...(folder !== undefined && { folder }) };
    const isFiledOnly = !hasGraph && !edit && [name, description, enabled, error_workflow_id].every((value) => value === undefined);
    if (isFiledOnly && Object.keys(filed).length > 0) {
      // Where it is kept is no part of what it does: no version is made, and whoever edits it need not know.
      const data = { ...filed, updated_at: current.updated_at };
      const row = await tx.workflow.update({ where: { id: workflow_id }, data, select: summaryFields });
      const resource = { resource_type: "workflow", resource_id: workflow_id, resource_name: row.name } as const;
      await recordAudit(principal, { action: "workflow.update", ...resource, detail: filed }, tx);
      return { row, graph: stored };
    }
    const given = edit ? edit(stored, "saved") : { nodes: input.nodes ?? stored.nodes, edges: input.edges ?? stored.edges };
    const graph = hasGraph || edit ? checkedGraph(given, workflow_id) : stored;
    const version = current.version + 1;
    const snapshot_id = hasGraph || edit ? await snapshotOf({ project_id, workflow_id }, graph, tx) : current.snapshot_id;
    await assertErrorWorkflow(tx, project_id, error_workflow_id, workflow_id);
    const row = await tx.workflow.update({
      where: { id: workflow_id },
      data: {
        version,
        snapshot_id,
        trigger: triggerKind(graph),
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(enabled !== undefined && { enabled }),
        ...filed,
        ...errorWorkflow(error_workflow_id),
      },
      select: summaryFields,
    });
    await keepText(tx, row, graph);
    await registerSchedule(row, graph, tx);
    if (row.enabled !== current.enabled) await tellDisabled(tx, principal, row, BY_ITSELF.includes(row.trigger));
    const changes = { ...versionChanges(stored, graph) };
    const hand = hasGraph ? await tx.workflowDraft.findUnique({ where: { workflow_id }, select: { by: true } }) : null;
    await tx.workflowVersion.create({
      data: { workflow_id, version, snapshot_id, saved_by_id: by, changes, by: hand?.by ?? null, note: input.note || null },
    });
    const graphs = [graph];
    if (hasGraph) {
      const draft = { graph: jsonColumn(graph), base_version: version, updated_by_id: by, by: null };
      await tx.workflowDraft.upsert({
        where: { workflow_id },
        create: { workflow_id, ...draft },
        update: { ...draft, revision: { increment: 1 } },
      });
    } else {
      const { graph: kept } = await tx.workflowDraft.findUniqueOrThrow({ where: { workflow_id }, select: { graph: true } });
      const before = Graph.parse(kept);
      const draft = edit ? edit(before, "draft") : before;
      const change = { graph: jsonColumn(draft), revision: { increment: 1 }, updated_by_id: by };
      await tx.workflowDraft.update({ where: { workflow_id }, data: { base_version: version, ...(draft !== before && change) } });
      graphs.push(draft);
    }
    await recordAgentUses(workflow_id, graphs, tx);
    await recordAudit(
      principal,
      { action: "workflow.update", resource_type: "workflow", resource_id: workflow_id, resource_name: row.name, detail: { version } },
      tx,
    );
    return { row, graph };
  });
  return workflowDto(project_id, saved.row, saved.graph);
}

/**
 * Deletes a workflow with its schedule and its webhook. Its executions stay readable, and one under way runs to its end.
 * @throws AppError NOT_FOUND; CONFLICT that names the canvases with a widget that reads it, or the workflows that run it
 */
export async function deleteWorkflow(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<void> {
  await db().$transaction(async (tx) => {
    const { name } = await findWorkflow(principal, workflow_id, { name: true }, tx);
    await tx.workflow.update({ where: { id: workflow_id }, data: { deleted_at: new Date() } });
    // After the row is locked: a canvas that is being saved has locked it too.
    const canvases = await tx.$queryRaw<{ name: string }[]>`
      SELECT name FROM canvases WHERE project_id = ${principal.project.id}::uuid
        AND jsonb_path_exists(widgets, '$[*].workflow_id ? (@ == $id)', jsonb_build_object('id', ${workflow_id}::text)) ORDER BY name`;
    if (canvases.length)
      throw new AppError(
        "CONFLICT",
        `The workflow is shown on ${namesInUse("canvas", canvases, "canvases")}. Take its widgets out there first.`,
      );
    const callers = await tx.$queryRaw<{ name: string }[]>`
      SELECT DISTINCT w.name FROM workflows w CROSS JOIN LATERAL (
        SELECT graph FROM workflow_snapshots WHERE id = w.snapshot_id UNION ALL SELECT graph FROM workflow_drafts WHERE workflow_id = w.id
      ) g
      WHERE w.project_id = ${principal.project.id}::uuid AND w.deleted_at IS NULL AND jsonb_path_exists(
        g.graph, '$.nodes[*] ? (@.type == "workflowNode").data.workflow_id ? (@ == $id)', jsonb_build_object('id', ${workflow_id}::text)) ORDER BY w.name`;
    const users = await errorWorkflowUsers(tx, principal.project.id, workflow_id);
    if (users.length)
      throw new AppError("CONFLICT", `The workflow is started when runs of ${users.join(", ")} fail. Name another one there first.`);
    if (callers.length)
      throw new AppError("CONFLICT", `The workflow is run by ${namesInUse("workflow", callers)}. Take it out there first.`);
    await tx.schedule.deleteMany({ where: { workflow_id } });
    await tx.webhook.deleteMany({ where: { workflow_id } });
    await tx.workflowAgentUse.deleteMany({ where: { workflow_id } });
    await tx.workflowText.deleteMany({ where: { workflow_id } });
    await recordAudit(
      principal,
      { action: "workflow.delete", resource_type: "workflow", resource_id: workflow_id, resource_name: name },
      tx,
    );
  });
}
