import { v7 as uuid } from "uuid";
import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { insertAgent } from "#server/features/agents/service.ts";
import { convertN8n } from "#server/features/workflow-files/n8n/convert.ts";
import { n8nWorkflowIn } from "#server/features/workflow-files/n8n/source.ts";
import { type AgentPlan, findNeeds, type Needs, planAgents, planLinks } from "#server/features/workflow-files/plan.ts";
import {
  type CheckImportInput,
  type FileSkill,
  type FileWorkflow,
  type ImportCheck,
  type ImportedAgent,
  type ImportedWorkflow,
  type ImportGraphInput,
  type ImportReport,
  type ImportWorkflowInput,
  WORKFLOW_FILE_VERSION,
  WORKFLOW_FORMAT,
  WorkflowFile,
} from "#server/features/workflow-files/schema.ts";
import { lockAgentNames } from "#server/features/workflows/agent-names.ts";
import { checkedGraph, triggerKind } from "#server/features/workflows/checks.ts";
import { workflowDto } from "#server/features/workflows/rows.ts";
import { insertWorkflow } from "#server/features/workflows/service.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isAppError, isForeignKeyViolation, isUniqueViolation } from "#server/platform/errors.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import type { FieldError } from "#server/shared/error-schema.ts";
import { Description, Name } from "#server/shared/primitives-schema.ts";
import { workflowNode } from "#server/workflow/nodes/workflow-node.ts";
import { findOversized, Graph, TOO_MANY_KEYS } from "#server/workflow/schema.ts";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const refused = (message: string, errors: FieldError[] = [{ path: "file", message }], total = errors.length) =>
  new AppError("VALIDATION_ERROR", message, { errors, total });

/** Which other program a file is of, by keys that only its files have. */
function foreignName(file: Record<string, unknown>): string | undefined {
  if (file.kind === "app" || (isObject(file.app) && isObject(file.workflow))) return "Dify";
  if (isObject(file.blocks) || (isObject(file.state) && isObject(file.state.blocks))) return "Sim";
  if (isObject(file.data) && Array.isArray(file.data.nodes)) return "Langflow";
  if (Array.isArray(file.nodes) && file.nodes.some((node) => isObject(node) && isObject(node.data) && "inputAnchors" in node.data))
    return "Flowise";
  return Array.isArray(file.flow) ? "Make" : undefined;
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.map(({ path, message }) => ({ path: ["file", ...path].join("."), message }));
  throw refused(
    `The file is damaged at ${errors[0]?.path.replace(/^file\.?/, "") || "its top"}: ${errors[0]?.message}`,
    errors.slice(0, 50),
  );
}

/** What somebody sent, as a file of ours; of another program's also what became of it. */
interface ReadImport {
  file: WorkflowFile;
  report: ImportReport | null;
}

/** A file of ours; a graph of React Flow, as the API shows a workflow, counts as one that brings nothing along. */
function fileOf(raw: Record<string, unknown>): WorkflowFile {
  const { format, version } = raw;
  if (format === WORKFLOW_FORMAT) {
    if (typeof version === "number" && version > WORKFLOW_FILE_VERSION)
      throw refused(
        `The file is of version ${version}, and this service reads files up to version ${WORKFLOW_FILE_VERSION}. Update the service, then import it again.`,
      );
    return parsed(WorkflowFile, raw);
  }
  const foreign = foreignName(raw);
  if (foreign)
    throw refused(
      `This looks like a workflow of ${foreign}. Its steps work otherwise and cannot be read here. Start from a template, or draw it anew.`,
    );
  if (format !== undefined || !Array.isArray(raw.nodes))
    throw refused(
      `This is JSON, but no workflow. Give a file that was exported here ("format": "${WORKFLOW_FORMAT}"), or a React Flow graph with "nodes" and "edges".`,
    );
  const graph = parsed(Graph, { nodes: raw.nodes, edges: raw.edges ?? [] });
  return {
    format: WORKFLOW_FORMAT,
    version: WORKFLOW_FILE_VERSION,
    name: Name.safeParse(raw.name).data ?? "Imported workflow",
    description: Description.safeParse(raw.description).data ?? "",
    ...graph,
    requires: { agents: [], mcp_servers: [], rag_sources: [], skills: [], credentials: [] },
  };
}

/** @throws AppError VALIDATION_ERROR for a node with too many keys, before any schema reads the file */
function assertCounted(raw: Record<string, unknown>): void {
  const { workflows } = isObject(raw.requires) ? raw.requires : {};
  const graphs = [{ at: "file", graph: raw }].concat(
    (Array.isArray(workflows) ? workflows : []).flatMap((graph, index) =>
      isObject(graph) ? [{ at: `file.requires.workflows.${index}`, graph }] : [],
    ),
  );
  for (const { at, graph } of graphs)
    for (const list of ["nodes", "edges"]) {
      const index = findOversized(graph[list]);
      if (index !== -1) throw refused(TOO_MANY_KEYS, [{ path: `${at}.${list}.${index}`, message: TOO_MANY_KEYS }]);
    }
}

/**
 * The workflow in what somebody sent as a file, its graph free of structural faults.
 * @throws AppError VALIDATION_ERROR that says what kind of file it is instead, what is damaged, or every fault of the graph
 */
export async function readImport(raw: Record<string, unknown>): Promise<ReadImport> {
  const n8n = raw.format === WORKFLOW_FORMAT ? undefined : n8nWorkflowIn(raw);
  if (!n8n) assertCounted(raw);
  const { file, report } = n8n ? convertN8n(n8n) : { file: fileOf(raw), report: null };
  if (n8n) assertCounted({ ...file });
  const { workflows } = file.requires;
  for (const [what, list] of Object.entries({ agents: file.requires.agents, workflows: workflows ?? [] })) {
    const keys = list.map(({ key }) => key);
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    if (twice !== undefined) throw refused(`The file describes two ${what} under the key "${twice}". Give each a key of its own.`);
  }
  const children: typeof workflows = workflows && [];
  for (const [index, one] of (workflows ?? []).entries())
    children?.push({ ...one, ...(await savable(one, `file.requires.workflows.${index}`, `The graph of "${one.name}"`)) });
  const own = await savable(file, "file", "The graph");
  return { file: { ...file, ...own, requires: { ...file.requires, ...(children && { workflows: children }) } }, report };
}

/** @throws AppError VALIDATION_ERROR with the structural faults of a graph in the file */
async function savable(graph: Graph, at: string, what: string): Promise<Graph> {
  try {
    return await checkedGraph(graph);
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw refused(
      `${what} in the file cannot be saved. ${error.message}`,
      (error.errors ?? []).map(({ path, message }) => ({ path: `${at}.${path}`, message })),
      error.total,
    );
  }
}

/**
 * The graph of a file for a workflow that is open already, with the agents that are to be made for it. Makes no workflow: where
 * the nodes go, and that names stay unique there, is the editor's to see to.
 * @throws AppError as linkFile does
 */
export const importGraph = (principal: ProjectPrincipal, input: ImportGraphInput): Promise<Graph> =>
  linkFile(principal, input, async (graph) => graph);

/**
 * Makes a workflow of a file, with the agents that are to be made for it: all of it or nothing. What is left open is kept
 * in the nodes' data and told as problems of the workflow. A workflow with a schedule is off unless `enabled` says otherwise.
 * @throws AppError as linkFile does; CONFLICT when the project holds as much as it may
 */
export async function importWorkflow(principal: ProjectPrincipal, input: ImportWorkflowInput): Promise<ImportedWorkflow> {
  await assertRoom(principal.project.id);
  const { row, graph, report } = await linkFile(principal, input, async (made, { file, report }, tx) => {
    const enabled = input.enabled ?? triggerKind(file) !== "schedule";
    const { name = file.name } = input;
    const { graph, ...row } = await insertWorkflow(tx, principal, { name, description: file.description, enabled }, made);
    return { graph, report, row };
  });
  return { ...(await workflowDto(principal.project.id, row, graph)), import_report: report };
}

/** Time for the writes of a file with many agents, in milliseconds. */
const MOST_MS = 30_000;

const changedMeanwhile = () =>
  new AppError("CONFLICT", "An agent, a key or something else that this import needs changed in this moment. Import the file again.");

async function makeSkills(
  tx: Prisma.TransactionClient,
  principal: ProjectPrincipal,
  skills: (FileSkill & { id: string })[],
): Promise<void> {
  for (const { id, name, description, prompt, model } of skills) {
    await tx.skill.create({
      data: { id, project_id: principal.project.id, name, description, prompt: prompt ?? "", model: model || null },
    });
    await recordAudit(tx, principal, { action: "skill.create", resource_type: "skill", resource_id: id, resource_name: name });
  }
}

/** What the nodes of one agent get in their data. */
async function linked(tx: Prisma.TransactionClient, principal: ProjectPrincipal, plan: AgentPlan) {
  if (plan.action === "use") return { agent_id: plan.agent_id };
  if (plan.action === "open") return plan.definition ? { agent_id: "", imported_agent: plan.definition } : {};
  const { name, prepared, open } = plan;
  const { id } = await insertAgent(tx, principal, name, prepared);
  const detail = { model: prepared.data.model };
  await recordAudit(tx, principal, { action: "agent.create", resource_type: "agent", resource_id: id, resource_name: name, detail });
  return { agent_id: id, ...(open && { imported_agent: open }) };
}

/** Makes a workflow that nodes of the file run. @returns its id */
async function makeWorkflow(
  tx: Prisma.TransactionClient,
  principal: ProjectPrincipal,
  { name, description }: FileWorkflow,
  graph: Graph,
): Promise<string> {
  const enabled = triggerKind(graph) !== "schedule";
  return (await insertWorkflow(tx, principal, { name, description, enabled }, graph)).id;
}

/** The graph with the ids that workflows of the file have here. */
const withWorkflows = ({ nodes, edges }: Graph, byKey: ReadonlyMap<unknown, string>): Graph => ({
  edges,
  nodes: nodes.map((node) => {
    const workflow_id = node.type === workflowNode.type ? byKey.get(node.data.workflow_id) : undefined;
    return workflow_id === undefined ? node : { ...node, data: { ...node.data, workflow_id } };
  }),
});

type LinkedData = { agent_id?: string; imported_agent?: Omit<ImportedAgent, "agent_id"> };

/** The graph with what stands here for the agents of the file. */
const withLinks = ({ nodes, edges }: Graph, byKey: ReadonlyMap<unknown, LinkedData>): Graph => ({
  edges,
  nodes: nodes.map((node) => {
    const given = byKey.get(node.data.agent_id);
    if (!given) return node;
    const { imported_agent, ...rest } = given;
    const open = imported_agent && { imported_agent: { agent_id: rest.agent_id ?? "", ...imported_agent } };
    return { ...node, data: { ...node.data, ...rest, ...open } };
  }),
});

/**
 * Makes the agents and skills that are to be made for a file, and hands on its graph with what stands here for them: all of it
 * or nothing. What is left open is kept in the nodes' data.
 * @param finish what else belongs to the same transaction
 * @throws AppError VALIDATION_ERROR for what is no workflow file, a graph with faults, or a link to what is not here;
 *   UPSTREAM_ERROR with the provider's message when an agent's check call fails; CONFLICT when something changed meanwhile
 */
export async function linkFile<Result>(
  principal: ProjectPrincipal,
  input: ImportGraphInput,
  finish: (graph: Graph, read: ReadImport, tx: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> {
  const project_id = principal.project.id;
  const read = await readImport(input.file);
  const { file } = read;
  // What comes along is stored too, also where the file itself goes into a workflow that is there.
  if (file.requires.workflows) await assertRoom(project_id);
  const needs = await findNeeds(project_id, file);
  const links = await planLinks(project_id, needs, input.links);
  const missing = [...needs.skills].flatMap(([name, existing]) => (existing ? [] : [name]));
  const newSkills = file.requires.skills
    .filter(({ name, prompt }) => prompt !== null && missing.includes(name))
    .map((skill) => ({ ...skill, id: uuid() }));
  const plans = await planAgents(project_id, needs, links, newSkills);
  try {
    return await db().$transaction(
      async (tx) => {
        await lockAgentNames(tx, principal.project.id);
        await makeSkills(tx, principal, newSkills);
        const byKey = new Map<unknown, LinkedData>();
        for (const plan of plans) byKey.set(plan.key, await linked(tx, principal, plan));
        const workflows = new Map<unknown, string>();
        const withAll = (graph: Graph) => withWorkflows(withLinks(graph, byKey), workflows);
        for (const { definition, existing } of needs.workflows)
          workflows.set(definition.key, existing?.id ?? (await makeWorkflow(tx, principal, definition, withAll(definition))));
        return await finish(withAll(file), read, tx);
      },
      { timeout: MOST_MS },
    );
  } catch (error) {
    throw isUniqueViolation(error) || isForeignKeyViolation(error) ? changedMeanwhile() : error;
  }
}

const linkable = (needs: Needs, list: "mcp_servers" | "rag_sources") =>
  [...needs[list]].map(([name, existing]) => ({
    name,
    existing: existing ?? null,
    agents: needs.agents.flatMap(({ definition }) => (definition?.[list].includes(name) ? [definition.name] : [])),
  }));

/**
 * What an import of this file would have to link. Changes nothing.
 * @throws AppError VALIDATION_ERROR for what is no workflow file, or a graph with structural faults
 */
export async function checkImport({ project }: ProjectPrincipal, input: CheckImportInput): Promise<ImportCheck> {
  const { file, report } = await readImport(input.file);
  const needs = await findNeeds(project.id, file);
  const agents = needs.agents.map(({ key, definition, existing, nodes }) => ({
    key,
    name: definition?.name ?? existing?.name ?? "",
    model: definition?.model ?? "",
    provider: definition?.provider ?? null,
    needs_tools: definition !== undefined && definition.tools.length + definition.mcp_servers.length + definition.rag_sources.length > 0,
    is_defined: definition !== undefined,
    existing: existing ?? null,
    nodes,
  }));
  return {
    name: file.name,
    description: file.description,
    node_count: file.nodes.length,
    trigger: triggerKind(file),
    agents,
    mcp_servers: linkable(needs, "mcp_servers"),
    rag_sources: linkable(needs, "rag_sources"),
    skills: [...needs.skills].map(([name, existing]) => ({ name, exists: existing !== undefined })),
    workflows: needs.workflows.map(({ definition: { name: child }, existing }) => ({ name: child, exists: existing !== undefined })),
    credentials: needs.credentials,
    masked: file.masked ?? [],
    is_complete: agents.every(({ existing }) => existing !== null) && needs.credentials.every(({ exists }) => exists),
    import_report: report,
  };
}
