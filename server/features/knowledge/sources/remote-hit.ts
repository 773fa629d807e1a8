import { AppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/mask-scope.ts";
import { MASK, maskerOf } from "#server/platform/masking/masker.ts";
import { AddressRefused, type Reach } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { ProxyFailed } from "#server/platform/net/proxy-connection.ts";
import { AnswerTooLong, textUpTo } from "#server/platform/net/read-up-to.ts";

/** What a store or a search service of the user's found, best first. */
export interface RemoteHit {
  document_id: string | null;
  title: string;
  uri: string | null;
  text: string;
}

/** How long a search of somebody else's service may take, in milliseconds. */
export const REMOTE_TIMEOUT_MS = 15_000;
/** Longest text of one hit, in characters. */
export const MOST_TEXT = 8000;
/** Longest answer that is read, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024;
const MOST_WORDS = 200;

export const upstream = (message: string, cause?: unknown) => new AppError("UPSTREAM_ERROR", message, { cause });

/** A text of a result, of any JSON value; bounded, because it goes into a prompt. */
export function textOf(value: unknown, most = MOST_TEXT): string {
  if (value === null || value === undefined) return "";
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, most);
}

/** The value at a dotted path; the whole for an empty one. */
export function valueAt(value: unknown, path: string): unknown {
  if (path === "") return value;
  return path.split(".").reduce<unknown>((at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined), value);
}

const inSentence = (what: string): string => what.replace(/^The /, "the ");

/** What a fault of a connection means to the person who configured the address. */
export function connectionFault(what: string, host: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof AddressRefused || error instanceof ProxyFailed) return upstream(error.message);
  if (error instanceof AnswerTooLong) return upstream(`${what} at ${host} sent an answer that is too long to read. ${error.message}`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isLate = error instanceof Error && (error.name === "TimeoutError" || code === "ETIMEDOUT");
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return upstream(`There is no server named ${host}. Check the address of ${inSentence(what)}.`);
  if (code === "ECONNREFUSED")
    return upstream(`No server accepts connections at ${host}. Check the address of ${inSentence(what)}, and that it runs.`);
  if (isLate) return upstream(`${what} at ${host} did not answer within ${REMOTE_TIMEOUT_MS / 1000} seconds.`);
  if (/^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code))
    return upstream(`${what} at ${host} has no certificate that can be trusted (${code}).`);
  return upstream(`${what} could not be reached at ${host}${code ? ` (${code})` : ""}.`, error);
}

/** The settings of a store or service of the user's, with how far requests to it may go. */
export type Reaching<Config> = Config & { reach: Reach };

interface RemoteRequest {
  reach: Reach;
  /** Name of the service in sentences: "Qdrant". */
  what: string;
  url: URL;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/**
 * Asks a service that the project configured.
 * @returns the status and the JSON of the answer; null when it is none
 * @throws AppError UPSTREAM_ERROR when no answer comes
 */
export async function askRemote(request: RemoteRequest): Promise<{ status: number; json: unknown }> {
  const { reach, what, url, method, headers, body, signal } = request;
  const limit = AbortSignal.timeout(REMOTE_TIMEOUT_MS);
  try {
    const response = await guardedFetch(reach)(url, {
      method,
      headers: { accept: "application/json", ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const text = await textUpTo(response, MAX_BYTES);
    return { status: response.status, json: parsed(text) };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw connectionFault(what, url.host, error);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The refusal of a service in words, without any of `secrets`, which it may echo. */
export function refusalOf(what: string, status: number, json: unknown, secrets: readonly (string | null)[]): AppError {
  const said = [
    valueAt(json, "status.error"),
    valueAt(json, "error.message"),
    valueAt(json, "error"),
    valueAt(json, "message"),
    valueAt(json, "detail"),
  ];
  let words = textOf(said.find((value) => typeof value === "string") ?? "");
  // The words of a header's value too: "Bearer" and the token.
  const parts = secrets.flatMap((secret) => (secret ? [secret, ...secret.split(/\s+/)] : [])).filter((part) => part.length >= 4);
  words = maskerOf(parts).text(words);
  for (const part of parts) words = words.replaceAll(part, MASK);
  words = masked(words).replace(/\s+/g, " ").trim().slice(0, MOST_WORDS);
  const advice =
    status === 401 || status === 403
      ? " Check the key or the headers of the source."
      : status === 404
        ? " Check the address and names in the source's settings."
        : status >= 300 && status < 400
          ? " It redirects: give the final address."
          : "";
  return upstream(`${what} answered ${status}${words ? `: ${words}` : "."}${words && !/[.!?]$/.test(words) ? "." : ""}${advice}`);
}
