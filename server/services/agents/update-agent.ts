import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { AppError, notFound } from "#server/errors.ts";
import type { Agent, UpdateAgentInput } from "#server/schemas/agent.ts";
import { checkAbilities } from "#server/services/agents/check-abilities.ts";
import { chooseLlmKey } from "#server/services/agents/choose-llm-key.ts";
import { findAgent } from "#server/services/agents/find-agent.ts";
import { assertNameFree, saveAgent } from "#server/services/agents/save-agent.ts";
import { validateModel } from "#server/services/agents/validate-model.ts";
import { endpointOf } from "#server/services/llm-keys/endpoint-of.ts";

const FIELDS = ["name", "description", "llm_key_id", "model", "system_prompt", "temperature", "max_tokens"] as const;

/** The fields that a call sets, without those it leaves out. */
type Given = { [Field in (typeof FIELDS)[number]]?: Agent[Field] };

/**
 * Changes an agent; fields left out keep their value. A change of what the provider is asked with (key, model,
 * temperature) makes one live call first.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR, CONFLICT and UPSTREAM_ERROR as at creation, and nothing is changed then
 */
export async function updateAgent(principal: ProjectPrincipal, input: UpdateAgentInput): Promise<Agent> {
  const project_id = principal.project.id;
  const before = await findAgent(project_id, input.agent_id);
  const key =
    input.llm_key_id === undefined || input.llm_key_id === before.llm_key_id
      ? before.llm_key
      : await chooseLlmKey(project_id, input.llm_key_id);
  const endpoint = endpointOf(key);
  const errors = checkAbilities(input, endpoint.provider);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });

  const given = Object.fromEntries(FIELDS.flatMap((field) => (input[field] === undefined ? [] : [[field, input[field]]]))) as Given;
  const changed = FIELDS.filter((field) => given[field] !== undefined && given[field] !== before[field]);
  const after = { ...before, ...given };
  if (changed.includes("name")) await assertNameFree(project_id, after.name, before.id);
  if (changed.some((field) => field === "llm_key_id" || field === "model" || field === "temperature"))
    await validateModel(endpoint, after.model, after.temperature);

  return saveAgent(principal, { action: "agent.update", name: after.name, detail: { changed } }, async (tx) => {
    const { count } = await tx.agent.updateMany({ where: { id: before.id, project_id }, data: given });
    if (count === 0) throw notFound("agent");
    return after;
  });
}
