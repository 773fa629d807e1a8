import { LRUCache } from "lru-cache";
import { baseUrlOf, type ModelEndpoint, openModelClient, wireModel } from "#server/llm/client.ts";
import { ProviderError, providerError } from "#server/llm/errors.ts";

const TIMEOUT_MS = 60_000;
/** Some models take no more than this many tokens at once; a piece is shorter, with room for its heading. */
const MAX_TEXT_LENGTH = 6000;
/** A shorter text that is refused as too long is refused for something else. */
const MIN_CUT_LENGTH = 100;
const MAX_INPUTS = 64;
const MAX_DIMENSIONS = 8192;

/** Habits of a server with a model, learnt from its refusals. */
interface Habits {
  maxInputs: number;
  /** False when it refuses `encoding_format`. */
  takesFormat: boolean;
}

const habits = new LRUCache<string, Habits>({ max: 1000 });

function habitsOf(endpoint: ModelEndpoint, model: string): Habits {
  const place = JSON.stringify([baseUrlOf(endpoint), model]);
  const learnt = habits.get(place) ?? { maxInputs: MAX_INPUTS, takesFormat: true };
  habits.set(place, learnt);
  return learnt;
}

/** Returns the most texts that the server takes in one call, as far as its refusals have shown. */
export const maxInputsOf = (endpoint: ModelEndpoint, model: string): number => habitsOf(endpoint, model).maxInputs;

/** Tokens that the model has counted; 0 where the service does not say. */
export interface InputCount {
  input_tokens: number;
}

function cutInTwo(text: string): [string, string] {
  const middle = text.length >> 1;
  // Not between the halves of a surrogate pair.
  const at = /[\udc00-\udfff]/.test(text.charAt(middle)) ? middle + 1 : middle;
  return [text.slice(0, at), text.slice(at)];
}

/** The mean of two directions, each with the weight of its text. */
function meanOf(vectors: number[][], weights: number[]): number[] {
  const lengths = vectors.map((vector) => Math.hypot(...vector) || 1);
  return (vectors[0] ?? []).map((_, at) =>
    vectors.reduce((sum, vector, index) => sum + ((vector[at] ?? 0) / (lengths[index] ?? 1)) * (weights[index] ?? 0), 0),
  );
}

/** Reads a vector as numbers, or as base64 of little-endian floats, which some servers send unasked. */
function vectorOf(embedding: unknown): number[] | undefined {
  if (typeof embedding !== "string") return Array.isArray(embedding) && embedding.every(Number.isFinite) ? embedding : undefined;
  const bytes = Buffer.from(embedding, "base64");
  if (bytes.length % 4 !== 0) return undefined;
  const vector = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
  return vector.every(Number.isFinite) ? vector : undefined;
}

// Messages in which OpenAI, vLLM, llama.cpp, Ollama, text-embeddings-inference and DashScope refuse a text that is too long.
const TOO_LONG = /too (long|large)|token|context|length|longer than|exceeds/i;
const NAMES_FORMAT = /encoding[_ ]?format/i;

const isTooLong = ({ status, words, reason }: ProviderError): boolean =>
  reason === "context_overflow" || status === 413 || TOO_LONG.test(words);

/** True for a refusal of what was sent, and not of the key, the model or the caller. */
const isOfInput = (error: unknown): error is ProviderError =>
  error instanceof ProviderError &&
  (error.reason === undefined || error.reason === "context_overflow") &&
  ([400, 413, 422].includes(error.status ?? 0) || (error.status === 500 && isTooLong(error)));

/** Embeds texts at one server, in as few calls as it takes. */
class Embedder {
  readonly #endpoint: ModelEndpoint;
  readonly #model: string;
  readonly #count: InputCount;
  readonly #signal: AbortSignal | undefined;
  readonly #host: string;
  readonly #habits: Habits;
  /** Refusals of a single text: they say nothing about how many texts a call may have. */
  #singlesRefused = 0;

  constructor(endpoint: ModelEndpoint, model: string, count: InputCount, signal: AbortSignal | undefined) {
    this.#endpoint = endpoint;
    this.#model = model;
    this.#count = count;
    this.#signal = signal;
    this.#host = new URL(baseUrlOf(endpoint)).host;
    this.#habits = habitsOf(endpoint, model);
  }

  async embed(texts: string[]): Promise<number[][]> {
    const vectors: number[][] = [];
    while (vectors.length < texts.length)
      vectors.push(...(await this.#embedBatch(texts.slice(vectors.length, vectors.length + this.#habits.maxInputs))));
    return vectors;
  }

  async #embedBatch(texts: string[]): Promise<number[][]> {
    try {
      return await this.#call(texts, this.#habits.takesFormat);
    } catch (error) {
      if (!isOfInput(error)) throw error;
      if (this.#habits.takesFormat && NAMES_FORMAT.test(error.words)) {
        this.#habits.takesFormat = false;
        return this.#embedBatch(texts);
      }
      return texts.length > 1 ? this.#embedHalves(texts) : this.#embedRefused(texts[0] ?? "", error);
    }
  }

  async #embedHalves(texts: string[]): Promise<number[][]> {
    const middle = Math.ceil(texts.length / 2);
    const refusedBefore = this.#singlesRefused;
    const first = await this.embed(texts.slice(0, middle));
    const second = await this.embed(texts.slice(middle));

    // With every text accepted in a smaller call, their number was what the server refused.
    if (this.#singlesRefused === refusedBefore) this.#habits.maxInputs = Math.min(this.#habits.maxInputs, middle);
    return [...first, ...second];
  }

  /** Embeds a text that the server refused on its own: without `encoding_format`, else as the mean of its halves. */
  async #embedRefused(text: string, refusal: ProviderError): Promise<number[][]> {
    this.#singlesRefused++;
    if (isTooLong(refusal) && text.length > MIN_CUT_LENGTH) {
      const parts = cutInTwo(text);
      const vectors = [];
      for (const part of parts) vectors.push(...(await this.#embedBatch([part])));
      return [
        meanOf(
          vectors,
          parts.map((part) => part.length),
        ),
      ];
    }
    if (!this.#habits.takesFormat) throw refusal;

    const vectors = await this.#call([text], false).catch((error) => {
      throw isOfInput(error) ? refusal : error;
    });
    this.#habits.takesFormat = false;
    return vectors;
  }

  async #call(texts: string[], withFormat: boolean): Promise<number[][]> {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    let answer: unknown;
    try {
      const { client, headers } = openModelClient(this.#endpoint);
      // The SDK's own method asks for base64 unless a format is named, and not every server takes a format.
      answer = await client.post<unknown>("/embeddings", {
        body: { model: wireModel(this.#endpoint.provider, this.#model), input: texts, ...(withFormat && { encoding_format: "float" }) },
        headers,
        signal: this.#signal ? AbortSignal.any([this.#signal, limit]) : limit,
      });
    } catch (error) {
      if (this.#signal?.aborted) throw error;
      throw providerError(error, this.#endpoint, this.#model, this.#host, Date.now());
    }
    // Servers differ from the SDK's types: some tell nothing, others only the total.
    const { data, usage } = Object(answer) as { data?: unknown; usage?: unknown };
    const { prompt_tokens, total_tokens } = Object(usage) as { prompt_tokens?: unknown; total_tokens?: unknown };
    const tokens = prompt_tokens ?? total_tokens;
    if (typeof tokens === "number" && tokens > 0) this.#count.input_tokens += Math.round(tokens);
    return this.#vectorsIn(data, texts.length);
  }

  #vectorsIn(data: unknown, expected: number): number[][] {
    const rows = (Array.isArray(data) ? data : []).map((row) => Object(row) as { index?: number; embedding?: unknown });
    const vectors = rows.sort((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ embedding }) => vectorOf(embedding));
    const dimensions = vectors[0]?.length ?? 0;
    const complete = vectors.filter((vector) => vector !== undefined && vector.length === dimensions);
    if (vectors.length === expected && complete.length === expected && dimensions > 0 && dimensions <= MAX_DIMENSIONS)
      return complete as number[][]; // cast: filtered above
    const isEmpty = rows.some(({ embedding }) => embedding === null);
    throw new ProviderError(
      `${this.#host} answered, but ${isEmpty ? "with an empty vector in place of numbers" : "not with the vectors that were asked for"}. Check that ${this.#model} is an embedding model (LLM key "${this.#endpoint.keyName}").`,
    );
  }
}

/**
 * Returns the vectors of texts as the model gives them, in the order of the texts. A server that takes fewer texts, or shorter ones,
 * is asked again with fewer or with parts; how many it takes is remembered by address and model.
 * @param count grows by what the model counts, also when a later call fails
 * @throws ProviderError of the provider behind the key, also for an answer that holds no vectors
 */
export function embedTexts(
  endpoint: ModelEndpoint,
  model: string,
  texts: readonly string[],
  count: InputCount,
  signal?: AbortSignal,
): Promise<number[][]> {
  return new Embedder(endpoint, model, count, signal).embed(texts.map((text) => text.slice(0, MAX_TEXT_LENGTH)));
}
