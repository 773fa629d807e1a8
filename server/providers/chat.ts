import { setTimeout as wait } from "node:timers/promises";
import type { ChatCompletionCreateParams, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { baseUrlOf, type ModelEndpoint, openModelClient, wireModel } from "#server/providers/client.ts";
import { ProviderError, providerError } from "#server/providers/errors.ts";
import { providerKind } from "#server/providers/kinds.ts";
import { type Completion, readCompletion } from "#server/providers/read-completion.ts";

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** Time and chance, so that a test needs neither. */
export interface ChatClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Rejects when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 up to 1. */
  random(): number;
}

export interface ChatRequest {
  endpoint: ModelEndpoint;
  /** As people type it, without a routing prefix. */
  model: string;
  messages: ChatMessage[];
  /** Null and left out: the model's own default. */
  temperature?: number | null;
  /** Longest answer in tokens; null and left out: the model's own limit. */
  max_tokens?: number | null;
  /** Ends the call at once, also between tries. */
  signal?: AbortSignal | undefined;
  /** For everything together: all tries and the pauses between them. */
  timeoutMs: number;
  /** Further tries after a 429, a 5xx or a lost connection. */
  retries: number;
  /** Gets each piece of the answer; with it the answer is streamed. */
  onDelta?: ((content: string) => void) | undefined;
  /** Pieces were given out and a new try begins: what was shown does not count any more. */
  onRestart?: (() => void) | undefined;
  clock?: ChatClock;
}

export interface ChatResult extends Completion {
  model: string;
}

const systemClock: ChatClock = {
  now: Date.now,
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
  random: Math.random,
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;

/** Doubles with each failure; between half and all of it, so that many callers do not come back at once. */
const pauseAfter = (failures: number, random: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (0.5 + random / 2);

/** What a server understands of the optional parts of the format. */
interface Dialect {
  stream: boolean;
  streamOptions: boolean;
  tokenLimitField: "max_tokens" | "max_completion_tokens";
}

// Learned from refusals, so that a server that knows less is asked twice only once. Lost at restart, bounded.
const dialects = new Map<string, Dialect>();
const MOST_DIALECTS = 500;

const REFUSAL_STATUSES = [400, 404, 405, 415, 422, 501];
const REFUSES =
  /not (yet |be )?(support|permit|allow|recogni|accept|available|implement)|n't support|unsupported|unrecogni[sz]ed|unknown|unexpected|extra[ _](inputs?|forbidden|fields?)|invalid (parameter|argument|field)|must be verified|instead/i;

/** The dialect to try after this refusal, or undefined when the refusal is about something else. */
function simplerDialect(dialect: Dialect, error: unknown, body: { hasTokenLimit: boolean; tried: number }): Dialect | undefined {
  const { status, error: answer } = (error ?? {}) as { status?: number; error?: unknown };
  if (!status || !REFUSAL_STATUSES.includes(status) || body.tried >= 3) return undefined;
  const said = typeof answer === "string" ? answer : JSON.stringify(answer ?? "");
  if (!REFUSES.test(said)) return undefined;
  if (dialect.stream && dialect.streamOptions && /stream_options|include_usage/.test(said)) return { ...dialect, streamOptions: false };
  if (body.hasTokenLimit && said.includes(dialect.tokenLimitField))
    return { ...dialect, tokenLimitField: dialect.tokenLimitField === "max_tokens" ? "max_completion_tokens" : "max_tokens" };
  if (dialect.stream && /\bstream(ing|ed)?\b/i.test(said)) return { ...dialect, stream: false };
  return undefined;
}

function bodyFor(request: ChatRequest, dialect: Dialect): ChatCompletionCreateParams {
  const { endpoint, model, messages, temperature, max_tokens } = request;
  return {
    model: wireModel(endpoint.provider, model),
    messages: messages satisfies ChatCompletionMessageParam[],
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof max_tokens === "number" && { [dialect.tokenLimitField]: max_tokens }),
    stream: dialect.stream,
    ...(dialect.stream && dialect.streamOptions && { stream_options: { include_usage: true } }),
  };
}

/** One try, with at most three steps down to what the server understands. */
async function attempt(request: ChatRequest, signal: AbortSignal): Promise<Completion> {
  const { endpoint, model, onDelta } = request;
  const client = openModelClient(endpoint);
  const { tokenLimitField, hasStreamOptions } = providerKind(endpoint.provider);
  const place = `${baseUrlOf(endpoint)} ${model}`;
  let dialect: Dialect = dialects.get(place) ?? { stream: true, streamOptions: hasStreamOptions, tokenLimitField };
  for (let tried = 0; ; tried += 1) {
    const spoken = { ...dialect, stream: dialect.stream && onDelta !== undefined };
    try {
      // The SDK's own timeout must never be the first: ours covers all tries and the reading of the answer.
      const response = await client.chat.completions
        .create(bodyFor(request, spoken), { signal, timeout: request.timeoutMs + 60_000 })
        .asResponse();
      const completion = await readCompletion(response, onDelta);
      if (tried > 0) {
        if (dialects.size >= MOST_DIALECTS) dialects.clear();
        dialects.set(place, dialect);
      }
      return completion;
    } catch (error) {
      const simpler = simplerDialect(spoken, error, { hasTokenLimit: typeof request.max_tokens === "number", tried });
      if (!simpler || signal.aborted) throw error;
      dialect = { ...simpler, stream: simpler.stream || (dialect.stream && !spoken.stream) };
    }
  }
}

function timedOut({ endpoint, model, timeoutMs }: ChatRequest): ProviderError {
  const { label } = providerKind(endpoint.provider);
  const seconds = Math.round(timeoutMs / 100) / 10;
  return new ProviderError(
    `${label} did not finish its answer within ${seconds} seconds (model ${model}, LLM key "${endpoint.keyName}"). Allow more time, or ask for less.`,
  );
}

/**
 * Asks a model, and asks again when it is busy or the line drops.
 * @returns the whole answer; `text` may be empty, as reasoning models with a low limit answer
 * @throws ProviderError, whose text holds the provider's words and never the key; the signal's reason when it fires
 */
export async function chat(request: ChatRequest): Promise<ChatResult> {
  const { clock = systemClock, endpoint, model, retries, timeoutMs } = request;
  request.signal?.throwIfAborted();
  const deadline = clock.now() + timeoutMs;
  const stop = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop.abort();
  }, timeoutMs);
  const onAbort = () => stop.abort();
  request.signal?.addEventListener("abort", onAbort, { once: true });
  let hasEmitted = false;
  const onDelta = request.onDelta;
  const listening = onDelta && {
    onDelta: (content: string) => {
      hasEmitted = true;
      if (!stop.signal.aborted) onDelta(content);
    },
  };

  try {
    for (let failures = 0; ; failures += 1) {
      try {
        return { ...(await attempt({ ...request, ...listening }, stop.signal)), model };
      } catch (error) {
        request.signal?.throwIfAborted();
        if (isLate) throw timedOut(request);
        const host = URL.parse(baseUrlOf(endpoint))?.host ?? "its address";
        const problem = providerError(error, endpoint, model, host, clock.now());
        const pause = problem.retryAfterMs ?? pauseAfter(failures, clock.random());
        if (!problem.isRetryable || failures >= retries || clock.now() + pause >= deadline) throw problem;
        await clock.sleep(pause, stop.signal).catch(() => {
          request.signal?.throwIfAborted();
          throw problem;
        });
        if (hasEmitted) request.onRestart?.();
        hasEmitted = false;
      }
    }
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", onAbort);
  }
}
