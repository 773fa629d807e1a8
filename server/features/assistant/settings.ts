import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import type { AssistantSettings, UpdateAssistantSettingsInput } from "#server/features/assistant/schema.ts";
import { chooseLlmKey } from "#server/features/llm-keys/stored-key.ts";
import { type ProviderId, providerKind } from "#server/llm/kinds.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";

/** The key and the model that the assistant of a project works on, or why it cannot. */
export type AssistantModel = { key: LlmKeyRow; model: string; problem?: undefined } | { problem: string };

const NOT_CHOSEN = "The assistant has no model yet. An admin of the project chooses one in Settings, Project.";

/** Why models of a key cannot be the assistant's; undefined when they can. */
function unfit({ name, provider }: Pick<LlmKeyRow, "name" | "provider">): string | undefined {
  const kind = providerKind(provider as ProviderId); // cast: only rows of the provider table are ever stored
  if (kind.supportsTools) return undefined;
  return `The assistant works by calling tools, and models of ${kind.label} (LLM key "${name}") cannot. Choose a key of another provider.`;
}

/** What the assistant of a project works on now. */
export async function assistantModel(project_id: string): Promise<AssistantModel> {
  const row = await db().assistantSettings.findUnique({ where: { project_id }, include: { llm_key: true } });
  if (!row) return { problem: NOT_CHOSEN };
  const problem = unfit(row.llm_key);
  return problem === undefined ? { key: row.llm_key, model: row.model } : { problem };
}

/** What the assistant of the project works on, and whether it takes messages. */
export async function getSettings({ project }: ProjectPrincipal): Promise<AssistantSettings> {
  const row = await db().assistantSettings.findUnique({ where: { project_id: project.id } });
  const { problem } = await assistantModel(project.id);
  const chosen = { llm_key_id: row?.llm_key_id ?? null, model: row?.model ?? "" };
  return { ...chosen, ready: problem === undefined, ...(problem !== undefined && { problem }) };
}

/**
 * Chooses what the assistant of the project works on, or switches it off; what is left out stays.
 * @throws AppError VALIDATION_ERROR for a key that the project does not have, for one whose models cannot call tools, and for no
 *   model
 */
export async function updateSettings(principal: ProjectPrincipal, input: UpdateAssistantSettingsInput): Promise<AssistantSettings> {
  const { id: project_id, name } = principal.project;
  const before = await db().assistantSettings.findUnique({ where: { project_id } });
  const { llm_key_id = before?.llm_key_id ?? null, model = before?.model ?? "" } = input;
  const key = llm_key_id === null ? null : await chooseLlmKey(project_id, llm_key_id);
  const problem = key && unfit(key);
  if (problem) throw invalidField("llm_key_id", problem);
  if (key && model === "") throw invalidField("model", "Choose a model.");
  await db().$transaction(async (tx) => {
    const chosen = key && { llm_key_id: key.id, model };
    if (chosen) await tx.assistantSettings.upsert({ where: { project_id }, create: { project_id, ...chosen }, update: chosen });
    else await tx.assistantSettings.deleteMany({ where: { project_id } });
    const resource = { resource_type: "assistant", resource_id: project_id, resource_name: name } as const;
    await recordAudit(tx, principal, { action: "assistant.update", ...resource, detail: chosen ?? { llm_key_id: null } });
  });
  return getSettings(principal);
}
