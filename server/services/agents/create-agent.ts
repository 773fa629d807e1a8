import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { AppError } from "#server/errors.ts";
import type { Agent, CreateAgentInput } from "#server/schemas/agent.ts";
import { checkAbilities } from "#server/services/agents/check-abilities.ts";
import { chooseLlmKey } from "#server/services/agents/choose-llm-key.ts";
import { assertNameFree, saveAgent } from "#server/services/agents/save-agent.ts";
import { validateModel } from "#server/services/agents/validate-model.ts";
import { endpointOf } from "#server/services/llm-keys/endpoint-of.ts";

/**
 * Creates an agent after one live call with its key and model.
 * @throws AppError VALIDATION_ERROR (unknown key, something this version does not do), CONFLICT (name), UPSTREAM_ERROR
 *   with the provider's message; nothing is saved then
 */
export async function createAgent(principal: ProjectPrincipal, input: CreateAgentInput): Promise<Agent> {
  const project_id = principal.project.id;
  const key = await chooseLlmKey(project_id, input.llm_key_id);
  const endpoint = endpointOf(key);
  const errors = checkAbilities(input, endpoint.provider);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  await assertNameFree(project_id, input.name);
  const { name, description = "", model, system_prompt = "", temperature = null, max_tokens = null } = input;
  await validateModel(endpoint, model, temperature);
  return saveAgent(principal, { action: "agent.create", name, detail: { model } }, (tx) =>
    tx.agent.create({
      data: { project_id, name, description, llm_key_id: key.id, model, system_prompt, temperature, max_tokens },
      select: { id: true, name: true },
    }),
  );
}
