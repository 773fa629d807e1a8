import { Prisma } from "#prisma/generated/client.ts";
import { type Abilities, checkAbilities, hasTools, saveLinks } from "#server/features/agents/abilities.ts";
import { findAgent, toAgent, withLinks } from "#server/features/agents/find-agent.ts";
import type { Agent, CreateAgentInput, UpdateAgentInput } from "#server/features/agents/schema.ts";
import { chooseLlmKey, endpointOf } from "#server/features/llm-keys/stored-key.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { type ModelChoice, validateModel } from "#server/llm/validate-model.ts";
import { deleteResource, namesInUse, nameTaken, saveResource } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation, notFound } from "#server/platform/errors.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { havingWords } from "#server/platform/search-words.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";

/**
 * One agent of the project.
 * @throws AppError NOT_FOUND
 */
export async function getAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<Agent> {
  return toAgent(await findAgent(principal.project.id, agent_id));
}

/** The project's agents, newest first. */
export async function listAgents(principal: ProjectPrincipal, input: ListInput): Promise<Page<Agent>> {
  const where = {
    project_id: principal.project.id,
    ...havingWords(input.q, (text) => [{ name: text }, { description: text }, { model: text }]),
  };
  const rows = db().agent.findMany({ where, orderBy: { id: "desc" }, include: withLinks, ...pageWindow(input) });
  return paged(input, await Promise.all([db().agent.count({ where }), rows]), toAgent);
}

const deletedMeanwhile = () =>
  new AppError("VALIDATION_ERROR", "The LLM key, an MCP server or a RAG source was deleted in this moment. Choose again.");

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
  record: { action: "agent.create" | "agent.update"; name: string; detail?: Prisma.InputJsonObject; at?: Date },
  write: (tx: Prisma.TransactionClient) => Promise<{ id: string; name: string }>,
): Promise<Agent> {
  try {
    const { id } = await saveResource(principal, { what: "an agent", resource_type: "agent", ...record }, write);
    return toAgent(await findAgent(principal.project.id, id));
  } catch (error) {
    throw isForeignKeyViolation(error) ? deletedMeanwhile() : error;
  }
}

/** An agent that may be written: its resources are there, and its model is known to take the call. */
export interface NewAgent {
  data: Omit<Prisma.AgentUncheckedCreateInput, "id" | "name" | "project_id">;
  abilities: Abilities;
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
      output_schema: (output_schema as Prisma.InputJsonObject | null) ?? Prisma.DbNull,
    },
    abilities,
    trial: { endpoint, choice: { model, temperature, hasTools: hasTools(abilities) } },
  };
}

/** Writes a prepared agent with its links. */
export async function insertAgent(
  tx: Prisma.TransactionClient,
  { project_id, name }: { project_id: string; name: string },
  { data, abilities }: Pick<NewAgent, "data" | "abilities">,
): Promise<{ id: string; name: string }> {
  const agent = await tx.agent.create({ data: { ...data, project_id, name }, select: { id: true, name: true } });
  await saveLinks(tx, { project_id, agent_id: agent.id }, abilities);
  return agent;
}

/**
 * Creates an agent after one live call with its key and model, which offers a tool when the agent has any.
 * @throws AppError VALIDATION_ERROR (unknown key or other resource, tools that the kind cannot call, a schema that cannot
 *   be checked), CONFLICT (name), UPSTREAM_ERROR with the provider's message; nothing is saved then
 */
export async function createAgent(principal: ProjectPrincipal, { name, ...input }: CreateAgentInput): Promise<Agent> {
  const project_id = principal.project.id;
  const prepared = await prepareAgent(project_id, input as Omit<CreateAgentInput, "name">);
  await assertNameFree(project_id, name);
  await validateModel(prepared.trial.endpoint, prepared.trial.choice);
  return saveAgent(principal, { action: "agent.create", name, detail: { model: input.model } }, (tx) =>
    insertAgent(tx, { project_id, name }, prepared),
  );
}

const MOST_SAVES = 50;

const changedIn = (detail: unknown): string[] => {
  const { changed } = Object(detail) as { changed?: unknown };
  return Array.isArray(changed) ? changed.filter((field): field is string => typeof field === "string") : [];
};

/**
 * The refusal of a change that was made on an agent as it is no longer: who saved it since, and what is different.
 * @param since when the agent was saved that the change begins from, as its `updated_at` told
 */
async function savedMeanwhile(project_id: string, agent_id: string, since: Date): Promise<AppError> {
  const entries = await db().auditEntry.findMany({
    where: { project_id, resource_type: "agent", resource_id: agent_id, action: "agent.update", created_at: { gt: since } },
    orderBy: { id: "desc" },
    take: MOST_SAVES,
    select: { actor_id: true, actor_email: true, detail: true },
  });
  const saves = entries
    .map(({ detail, ...entry }) => ({ ...entry, changed: changedIn(detail) }))
    .filter(({ changed }) => changed.length > 0);
  const [last] = saves;
  const actor = last?.actor_id ? await db().user.findUnique({ where: { id: last.actor_id }, select: { name: true } }) : null;
  const who = actor?.name || last?.actor_email || "Somebody";
  const fields = [...new Set(saves.flatMap(({ changed }) => changed))].sort();
  const what = fields.length ? ` (changed: ${fields.join(", ")})` : "";
  const said = `${who} saved this agent after you loaded it`;
  const message = `${said}${what}. Load it again, or leave if_unchanged_since out to write over that.`;
  return new AppError("CONFLICT", message, { errors: [{ path: "if_unchanged_since", message: `${said}.` }] });
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
    ...(output_schema !== undefined && { output_schema: (output_schema as Prisma.InputJsonObject | null) ?? Prisma.DbNull }),
  };
}

/**
 * Changes an agent; fields left out keep their value. A change of what the provider is asked with (key, model,
 * temperature, the first tool) makes one live call first.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR, CONFLICT and UPSTREAM_ERROR as at creation, CONFLICT also when the agent was
 *   saved after `if_unchanged_since`, and nothing is changed then
 */
export async function updateAgent(principal: ProjectPrincipal, input: UpdateAgentInput): Promise<Agent> {
  const project_id = principal.project.id;
  const row = await findAgent(project_id, input.agent_id);
  const before = toAgent(row);
  const { if_unchanged_since: since } = input;
  const stale = () => savedMeanwhile(project_id, row.id, new Date(since ?? 0));
  if (since !== undefined && Date.parse(since) !== row.updated_at.getTime()) throw await stale();
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
  if (changed.length === 0) return before;
  if (changed.includes("name")) await assertNameFree(project_id, after.name, before.id);
  const isAskedOtherwise = changed.some((field) => field === "llm_key_id" || field === "model" || field === "temperature");
  if (isAskedOtherwise || (hasTools(after) && !hasTools(before)))
    await validateModel(endpoint, { model: after.model, temperature: after.temperature, hasTools: hasTools(after) });

  const at = new Date();
  return saveAgent(principal, { action: "agent.update", name: after.name, detail: { changed }, at }, async (tx) => {
    const { count } = await tx.agent.updateMany({
      where: { id: before.id, project_id, ...(since !== undefined && { updated_at: row.updated_at }) },
      // Results of earlier runs are told apart by it from what the agent would answer now.
      data: { ...columnsOf(given), updated_at: at },
    });
    if (count === 0)
      throw since !== undefined && (await tx.agent.count({ where: { id: before.id } })) > 0 ? await stale() : notFound("agent");
    await saveLinks(tx, { project_id, agent_id: before.id }, given);
    return after;
  });
}

async function agentInUse(project_id: string, agent_id: string): Promise<string | undefined> {
  const where = { project_id, deleted_at: null, agent_uses: { some: { agent_id } } };
  const workflows = await db().workflow.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  return workflows.length ? `The agent is used in ${namesInUse("workflow", workflows)}. Take it out there first.` : undefined;
}

/**
 * Deletes an agent of the project. Runs that used it keep their results.
 * @throws AppError NOT_FOUND; CONFLICT that names the workflows that use it
 */
export async function deleteAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<void> {
  const project_id = principal.project.id;
  const { id, name } = await findAgent(project_id, agent_id);
  const record = { action: "agent.delete", resource_type: "agent", resource_id: id, resource_name: name };
  await deleteResource(
    principal,
    "agent",
    record,
    (tx) => tx.agent.deleteMany({ where: { id } }),
    () => agentInUse(project_id, id),
  );
}
