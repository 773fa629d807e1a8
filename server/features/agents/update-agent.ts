import { Prisma } from "#prisma/generated/client.ts";
import { toAgent } from "#server/features/agents/agent-dto.ts";
import { checkAbilities, hasTools } from "#server/features/agents/check-abilities.ts";
import { findAgent } from "#server/features/agents/find-agent.ts";
import { assertNameFree, saveAgent } from "#server/features/agents/save-agent.ts";
import { saveLinks } from "#server/features/agents/save-links.ts";
import { savedMeanwhile } from "#server/features/agents/saved-meanwhile.ts";
import type { Agent, UpdateAgentInput } from "#server/features/agents/schema.ts";
import { chooseLlmKey } from "#server/features/llm-keys/choose-llm-key.ts";
import { endpointOf } from "#server/features/llm-keys/endpoint-of.ts";
import { validateModel } from "#server/llm/validate-model.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { AppError, notFound } from "#server/platform/errors.ts";

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
