import { v7 as uuid } from "uuid";
import type { Prisma } from "#prisma/generated/client.ts";
import { NO_CANVASES, renameOutputs } from "#server/features/canvases/rename-outputs.ts";
import { tellDisabled } from "#server/features/notifications/not-started.ts";
import { lockAgentNames, namesAtVersion, storedNames, withCurrentNames } from "#server/features/workflows/agent-names.ts";
import { checkedGraph, firstGraph, triggerKind } from "#server/features/workflows/checks.ts";
import { assertErrorWorkflow, errorWorkflow, errorWorkflowUsers } from "#server/features/workflows/error-workflow-setting.ts";
import { findWorkflow, summaryFields, workflowDto } from "#server/features/workflows/rows.ts";
import { assertSchedule, registerSchedule, scheduleChange, withSchedule } from "#server/features/workflows/schedule.ts";
import type {
  CreateWorkflowInput,
  UpdatedWorkflow,
  UpdateWorkflowInput,
  Workflow,
  WorkflowHead,
  WorkflowSummary,
} from "#server/features/workflows/schema.ts";
import { graphHash, recordAgentUses, snapshotColumns, snapshotOf } from "#server/features/workflows/snapshots.ts";
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
import { noteStored } from "#server/runs/store/space.ts";
import { cancelWorkflowRuns } from "#server/runs/use-cases/cancel-runs-of-workflow.ts";
import { nameKey } from "#server/shared/fold-text.ts";
import { type AgentNames, renameAgents } from "#server/workflow/rename.ts";
import { Graph } from "#server/workflow/schema.ts";

/** Tags as they are kept: each once, whatever its case, as it stands first. */
export const distinctTags = (tags: readonly string[]): string[] =>
  tags.filter((tag, index) => tags.findIndex((other) => nameKey(other) === nameKey(tag)) === index);

/**
 * Writes a workflow as version 1, with a draft that equals it, and the audit entry for it.
 * @param checked the graph, free of structural faults
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
  checked: Graph,
) {
  await lockAgentNames(tx, principal.project.id);
  const { graph, names } = await withCurrentNames(tx, principal.project.id, checked);
  const id = uuid();
  await assertErrorWorkflow(tx, principal.project.id, error_workflow_id, id);
  const snapshot_id = uuid();
  const by = principal.user.id;
  const { columns, length } = await snapshotColumns(graph, names);
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
      snapshots: { create: { id: snapshot_id, ...columns } },
    },
    select: summaryFields,
  });
  // The database has the graph already.
  await tx.$executeRaw`
    INSERT INTO workflow_drafts (workflow_id, graph, base_version, updated_by_id)
    SELECT workflow_id, graph, 1, ${by}::uuid FROM workflow_snapshots WHERE id = ${snapshot_id}::uuid`;
  await keepText(tx, created, graph);
  await registerSchedule(created, graph, tx);
  await tx.workflowVersion.create({ data: { workflow_id: id, version: 1, snapshot_id, saved_by_id: by } });
  await recordAgentUses(id, [graph], tx);
  await recordAudit(tx, principal, { action: "workflow.create", resource_type: "workflow", resource_id: id, resource_name: name });
  noteStored(principal.project.id, "workflows", 2 * length);
  return { ...created, graph };
}

/**
 * Creates a workflow as version 1, with a draft that equals it.
 * @throws AppError VALIDATION_ERROR with every structural fault of the graph, or a schedule that cannot be kept; CONFLICT when the project
 *   holds as much as it may
 */
export async function createWorkflow(principal: ProjectPrincipal, input: CreateWorkflowInput): Promise<Workflow> {
  const first = firstGraph();
  const given = await checkedGraph({ nodes: input.nodes ?? first.nodes, edges: input.edges ?? [] });
  scheduleChange(input, given);
  await assertRoom(principal.project.id);
  const { graph, ...row } = await db().$transaction((tx) => insertWorkflow(tx, principal, input, given));
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

const FILED: readonly string[] = ["tags", "folder"];

/** The columns that a request sets to another value. */
function changedColumns(
  current: Pick<WorkflowSummary, "name" | "description" | "enabled" | "error_workflow_id" | "tags" | "folder">,
  { name, description, enabled, error_workflow_id, tags, folder }: UpdateWorkflowInput,
): Prisma.WorkflowUncheckedUpdateInput {
  const given = { name, description, enabled, error_workflow_id, tags: tags && distinctTags(tags), folder };
  const differs = ([field, value]: [string, unknown]) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(current[field as keyof typeof current]);
  return Object.fromEntries(Object.entries(given).filter(differs));
}

/** @throws AppError CONFLICT that names who saved */
async function assertVersion(
  tx: Prisma.TransactionClient,
  { workflow_id, version }: UpdateWorkflowInput,
  current: number,
): Promise<AgentNames> {
  if (version === undefined || version === current) return {};
  const then = await namesAtVersion(tx, { workflow_id, version, current });
  if (then) return then;
  const last = await tx.workflowVersion.findFirst({
    where: { workflow_id, version: current },
    select: { created_at: true, saved_by_id: true },
  });
  const saver = last?.saved_by_id ? await tx.user.findUnique({ where: { id: last.saved_by_id }, select: { name: true } }) : null;
  const who = `${saver?.name ?? "Someone"} saved version ${current}${last ? ` at ${last.created_at.toISOString()}` : ""}`;
  throw new AppError(
    "CONFLICT",
    `${who}, and you edited version ${version}. Load it and apply your changes to it, or save without a version to overwrite.`,
  );
}

/** Writes the draft that a save leaves behind. @returns its graph */
async function writeDraft(
  tx: Prisma.TransactionClient,
  { workflow_id, by, version }: { workflow_id: string; by: string; version: number },
  change: (draft: Graph) => Graph,
  isReset: boolean,
): Promise<Graph> {
  const row = await tx.workflowDraft.findUniqueOrThrow({ where: { workflow_id } });
  const before = Graph.parse(row.graph);
  const draft = change(before);
  const isSame = draft === before || (await graphHash(draft)) === (await graphHash(before));
  if (isSame && row.base_version === version && !(isReset && row.by !== null)) return draft;
  const graph = { graph: jsonColumn(draft), revision: { increment: 1 }, updated_by_id: by };
  await tx.workflowDraft.update({
    where: { workflow_id },
    data: { base_version: version, ...(isReset && { by: null }), ...(!isSame && graph) },
  });
  return draft;
}

/**
 * Saves a workflow: checks the graph, counts the version up, makes the draft equal to it, and registers its schedule. Tags and folder
 * alone count no version up, and a request that changes nothing writes nothing. Widgets that read an Output node follow its label.
 * @param edit instead of a whole graph in the input, a change of the one that is there
 * @throws AppError NOT_FOUND; VALIDATION_ERROR with every structural fault or a schedule that cannot be kept; CONFLICT, naming
 *   who saved, when `version` is older than the current one and not only renames came after it, and when the project is full
 */
export async function updateWorkflow(principal: ProjectPrincipal, input: UpdateWorkflowInput, edit?: Edit): Promise<UpdatedWorkflow> {
  const { workflow_id } = input;
  const project_id = principal.project.id;
  const by = principal.user.id;
  if (!isUuid(workflow_id)) throw notFound("workflow");
  const hasGraph = input.nodes !== undefined || input.edges !== undefined;
  if (hasGraph || edit || input.schedule) await assertRoom(project_id);
  const saved = await db().$transaction(async (tx) => {
    await lockAgentNames(tx, project_id);
    // Not FOR UPDATE: an autosave that records an agent's use holds a key lock on this row.
    await tx.$queryRaw`SELECT 1 FROM workflows WHERE id = ${workflow_id}::uuid FOR NO KEY UPDATE`;
    const { snapshot_id, ...current } = await findWorkflow(principal, workflow_id, { ...summaryFields, snapshot_id: true }, tx);
    const then = await assertVersion(tx, input, current.version);
    const snapshot = await tx.workflowSnapshot.findUniqueOrThrow({ where: { id: snapshot_id } });
    const stored = Graph.parse(snapshot.graph);

    const given = edit ? edit(stored, "saved") : { nodes: input.nodes ?? stored.nodes, edges: input.edges ?? stored.edges };
    const schedule = scheduleChange(input, given, stored);
    const wanted = schedule ? withSchedule(given, schedule) : given;
    if (schedule) assertSchedule(wanted, "schedule.");
    const { graph, names } =
      hasGraph || edit || schedule
        ? await withCurrentNames(tx, project_id, await checkedGraph(wanted, { workflow_id, stored }), then)
        : { graph: stored, names: storedNames(snapshot.agent_names) };
    const isNewGraph =
      (await graphHash(graph)) !== (await graphHash(stored)) ||
      renameAgents(stored, { ...names, ...storedNames(snapshot.agent_names) }, names).isRead;

    const columns = changedColumns(current, input);
    const changed = Object.keys(columns);
    const makesVersion = isNewGraph || changed.some((field) => !FILED.includes(field));
    const version = makesVersion ? current.version + 1 : current.version;
    const own = { workflow_id, by, version };
    const hand = hasGraph ? await tx.workflowDraft.findUnique({ where: { workflow_id }, select: { by: true } }) : null;
    const draftOf = (draft: Graph) => {
      if (hasGraph) return graph;
      const edited = edit ? edit(draft, "draft") : draft;
      return schedule ? withSchedule(edited, schedule) : edited;
    };
    const draft = makesVersion || hasGraph ? await writeDraft(tx, own, draftOf, hasGraph) : graph;
    if (hasGraph || isNewGraph) await recordAgentUses(workflow_id, [graph, draft], tx);
    if (!makesVersion && changed.length === 0) return { row: current, graph, canvases_changed: NO_CANVASES };

    if (input.error_workflow_id !== undefined && "error_workflow_id" in columns)
      await assertErrorWorkflow(tx, project_id, input.error_workflow_id, workflow_id);
    const next = isNewGraph ? await snapshotOf({ project_id, workflow_id }, graph, names, tx) : snapshot_id;
    const row = await tx.workflow.update({
      where: { id: workflow_id },
      data: {
        ...columns,
        ...("error_workflow_id" in columns && errorWorkflow(input.error_workflow_id)),
        // The folder and tags do not change what a workflow does, so its version and time stay.
        ...(makesVersion ? { version, snapshot_id: next, trigger: triggerKind(graph) } : { updated_at: current.updated_at }),
      },
      select: summaryFields,
    });
    if (makesVersion) {
      await keepText(tx, row, graph);
      await registerSchedule(row, graph, tx);
      if (row.enabled !== current.enabled) await tellDisabled(tx, principal, row, BY_ITSELF.includes(row.trigger));
      const changes = { ...versionChanges(stored, graph) };
      await tx.workflowVersion.create({
        data: { workflow_id, version, snapshot_id: next, saved_by_id: by, changes, by: hand?.by ?? null, note: input.note || null },
      });
    }
    const canvases_changed = isNewGraph ? await renameOutputs(tx, principal, workflow_id, stored, graph) : NO_CANVASES;
    const detail = makesVersion
      ? { version }
      : Object.fromEntries(FILED.flatMap((field) => (field in columns ? [[field, row[field as "tags" | "folder"]]] : [])));
    const resource = { resource_type: "workflow", resource_id: workflow_id, resource_name: row.name } as const;
    await recordAudit(tx, principal, { action: "workflow.update", ...resource, detail });
    return { row, graph, canvases_changed };
  });
  return { ...(await workflowDto(project_id, saved.row, saved.graph)), canvases_changed: saved.canvases_changed };
}

/**
 * Deletes a workflow with its schedule and its webhook, and cancels its runs that have not ended. Its executions stay readable.
 * @throws AppError NOT_FOUND; CONFLICT that names the canvases with a widget that reads it, or the workflows that run it
 */
export async function deleteWorkflow(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<void> {
  await db().$transaction(async (tx) => {
    const { name } = await findWorkflow(principal, workflow_id, { name: true }, tx);
    // Waits for runs that are being written, which `cancelWorkflowRuns` then finds; an update alone does not.
    await tx.$queryRaw`SELECT FROM workflows WHERE id = ${workflow_id}::uuid FOR UPDATE`;
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
    await recordAudit(tx, principal, {
      action: "workflow.delete",
      resource_type: "workflow",
      resource_id: workflow_id,
      resource_name: name,
    });
  });
  // Not before: a refused deletion cancels nothing, and no run starts of a deleted workflow.
  await cancelWorkflowRuns(workflow_id);
}
