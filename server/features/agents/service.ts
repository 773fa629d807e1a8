import type { z } from "zod";
import { Prisma } from "#prisma/generated/client.ts";
import { type Abilities, checkAbilities, hasTools, saveLinks } from "#server/features/agents/abilities.ts";
import { assertAgent, findAgent, type KeyedAgentRow, toAgent, withLinks } from "#server/features/agents/find-agent.ts";
import type { Agent, AgentWorkflow, CreateAgentInput, UpdateAgentInput, UpdatedAgent } from "#server/features/agents/schema.ts";
import { keepVersion, restorable, savedMeanwhile } from "#server/features/agents/versions.ts";
import { chooseLlmKey, endpointOf } from "#server/features/llm-keys/stored-key.ts";
import { lockAgentNames } from "#server/features/workflows/agent-names.ts";
import { type ChangedWorkflows, renameInWorkflows } from "#server/features/workflows/rename-agent.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { type ModelChoice, validateModel } from "#server/llm/validate-model.ts";
import { deleteResource, namesInUse, nameTaken, saveResource } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError, invalidField, isForeignKeyViolation, notFound } from "#server/platform/errors.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { noteStored } from "#server/runs/store/space.ts";
import type { ListInput, Page, PageInput } from "#server/shared/primitives-schema.ts";
import { isReserved } from "#server/workflow/expressions.ts";

/**
 * One agent of the project.
 * @throws AppError NOT_FOUND
 */
export async function getAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<Agent> {
  return toAgent(await findAgent(principal.project.id, agent_id));
}

/** The project's agents, newest first. */
export async function listAgents(principal: ProjectPrincipal, input: ListInput): Promise<Page<Agent>> {
  const from = Prisma.sql`agents x WHERE x.project_id = ${principal.project.id}::uuid`;
  const { total, ids } = await findPage(input, from, Prisma.sql`concat_ws(' ', x.name, x.description, x.model)`);
  const rows = await db().agent.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" }, include: withLinks });
  return paged(input, [total, rows], toAgent);
}

const deletedMeanwhile = () =>
  new AppError("VALIDATION_ERROR", "The LLM key, an MCP server or a RAG source was deleted in this moment. Choose again.");

/** @throws AppError VALIDATION_ERROR for a new name that expressions read as something else */
function assertReadable(name: string): void {
  if (!isReserved(name)) return;
  throw invalidField("name", `"${name}" is reserved: {{${name}.…}} reads something else in a workflow. Choose another name.`);
}

/**
 * Asks early, so that nobody waits for a live call only to hear that the name is taken.
 * @throws AppError CONFLICT
 */
async function assertNameFree(projectId: string, name: string, exceptAgentId?: string): Promise<void> {
  const other = await db().agent.findFirst({
    where: { project_id: projectId, name, ...(exceptAgentId && { id: { not: exceptAgentId } }) },
    select: { id: true },
  });
  if (other) throw nameTaken("an agent", name);
}

/**
 * Writes an agent and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name taken meanwhile, VALIDATION_ERROR for a key, server or source deleted meanwhile
 */
async function saveAgent(
  principal: ProjectPrincipal,
  record: { action: "agent.create" | "agent.update" | "agent.restore"; name: string; detail?: Prisma.InputJsonObject },
  write: (tx: Prisma.TransactionClient) => Promise<{ id: string; name: string }>,
): Promise<Agent> {
  try {
    const { id } = await saveResource(principal, { what: "an agent", resource_type: "agent", ...record }, write);
    const agent = toAgent(await findAgent(principal.project.id, id));
    noteStored(principal.project.id, "other", JSON.stringify(agent).length);
    return agent;
  } catch (error) {
    throw isForeignKeyViolation(error) ? deletedMeanwhile() : error;
  }
}

/** An agent that may be written: its resources are there, and its model is known to take the call. */
export interface NewAgent {
  data: Pick<KeyedAgentRow, "description" | "llm_key_id" | "model" | "system_prompt" | "temperature" | "max_tokens" | "tools">;
  abilities: Abilities;
  key: KeyedAgentRow["llm_key"];
  /** The live call that is still to be made. */
  trial: { endpoint: ModelEndpoint; choice: ModelChoice };
}

/**
 * Checks what an agent is made of; calls nobody and writes nothing.
 * @throws AppError VALIDATION_ERROR (unknown key or other resource, tools that the kind cannot call, a schema that cannot be checked)
 */
export async function prepareAgent(project_id: string, input: Omit<CreateAgentInput, "name">): Promise<NewAgent> {
  const key = await chooseLlmKey(project_id, input.llm_key_id);
  const endpoint = endpointOf(key);
  const { tools = [], mcp_server_ids = [], rag_ids = [], skill_ids = [], output_schema = null } = input;
  const abilities: Abilities = { tools: [...new Set(tools)], mcp_server_ids, rag_ids, skill_ids, output_schema };
  const errors = await checkAbilities(project_id, abilities, abilities, endpoint.provider);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  const { description = "", model, system_prompt = "", temperature = null, max_tokens = null } = input;
  return {
    data: {
      description,
      llm_key_id: key.id,
      model,
      system_prompt,
      temperature,
      max_tokens,
      tools: abilities.tools,
    },
    abilities,
    key,
    trial: { endpoint, choice: { model, temperature, hasTools: hasTools(abilities) } },
  };
}

/**
 * An agent as a configuration describes it, that can be asked although it is not saved: its version is 0.
 * @param id under which its usage is counted
 * @throws AppError VALIDATION_ERROR as `prepareAgent`
 */
export async function unsavedAgent(project_id: string, config: Omit<CreateAgentInput, "name">, id: string): Promise<KeyedAgentRow> {
  const { data, abilities, key } = await prepareAgent(project_id, config);
  const { mcp_server_ids, rag_ids, skill_ids } = abilities;
  const now = new Date();
  return {
    ...data,
    id,
    project_id,
    name: "",
    version: 0,
    former_names: [],
    created_at: now,
    updated_at: now,
    output_schema: await asStored(abilities.output_schema),
    llm_key: key,
    mcp_servers: mcp_server_ids.map((mcp_server_id) => ({ mcp_server_id })),
    rag_sources: rag_ids.map((rag_source_id) => ({ rag_source_id })),
    skills: skill_ids.map((skill_id) => ({ skill_id })),
  };
}

/** The schema as it would be stored: the database keeps the keys of an object in an order of its own. */
async function asStored(schema: Agent["output_schema"]): Promise<Prisma.JsonObject | null> {
  if (!schema) return null;
  const { rows } = await pool().query<{ schema: Prisma.JsonObject }>("SELECT $1::jsonb AS schema", [JSON.stringify(schema)]);
  return rows[0]?.schema ?? null;
}

const schemaColumn = (schema: object | null) => (schema ? jsonColumn(schema) : Prisma.DbNull);

/** Writes a prepared agent with its links, as version 1. */
export async function insertAgent(
  tx: Prisma.TransactionClient,
  { project, user }: ProjectPrincipal,
  name: string,
  { data, abilities }: Pick<NewAgent, "data" | "abilities">,
): Promise<{ id: string; name: string }> {
  const columns = { ...data, output_schema: schemaColumn(abilities.output_schema), project_id: project.id, name };
  const agent = await tx.agent.create({ data: columns, select: { id: true, name: true } });
  await saveLinks(tx, { project_id: project.id, agent_id: agent.id }, abilities);
  await keepVersion(tx, agent.id, { saved_by_id: user.id, changed: [], restored_from: null });
  return agent;
}

/**
 * Creates an agent after one live call with its key and model, which offers a tool when the agent has any.
 * @throws AppError VALIDATION_ERROR (unknown key or other resource, tools that the kind cannot call, a schema that cannot
 *   be checked), CONFLICT (name), UPSTREAM_ERROR with the provider's message; nothing is saved then
 */
export async function createAgent(principal: ProjectPrincipal, { name, ...input }: CreateAgentInput): Promise<Agent> {
  const project_id = principal.project.id;
  assertReadable(name);
  const prepared = await prepareAgent(project_id, input as Omit<CreateAgentInput, "name">);
  await assertNameFree(project_id, name);
  await assertRoom(project_id);
  await validateModel(prepared.trial.endpoint, prepared.trial.choice);
  return saveAgent(principal, { action: "agent.create", name, detail: { model: input.model } }, (tx) =>
    insertAgent(tx, principal, name, prepared),
  );
}

const LINKS = ["mcp_server_ids", "rag_ids", "skill_ids"] as const;
const FIELDS = [
  ...(["name", "description", "llm_key_id", "model", "system_prompt", "temperature", "max_tokens", "tools", "output_schema"] as const),
  ...LINKS,
] as const;

type Fields = Pick<Agent, (typeof FIELDS)[number]>;

/** The fields that a call sets, without those it leaves out. */
function givenIn(input: UpdateAgentInput): Partial<Fields> {
  const given = Object.fromEntries(FIELDS.flatMap((field) => (input[field] === undefined ? [] : [[field, input[field]]])));
  return given as Partial<Fields>;
}

/** A field's value, so that lists whose order means nothing compare equal. */
const comparable = (value: unknown): string => JSON.stringify(Array.isArray(value) ? [...new Set(value)].sort() : value);

/** The columns of the agent's own row among the given fields. */
function columnsOf({ mcp_server_ids: _, rag_ids: __, skill_ids: ___, output_schema, tools, ...rest }: Partial<Fields>) {
  return {
    ...rest,
    ...(tools && { tools: [...new Set(tools)] }),
    ...(output_schema !== undefined && { output_schema: schemaColumn(output_schema) }),
  };
}

/**
 * Changes an agent, which makes its next version; fields left out keep their value, and a call that changes nothing writes
 * nothing. A change of what the provider is asked with (key, model, temperature, the first tool) makes one live call first.
 * A new name is written into every workflow that reads the agent by its name.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR, CONFLICT and UPSTREAM_ERROR as at creation, CONFLICT also when the agent was
 *   saved after `version` or `if_unchanged_since`, or when a workflow cannot follow a new name, and nothing is changed then
 */
export const updateAgent = (principal: ProjectPrincipal, input: UpdateAgentInput): Promise<UpdatedAgent> => changeAgent(principal, input);

/**
 * Makes a kept version of an agent its next one. The agent keeps its name, by which workflows read its answers.
 * @throws AppError NOT_FOUND for the agent or the version; VALIDATION_ERROR when something of it is no longer in the project;
 *   UPSTREAM_ERROR with the provider's message; nothing is changed then
 */
export async function restoreAgentVersion(
  principal: ProjectPrincipal,
  { agent_id, version }: { agent_id: string; version: number },
): Promise<Agent> {
  const { id } = await assertAgent(principal.project.id, agent_id);
  const { workflows_changed: _, ...agent } = await changeAgent(principal, { agent_id: id, ...(await restorable(id, version)) }, version);
  return agent;
}

/** Former names that are kept of an agent, by which graphs that clients read before a rename are still understood. */
const MAX_FORMER_NAMES = 20;

/**
 * Makes all that reads an agent by its name follow a new one.
 * @returns the names that it then had before, and the workflows that were changed
 * @throws AppError CONFLICT when a workflow cannot follow
 */
async function rename(tx: Prisma.TransactionClient, principal: ProjectPrincipal, id: string, to: string) {
  await lockAgentNames(tx, principal.project.id, "rename");
  const row = await tx.agent.findUnique({ where: { id }, select: { name: true, former_names: true } });
  if (!row || row.name === to) return { former_names: row?.former_names ?? [], workflows: NONE };
  const former_names = [...row.former_names.filter((name) => name !== to && name !== row.name), row.name].slice(-MAX_FORMER_NAMES);
  return { former_names, workflows: await renameInWorkflows(tx, principal, { id, from: row.name, to }) };
}

const NONE: ChangedWorkflows = { items: [], total: 0 };

/** @param restored_from the version that the input is */
async function changeAgent(principal: ProjectPrincipal, input: UpdateAgentInput, restored_from?: number): Promise<UpdatedAgent> {
  const project_id = principal.project.id;
  const row = await findAgent(project_id, input.agent_id);
  const before = toAgent(row);
  const { version, if_unchanged_since: since } = input;
  const stale = (tx?: Prisma.TransactionClient) =>
    savedMeanwhile(
      row.id,
      version === undefined ? { path: "if_unchanged_since", since: new Date(since ?? 0) } : { path: "version", version },
      tx,
    );
  const isStale = (version ?? row.version) !== row.version || (since !== undefined && Date.parse(since) !== row.updated_at.getTime());
  if (isStale) throw await stale();
  const key =
    input.llm_key_id === undefined || input.llm_key_id === before.llm_key_id
      ? row.llm_key
      : await chooseLlmKey(project_id, input.llm_key_id);
  const endpoint = endpointOf(key);
  const given = givenIn(input);
  const after = { ...before, ...given };
  const errors = await checkAbilities(project_id, given, after, endpoint.provider);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });

  const changed = FIELDS.filter((field) => given[field] !== undefined && comparable(given[field]) !== comparable(before[field]));
  // Nothing is written then: what others save in this moment stays, and its time.
  if (changed.length === 0 && restored_from === undefined) return { ...before, workflows_changed: NONE };
  const isRenamed = changed.includes("name");
  if (isRenamed) {
    assertReadable(after.name);
    await assertNameFree(project_id, after.name, before.id);
  }
  await assertRoom(project_id);
  const isAskedOtherwise = changed.some((field) => field === "llm_key_id" || field === "model" || field === "temperature");
  if (isAskedOtherwise || (hasTools(after) && !hasTools(before)))
    await validateModel(endpoint, { model: after.model, temperature: after.temperature, hasTools: hasTools(after) });

  const action = restored_from === undefined ? "agent.update" : "agent.restore";
  const detail = { changed, ...(restored_from !== undefined && { restored_from }) };
  let workflows_changed = NONE;
  const saved = await saveAgent(principal, { action, name: after.name, detail }, async (tx) => {
    const renamed = isRenamed ? await rename(tx, principal, before.id, after.name) : undefined;
    workflows_changed = renamed?.workflows ?? NONE;
    const { count } = await tx.agent.updateMany({
      where: {
        id: before.id,
        project_id,
        ...(version !== undefined && { version }),
        ...(since !== undefined && { updated_at: row.updated_at }),
      },
      // Results of earlier runs are told apart by the time from what the agent would answer now.
      data: {
        ...columnsOf(given),
        ...(renamed && { former_names: renamed.former_names }),
        version: { increment: 1 },
        updated_at: new Date(),
      },
    });
    if (count === 0) throw (await tx.agent.count({ where: { id: before.id } })) > 0 ? await stale(tx) : notFound("agent");
    await saveLinks(tx, { project_id, agent_id: before.id }, given);
    await keepVersion(tx, before.id, { saved_by_id: principal.user.id, changed, restored_from: restored_from ?? null });
    return after;
  });
  return { ...saved, workflows_changed };
}

const usedBy = (project_id: string, agent_id: string) => ({ project_id, deleted_at: null, agent_uses: { some: { agent_id } } });

/**
 * The workflows whose saved version or draft asks an agent, by name: what a change of it reaches.
 * @throws AppError NOT_FOUND
 */
export async function listAgentWorkflows(
  { project }: ProjectPrincipal,
  { agent_id, ...input }: PageInput & { agent_id: string },
): Promise<Page<z.infer<typeof AgentWorkflow>>> {
  const { id } = await assertAgent(project.id, agent_id);
  const where = usedBy(project.id, id);
  const select = { id: true, name: true, enabled: true } as const;
  const rows = db().workflow.findMany({ where, select, orderBy: [{ name: "asc" }, { id: "asc" }], ...pageWindow(input) });
  return paged(input, await Promise.all([db().workflow.count({ where }), rows]), (row) => row);
}

async function agentInUse(project_id: string, agent_id: string): Promise<string | undefined> {
  const workflows = await db().workflow.findMany({ where: usedBy(project_id, agent_id), select: { name: true }, orderBy: { name: "asc" } });
  return workflows.length ? `The agent is used in ${namesInUse("workflow", workflows)}. Take it out there first.` : undefined;
}

/**
 * Deletes an agent of the project. Runs that used it keep their results.
 * @throws AppError NOT_FOUND; CONFLICT that names the workflows that use it
 */
export async function deleteAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<void> {
  const project_id = principal.project.id;
  const { id, name } = await findAgent(project_id, agent_id);
  const record = { action: "agent.delete", resource_type: "agent", resource_id: id, resource_name: name } as const;
  await deleteResource(
    principal,
    "agent",
    record,
    (tx) => tx.agent.deleteMany({ where: { id } }),
    () => agentInUse(project_id, id),
  );
}
