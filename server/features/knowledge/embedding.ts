import { PaidMeter } from "#server/features/budgets/meter.ts";
import { embedTexts, maxInputsOf } from "#server/features/knowledge/embed-texts.ts";
import { type ModelPrice, ModelPrices } from "#server/features/llm-keys/schema.ts";
import { endpointOf, findLlmKey, unknownLlmKey } from "#server/features/llm-keys/stored-key.ts";
import { NO_ONE, recordUsage } from "#server/features/usage/record.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";

/** The vector scaled to length 1, so that a product of two is their cosine. */
export function normalized(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : [...vector];
}

/** A model that makes vectors, ready to call. */
interface Embedding {
  endpoint: ModelEndpoint;
  llm_key_id: string;
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
  return { endpoint: endpointOf(key), llm_key_id: key.id, model: config.embedding_model, prices: ModelPrices.parse(key.prices) };
}

/**
 * Checks that the key that the settings name is one of the project.
 * @throws AppError VALIDATION_ERROR at config.embedding_llm_key_id
 */
export async function assertEmbeddingKey(projectId: string, config: object): Promise<void> {
  if (!names(config) || config.embedding_llm_key_id === null || (await findLlmKey(projectId, config.embedding_llm_key_id))) return;
  const { message } = unknownLlmKey();
  throw invalidField("config.embedding_llm_key_id", message);
}

/** Returns the most texts that one call of the model takes, as far as is known. */
export const textsPerCall = ({ endpoint, model }: Embedding): number => maxInputsOf(endpoint, model);

/**
 * Vectors of texts, in the order of the texts, as the model gave them; the call is counted in the project's usage and budgets.
 * @throws as embedTexts does; OverBudget
 */
export async function embed(
  project_id: string,
  { endpoint, llm_key_id, model, prices }: Embedding,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<number[][]> {
  const { provider, baseUrl } = endpoint;
  const who = { agent_id: NO_ONE, llm_key_id, provider, model };
  let counted: Promise<void> | undefined;
  const meter = new PaidMeter({ project_id, agent_id: NO_ONE, llm_key_id }, { provider, model, baseUrl, prices }, (used) => {
    counted = recordUsage(project_id, "knowledge", { ...who, ...used });
  });
  // Vectors cost what goes in.
  const end = await meter.begin({ messages: texts.map((content) => ({ role: "user", content })), max_tokens: 0 });
  const count = { input_tokens: 0 };
  try {
    const vectors = await embedTexts(endpoint, model, texts, count, signal);
    await end({ ...count, output_tokens: 0 });
    await counted;
    return vectors;
  } catch (error) {
    // Of several calls the first ones may have been answered, and cost.
    await end(count.input_tokens > 0 ? { ...count, output_tokens: 0 } : undefined);
    await counted;
    throw error;
  }
}
