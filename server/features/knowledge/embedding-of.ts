import { unknownLlmKey } from "#server/features/llm-keys/choose-llm-key.ts";
import { endpointOf } from "#server/features/llm-keys/endpoint-of.ts";
import { findLlmKey } from "#server/features/llm-keys/find-llm-key.ts";
import { type ModelPrice, ModelPrices } from "#server/features/llm-keys/schema.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { AppError } from "#server/platform/errors.ts";

/** A model that makes vectors, ready to call. */
export interface Embedding {
  endpoint: ModelEndpoint;
  model: string;
  /** The LLM key's own. */
  prices: ModelPrice[];
}

interface EmbeddingConfig {
  embedding_llm_key_id: string | null;
  embedding_model: string | null;
}

const names = (config: object): config is EmbeddingConfig => "embedding_llm_key_id" in config;

/**
 * The embedding model that a source's settings name; undefined when they name none.
 * @throws AppError VALIDATION_ERROR when the key is gone
 */
export async function embeddingOf(projectId: string, config: object): Promise<Embedding | undefined> {
  if (!names(config) || config.embedding_llm_key_id === null || config.embedding_model === null) return undefined;
  const key = await findLlmKey(projectId, config.embedding_llm_key_id);
  if (!key) throw new AppError("VALIDATION_ERROR", "The embedding key of the source is gone. Choose another one in its settings.");
  return { endpoint: endpointOf(key), model: config.embedding_model, prices: ModelPrices.parse(key.prices) };
}

/**
 * Checks that the key that the settings name is one of the project.
 * @throws AppError VALIDATION_ERROR at config.embedding_llm_key_id
 */
export async function assertEmbeddingKey(projectId: string, config: object): Promise<void> {
  if (!names(config) || config.embedding_llm_key_id === null || (await findLlmKey(projectId, config.embedding_llm_key_id))) return;
  const { message } = unknownLlmKey();
  throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "config.embedding_llm_key_id", message }] });
}
