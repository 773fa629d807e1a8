import { setTimeout as wait } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { bodyFor, type ChatQuestion, type Dialect, isLasting, simplerDialect } from "#server/llm/chat-body.ts";
import { baseUrlOf, postChat } from "#server/llm/client.ts";
import { ProviderError, providerError } from "#server/llm/errors.ts";
import { providerKind } from "#server/llm/kinds.ts";
import { type Completion, readCompletion } from "#server/llm/read-completion.ts";
import { type CallAttempt, CallAttempts } from "#server/shared/call-attempts.ts";

/** Time and chance, so that a test needs neither. */
export interface ChatClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Rejects when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 up to 1. */
  random(): number;
}

export interface ChatRequest extends ChatQuestion {
  /** Ends the call at once, also between tries. */
  signal?: AbortSignal | undefined;
  /** For everything together: all tries and the pauses between them. */
  timeoutMs: number;
  /** What an error about the time says, when this call is a part of something longer. */
  allowedMs?: number | undefined;
  /** Further tries after a 429, a 5xx or a lost connection. */
  retries: number;
  /** Gets each piece of the answer; with it the answer is streamed. */
  onDelta?: ((content: string) => void) | undefined;
  /**
   * Pieces were given out and a new try begins: what was shown does not count any more. Without it nothing that was given
   * out is ever taken back: a call that fails in the middle of its answer has failed.
   */
  onRestart?: (() => void) | undefined;
  /** Gets each try of a request that is made more than once, as it ends. */
  onAttempt?: ((attempt: CallAttempt) => void) | undefined;
  clock?: ChatClock;
}

export interface ChatResult extends Completion {
  model: string;
}

export const systemClock: ChatClock = {
  now: Date.now,
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
  random: Math.random,
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;

/** Doubles with each failure; between half and all of it, so that many callers do not come back at once. */
const pauseAfter = (failures: number, random: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (0.5 + random / 2);

// Learned from refusals, so that a server that knows less is asked twice only once. Lost at restart.
const dialects = new LRUCache<string, Dialect>({ max: 500 });

const placeOf = ({ endpoint, model }: ChatQuestion): string => `${baseUrlOf(endpoint)} ${model}`;

/** What the server behind the question is known to understand, or is expected to. */
function dialectFor(question: ChatQuestion): Dialect {
  const { tokenLimitField, hasStreamOptions } = providerKind(question.endpoint.provider);
  return dialects.get(placeOf(question)) ?? { stream: true, streamOptions: hasStreamOptions, tokenLimitField, jsonSchema: true };
}

const spokenFor = (dialect: Dialect, isStreamed: boolean): Dialect => ({ ...dialect, stream: dialect.stream && isStreamed });

/**
 * The body with which `chat` begins to ask.
 * @param isStreamed whether the answer is wanted in pieces
 */
export const firstBody = (question: ChatQuestion, isStreamed: boolean): ReturnType<typeof bodyFor> =>
  bodyFor(question, spokenFor(dialectFor(question), isStreamed));

/** One try, with a few steps down to what the server understands. */
async function attempt(request: ChatRequest, signal: AbortSignal): Promise<Completion> {
  const { endpoint, onDelta } = request;
  let dialect = dialectFor(request);
  let isToBeKept = true;
  for (let tried = 0; ; tried += 1) {
    const spoken = spokenFor(dialect, onDelta !== undefined);
    try {
      const response = await postChat(endpoint, bodyFor(request, spoken), signal);
      const completion = await readCompletion(response, onDelta);
      if (tried > 0 && isToBeKept) dialects.set(placeOf(request), dialect);
      return completion;
    } catch (error) {
      const simpler = simplerDialect(spoken, error, request, tried);
      if (!simpler || signal.aborted) throw error;
      isToBeKept &&= isLasting(error);
      dialect = { ...simpler, stream: simpler.stream || (dialect.stream && !spoken.stream) };
    }
  }
}

/** The failure of a call whose time ran out. */
export function timedOut({ endpoint, model, timeoutMs, allowedMs = timeoutMs }: Omit<ChatRequest, "messages" | "retries">): ProviderError {
  const { label } = providerKind(endpoint.provider);
  const seconds = Math.round(allowedMs / 100) / 10;
  return new ProviderError(
    `${label} did not finish its answer within ${seconds} ${seconds === 1 ? "second" : "seconds"} (model ${model}, LLM key "${endpoint.keyName}"). Allow more time, or ask for less.`,
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

  const attempts = new CallAttempts(request.onAttempt, () => clock.now());
  try {
    for (let failures = 0; ; failures += 1) {
      attempts.start();
      try {
        const answer = await attempt({ ...request, ...listening }, stop.signal);
        attempts.end(null);
        return { ...answer, model };
      } catch (error) {
        request.signal?.throwIfAborted();
        if (isLate) {
          const late = timedOut(request);
          attempts.end(late.message);
          throw late;
        }
        const host = URL.parse(baseUrlOf(endpoint))?.host ?? "its address";
        const problem = providerError(error, endpoint, model, host, clock.now());
        const isTold = hasEmitted && !request.onRestart;
        // One who asks to wait no time at all would get all tries in one moment.
        const pause = problem.retryAfterMs || pauseAfter(failures, clock.random());
        if (!problem.isRetryable || isTold || failures >= retries || clock.now() + pause >= deadline) {
          attempts.end(problem.message);
          throw problem;
        }
        attempts.repeat(problem.message);
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
