import { baseUrlOf, type ModelEndpoint, openModelClient, wireModel } from "#server/llm/client.ts";
import { providerError } from "#server/llm/errors.ts";
import { AppError } from "#server/platform/errors.ts";

const TIMEOUT_MS = 60_000;
/** Some models take no more than this many tokens at once; a piece is shorter, with room for its heading. */
const MOST_TEXT = 6000;
const MOST_DIMENSIONS = 8192;

/** The vector scaled to length 1, so that a product of two is their cosine. */
export function normalized(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : [...vector];
}

export interface Embedded {
  /** As the model gave them, in the order of the texts. */
  vectors: number[][];
  /** 0 where the service does not say. */
  input_tokens: number;
}

/**
 * Vectors of texts, and what the model counted.
 * @throws ProviderError of the provider behind the key; AppError UPSTREAM_ERROR for an answer that holds no vectors
 */
export async function embedTexts(
  endpoint: ModelEndpoint,
  model: string,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<Embedded> {
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
