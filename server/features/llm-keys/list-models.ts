import { endpointOf } from "#server/features/llm-keys/endpoint-of.ts";
import { findLlmKey } from "#server/features/llm-keys/find-llm-key.ts";
import type { ModelList } from "#server/features/llm-keys/schema.ts";
import { listProviderModels } from "#server/llm/models.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";

/**
 * The models that a key can call, live from the vendor or, when that fails, a short curated list.
 * @throws AppError NOT_FOUND
 */
export async function listModels(principal: ProjectPrincipal, { key_id }: { key_id: string }): Promise<ModelList> {
  const key = await findLlmKey(principal.project.id, key_id);
  if (!key) throw notFound("LLM key");
  return listProviderModels(endpointOf(key));
}
