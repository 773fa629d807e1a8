import { APIError } from "openai";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { hasDeployments, providerKind } from "#server/llm/kinds.ts";
import { AppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/mask-scope.ts";
import { MASK, maskerOf } from "#server/platform/masking/masker.ts";
import { SHORTEST } from "#server/platform/masking/secret-forms.ts";
import { AddressRefused } from "#server/platform/net/guard.ts";
import { ProxyFailed } from "#server/platform/net/proxy-connection.ts";
import { AnswerTooLong } from "#server/platform/net/read-up-to.ts";

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
    return isPage ? (/<title[^<>]*>([^<]*)/i.exec(body)?.[1] ?? "") : body;
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

  const unproxied = causeOf(error, ProxyFailed);
  if (unproxied) {
    const text = `${label} was not reached. ${unproxied.message} LLM key "${endpoint.keyName}", model ${model}.`;
    return new ProviderError(text, { isRetryable: unproxied.isRetryable });
  }

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

/** What came of a call that asked for no model, to see whether a key works or what it may call. */
export interface KeyFault {
  /** Whether the provider does not accept the key, and not merely could not be asked. */
  isRefused: boolean;
  /** A sentence for people, without the key. */
  text: string;
}

/**
 * What such a call threw, in words.
 * @param host where it went, for connection errors
 */
export function keyFault(error: unknown, endpoint: ModelEndpoint, host: string): KeyFault {
  const { label } = providerKind(endpoint.provider);
  const { status, words, reason } = providerError(error, endpoint, "", host, 0);
  if (status !== undefined) {
    const isRefused = status === 401 || status === 403 || reason === "wrong_key";
    const said = isRefused ? `This key was refused by ${label} (${status})` : `${label} answered ${status}`;
    return { isRefused, text: words ? `${said}: ${sentence(words)}` : `${said}.` };
  }
  const text =
    causeOf(error, AddressRefused)?.message ??
    causeOf(error, ProxyFailed)?.message ??
    causeOf(error, AnswerTooLong)?.message ??
    (error instanceof Error && error.name === "TimeoutError"
      ? `${label} did not answer in time at ${host}.`
      : connectionTrouble(label, host, codeOf(error)).text);
  return { isRefused: false, text };
}

// What a vendor's refusal is about, told by its status and words, and what to do about each.

/**
 * `wrong_key`: the key is not accepted. `no_credit`: nothing is left to pay with. `unknown_model`: no such model.
 * `no_tools`: the model cannot call tools. `context_overflow`: more text than the model reads. `filtered`: the vendor's
 * content filter. `temperature`: the model takes only its own, or a smaller one.
 */
export type Refusal = "wrong_key" | "no_credit" | "no_tools" | "context_overflow" | "filtered" | "temperature" | "unknown_model";

// How vendors put it: OpenAI and those like it, Anthropic, Google, Mistral, Hugging Face, Azure, vLLM, llama.cpp, Ollama, OpenRouter.
const WRONG_KEY = /api[ _]key (is )?(not valid|invalid|expired|not found)|(invalid|incorrect) (x-)?api[ _-]key|api_key_invalid/i;
const NO_CREDIT =
  /insufficient[ _](quota|credits?|balance|funds)|credit balance is too low|exceeded your (monthly )?included credits|payment required/i;
const IN_WORDS = {
  no_tools:
    /not support (the )?(use of )?(tool|function)|support tool use|(tool|function)[ _-]?(use|call(ing|s)?|s)?['"`]? (is|are) (not |un)[ -]?(support|enabled)|tool choice requires|tools param requires/i,
  context_overflow:
    /context[ _-](length|window|size|limit)|maximum context|context (is )?too long|(prompt|input) is too long|input token count.{0,40}exceeds|tokens?`? \+ `?max_new_tokens/i,
  filtered: /content management policy|content_filter/i,
  temperature: /\btemperature\b/i,
  // Ids hold dots, so that only a dot before a blank ends the sentence.
  unknown_model:
    /(models?|deployment)\b(?:[^.]|\.(?!\s)){0,160}?(not found|not exist|not available|not a valid model|not supported by any provider)|(no such|unknown|invalid) model|not a valid model|not have access to (the )?model|^model: |model_not_found/i,
} as const;

/**
 * What a refusal is about, as far as that can be told.
 * @param words what the vendor said, for people
 * @param body the whole body, as text, for the codes beside the words
 */
function refusalIn(status: number, words: string, body: string): Refusal | undefined {
  if (status < 400) return undefined;
  if (status === 401 || (status === 400 && WRONG_KEY.test(body))) return "wrong_key";
  if (status === 402 || NO_CREDIT.test(body)) return "no_credit";
  if (status === 403) return IN_WORDS.unknown_model.test(words) ? "unknown_model" : undefined;
  if (status === 429) return undefined;
  const found = (["no_tools", "context_overflow", "filtered", "temperature", "unknown_model"] as const).find((reason) =>
    IN_WORDS[reason].test(words),
  );
  // "The model is not available" with one of these means: just now.
  return found === "unknown_model" && [502, 503, 504, 529].includes(status) ? undefined : found;
}

const ADVICE: Record<Refusal, (model: string, endpoint: ModelEndpoint) => string> = {
  wrong_key: (model, { keyName }) =>
    `Check the LLM key "${keyName}" (model ${model}). If it is wrong or was revoked, an admin can replace it under LLM keys; agents that use it stay as they are.`,
  no_credit: (model, { keyName }) => `Check the balance behind the LLM key "${keyName}" (model ${model}), or choose another key.`,
  context_overflow: (model, { keyName }) =>
    `The conversation is longer than the model ${model} can read (LLM key "${keyName}"): shorten the message, its history or what the tools return, or choose a model with a larger context.`,
  no_tools: (model, { keyName }) =>
    `The model ${model} cannot call tools (LLM key "${keyName}"): take tools, MCP servers and knowledge away from the agent, or choose another model.`,
  filtered: (model, { keyName }) =>
    `A content filter refused the text (model ${model}, LLM key "${keyName}"): change the message or the agent's instructions.`,
  temperature: (model, { keyName }) =>
    `Leave the agent's temperature empty, or set one that the model ${model} takes (LLM key "${keyName}").`,
  unknown_model: (model, { keyName, provider }) =>
    hasDeployments(provider)
      ? `Check the model ${model}: give the name of a deployment in the resource of the LLM key "${keyName}".`
      : `Check the model ${model}: choose one that is listed for the LLM key "${keyName}", or correct the id.`,
};

function addressOf({ provider, baseUrl, keyName }: ModelEndpoint): string {
  if (baseUrl === null) return `the LLM key "${keyName}"`;
  return `the base URL${hasDeployments(provider) ? " and the API version" : ""} of the LLM key "${keyName}"`;
}

/** A time that somebody asks to wait, in words; a short one is tried out before anybody reads of it. */
function inWords(ms: number | undefined): string {
  const seconds = Math.ceil((ms ?? 0) / 1000);
  if (seconds <= 20) return "a little";
  if (seconds <= 120) return `${seconds} seconds`;
  return seconds <= 2 * 3600 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`;
}

/**
 * What to do about a refusal. Each sentence names the model and the key, so that it can be read on its own in a run.
 * @param retryAfterMs how long the vendor asks to wait
 */
function adviceFor(status: number, reason: Refusal | undefined, model: string, endpoint: ModelEndpoint, retryAfterMs?: number): string {
  const { keyName } = endpoint;
  if (reason) return ADVICE[reason](model, endpoint);
  if (status === 403) return `Check the LLM key "${keyName}" (model ${model}): it may not be allowed to use this.`;
  if (status === 404) return `Check the model ${model} and ${addressOf(endpoint)}.`;
  if (status === 429)
    return `The LLM key "${keyName}" is at its limit for ${model}: wait ${inWords(retryAfterMs)}, or use another key or model.`;
  if (status >= 500) return `The fault is on the provider's side (model ${model}, LLM key "${keyName}"): try again later.`;
  if (status >= 300 && status < 400) return `Put the final address into a new LLM key in place of "${keyName}" (model ${model}).`;
  return `Check the settings for the model ${model} (LLM key "${keyName}").`;
}
