import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { notFound } from "#server/errors.ts";
import { listProviderModels } from "#server/providers/models.ts";
import type { ModelList } from "#server/schemas/llm-key.ts";
import { endpointOf } from "#server/services/llm-keys/endpoint-of.ts";
import { findLlmKey } from "#server/services/llm-keys/find-llm-key.ts";

/**
 * The models that a key can call, live from the vendor or, when that fails, a short curated list.
 * @throws AppError NOT_FOUND
 */
export async function listModels(principal: ProjectPrincipal, { key_id }: { key_id: string }): Promise<ModelList> {
  const key = await findLlmKey(principal.project.id, key_id);
  if (!key) throw notFound("LLM key");
  return listProviderModels(endpointOf(key));
}
