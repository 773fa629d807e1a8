import { Prisma } from "#prisma/generated/client.ts";
import { type Abilities, checkAbilities, hasTools } from "#server/features/agents/check-abilities.ts";
import { assertNameFree, saveAgent } from "#server/features/agents/save-agent.ts";
import { saveLinks } from "#server/features/agents/save-links.ts";
import type { Agent, CreateAgentInput } from "#server/features/agents/schema.ts";
import { chooseLlmKey } from "#server/features/llm-keys/choose-llm-key.ts";
import { endpointOf } from "#server/features/llm-keys/endpoint-of.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { type ModelChoice, validateModel } from "#server/llm/validate-model.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { AppError } from "#server/platform/errors.ts";

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
