import { PaidMeter } from "#server/features/budgets/meter.ts";
import { type ModelPrice, ModelPrices } from "#server/features/llm-keys/schema.ts";
import { endpointOf, findLlmKey, unknownLlmKey } from "#server/features/llm-keys/stored-key.ts";
import { NO_ONE, recordUsage } from "#server/features/usage/record.ts";
import { baseUrlOf, type ModelEndpoint, openModelClient, wireModel } from "#server/llm/client.ts";
import { providerError } from "#server/llm/errors.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";

const TIMEOUT_MS = 60_000;
/** Some models take no more than this many tokens at once; a piece is shorter, with room for its heading. */
const MOST_TEXT = 6000;
const MOST_DIMENSIONS = 8192;

/** The vector scaled to length 1, so that a product of two is their cosine. */
export function normalized(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : [...vector];
}

interface Embedded {
  /** As the model gave them, in the order of the texts. */
  vectors: number[][];
  /** 0 where the service does not say. */
  input_tokens: number;
}

/**
 * Vectors of texts, and what the model counted.
 * @throws ProviderError of the provider behind the key; AppError UPSTREAM_ERROR for an answer that holds no vectors
 */
async function embedTexts(endpoint: ModelEndpoint, model: string, texts: readonly string[], signal?: AbortSignal): Promise<Embedded> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const host = new URL(baseUrlOf(endpoint)).host;
  let data: { index?: number; embedding: number[] }[];
  let told: unknown;
  try {
    const { client, headers } = openModelClient(endpoint);
    const answer = await client.embeddings.create(
      // Without this the SDK asks for base64, which not every compatible server knows.
      { model: wireModel(endpoint.provider, model), input: texts.map((text) => text.slice(0, MOST_TEXT)), encoding_format: "float" },
      { headers, signal: signal ? AbortSignal.any([signal, limit]) : limit },
    );
    data = answer.data;
    // Servers differ from the SDK's types: some tell nothing, others only the total.
    const usage = Object(answer.usage) as { prompt_tokens?: unknown; total_tokens?: unknown };
    told = usage.prompt_tokens ?? usage.total_tokens;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw providerError(error, endpoint, model, host, Date.now());
  }
  const ordered = Array.isArray(data) ? [...data].sort((a, b) => (a.index ?? 0) - (b.index ?? 0)) : [];
  const dimensions = ordered[0]?.embedding.length ?? 0;
  const isWhole =
    ordered.length === texts.length &&
    dimensions > 0 &&
    dimensions <= MOST_DIMENSIONS &&
    ordered.every(({ embedding }) => embedding.length === dimensions && embedding.every(Number.isFinite));
  if (!isWhole)
    throw new AppError(
      "UPSTREAM_ERROR",
      `${host} answered, but not with the vectors that were asked for. Check that ${model} is an embedding model (LLM key "${endpoint.keyName}").`,
    );
  return {
    vectors: ordered.map(({ embedding }) => embedding),
    input_tokens: typeof told === "number" && told > 0 ? Math.round(told) : 0,
  };
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
  try {
    const { vectors, input_tokens } = await embedTexts(endpoint, model, texts, signal);
    await end({ input_tokens, output_tokens: 0 });
    await counted;
    return vectors;
  } catch (error) {
    await end();
    throw error;
  }
}
