import { APIError } from "openai";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { providerKind } from "#server/llm/kinds.ts";
import { adviceFor, type Refusal, refusalIn } from "#server/llm/refusals.ts";
import { AppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/masking/mask-scope.ts";
import { MASK, maskerOf } from "#server/platform/masking/masker.ts";
import { SHORTEST } from "#server/platform/masking/secret-forms.ts";
import { AnswerTooLong } from "#server/platform/net/answer-too-long.ts";
import { AddressRefused } from "#server/platform/net/guard.ts";

/** A model call that failed. The text is for people: who said what, about which model, and what to do; never the key. */
export class ProviderError extends AppError {
  /** HTTP status of the provider's answer; undefined when there was none. */
  readonly status: number | undefined;
  /** Whether the same call may succeed a little later. */
  readonly isRetryable: boolean;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The provider's own words, without anything of ours. */
  readonly words: string;
  /** What kind of refusal it was, where that is known and something can be done about it. */
  readonly reason: Refusal | undefined;

  constructor(
    message: string,
    details: {
      status?: number | undefined;
      isRetryable?: boolean;
      retryAfterMs?: number | undefined;
      words?: string;
      reason?: Refusal | undefined;
    } = {},
  ) {
    super("UPSTREAM_ERROR", message);
    this.status = details.status;
    this.isRetryable = details.isRetryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.words = details.words ?? "";
    this.reason = details.reason;
  }
}

/** An answer that arrived whole and is no chat completion. */
export class GarbledAnswer extends Error {
  /** The beginning of what came instead. */
  readonly beginning: string;
  constructor(text: string) {
    super("not a chat completion");
    // Masked before it is cut: of half a secret nobody could tell.
    this.beginning = masked(text).trim().slice(0, 60);
  }
}

/** An error that a provider sent inside an answer that had begun well. */
export class StreamedError extends Error {
  readonly body: unknown;
  constructor(body: unknown) {
    super("error in the answer");
    this.body = body;
  }
}

/** A stream that ended in the middle of the answer. */
export class BrokenOff extends Error {}

const MOST_WORDS = 500;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The text without the key in any spelling in which a server may echo it, and without bearer tokens. */
function withoutKey(text: string, key: string): string {
  // A very short key, as local servers have, is replaced only where it stands alone: "x" must not garble every word.
  const alone = (spelling: string) => text.replace(new RegExp(`(?<![\\w-])${escaped(spelling)}(?![\\w-])`, "g"), MASK);
  const without = key.length < SHORTEST ? alone(key) : maskerOf([key]).text(text);
  return without.replace(/\bBearer\s+[^\s"',;}]+/gi, `Bearer ${MASK}`);
}

const WORD_FIELDS = ["message", "error", "detail", "error_description", "msg", "title", "errors"];

/** What a human would read in an error body of whatever shape: OpenAI's, FastAPI's, Google's list, plain text, a page. */
function wordsOf(body: unknown): string {
  if (typeof body === "string") {
    const isPage = /^\s*<(!doctype|html|head|body)/i.test(body);
    return isPage ? (/<title[^>]*>([^<]*)/i.exec(body)?.[1] ?? "") : body;
  }
  if (Array.isArray(body)) return body.map(wordsOf).filter(Boolean).slice(0, 3).join("; ");
  if (typeof body !== "object" || body === null) return "";
  const fields = body as Record<string, unknown>;
  for (const name of WORD_FIELDS) {
    const words = wordsOf(fields[name]);
    if (words) return Array.isArray(fields.loc) ? `${fields.loc.join(".")}: ${words}` : words;
  }
  return "";
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function retryAfterMs(headers: Headers | undefined, now: number): number | undefined {
  const exact = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const value = headers?.get("retry-after");
  if (!value) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Google tells in the body how long to wait (RetryInfo), in seconds. */
function retryDelayMs(body: string): number | undefined {
  const seconds = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

// A day's quota of Google's: whatever its RetryInfo says, it does not come back soon.
const IS_DAILY = /"quotaId":\s*"[^"]*PerDay/;

/** A numeric code inside an error body, as gateways put there what their own provider answered. */
function statusIn(body: unknown): number | undefined {
  const { code, status } = (typeof body === "object" && body !== null ? body : {}) as { code?: unknown; status?: unknown };
  return [code, status].map(Number).find((number) => number >= 400 && number <= 599);
}

const codeOf = (error: unknown): string | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) if ("code" in at && typeof at.code === "string") return at.code;
  return undefined;
};

function causeOf<Kind extends Error>(error: unknown, kind: abstract new (...args: never[]) => Kind): Kind | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof kind) return at;
  return undefined;
}

const IS_CERTIFICATE = /^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH)/;

/** What happened to a connection on which no answer came, and whether trying again makes sense. */
function connectionTrouble(label: string, host: string, code: string | undefined): { text: string; isRetryable: boolean } {
  if (code === "ENOTFOUND") return { text: `${label} cannot be found: there is no server named ${host}.`, isRetryable: false };
  if (code === "ECONNREFUSED") return { text: `${label} does not accept connections at ${host}.`, isRetryable: true };
  if (code === "ETIMEDOUT" || code === "EAI_AGAIN") return { text: `${label} could not be reached at ${host} in time.`, isRetryable: true };
  if (code && IS_CERTIFICATE.test(code))
    return { text: `${label} at ${host} has no certificate that can be trusted (${code}).`, isRetryable: false };
  if (code === "ECONNRESET" || code === "EPIPE") return { text: `The connection to ${label} broke off.`, isRetryable: true };
  return { text: `${label} could not be reached at ${host}${code ? ` (${code})` : ""}.`, isRetryable: true };
}

const LIMIT_IT = "Set the agent's longest answer (max_tokens), or choose another model.";

/**
 * Makes one kind of error out of whatever a call of a provider threw.
 * @param host where the call went, for connection errors
 * @param now epoch milliseconds, to read a Retry-After that is a date
 */
export function providerError(error: unknown, endpoint: ModelEndpoint, model: string, host: string, now: number): ProviderError {
  if (error instanceof ProviderError) return error;
  const { label } = providerKind(endpoint.provider);
  const clean = (text: string) => withoutKey(masked(text), endpoint.apiKey).replace(/\s+/g, " ").trim().slice(0, MOST_WORDS);
  const where =
    endpoint.baseUrl === null
      ? `Check that this install reaches the internet (LLM key "${endpoint.keyName}", model ${model}).`
      : `Check the base URL of the LLM key "${endpoint.keyName}" (model ${model}).`;

  const refused = causeOf(error, AddressRefused);
  if (refused) return new ProviderError(`${label} was not called. ${refused.message} LLM key "${endpoint.keyName}", model ${model}.`);

  const endless = causeOf(error, AnswerTooLong);
  if (endless)
    return new ProviderError(`${label} was cut off (model ${model}, LLM key "${endpoint.keyName}"): ${endless.message} ${LIMIT_IT}`);

  const garbled = causeOf(error, GarbledAnswer);
  if (garbled) {
    const beginning = clean(garbled.beginning);
    return new ProviderError(
      `${label} sent an answer that is not a chat completion${beginning ? `; it begins with: ${beginning}` : ""}. ${where}`,
    );
  }

  const streamed = causeOf(error, StreamedError);
  const answer = error instanceof APIError && error.status !== undefined ? error : undefined;
  if (streamed || answer) {
    const status = answer?.status ?? statusIn(streamed?.body);
    const body = answer ? answer.error : streamed?.body;
    const text = JSON.stringify(body) ?? "";
    const words = clean(wordsOf(body));
    const said = status ? `${label} answered ${status}` : `${label} stopped with an error`;
    const reason = refusalIn(status ?? 500, words, text);
    const wait = retryAfterMs(answer?.headers, now) ?? retryDelayMs(text);
    return new ProviderError(
      `${said}${words ? `: ${sentence(words)}` : " without saying why."} ${adviceFor(status ?? 500, reason, model, endpoint, wait)}`,
      {
        status,
        words,
        reason,
        isRetryable: !reason && (status === undefined || status === 408 || status >= 500 || (status === 429 && !IS_DAILY.test(text))),
        retryAfterMs: wait,
      },
    );
  }

  if (error instanceof BrokenOff)
    return new ProviderError(
      `The connection to ${label} broke off in the middle of the answer (model ${model}, LLM key "${endpoint.keyName}"). Try again.`,
      { isRetryable: true },
    );
  const { text, isRetryable } = connectionTrouble(label, host, codeOf(error));
  return new ProviderError(`${text} ${where}`, { isRetryable });
}
