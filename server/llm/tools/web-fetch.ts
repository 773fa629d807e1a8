import { AppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/masking/mask-scope.ts";
import { AddressRefused, type Reach } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { readUpTo } from "#server/platform/net/read-up-to.ts";

/** How we introduce ourselves to web servers; robots.txt files may address the first word. */
export const USER_AGENT = "Treadle/1.0 (reads pages that its users ask for)";

/** A tool that could not do its work. The text is for the model and for people: what failed, and what to try. */
export class ToolFailure extends Error {
  /** Whether the same may go well a little later. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing = false) {
    super(message);
    this.isPassing = isPassing;
  }
}

export interface WebAnswer {
  /** Where it came from, after redirects. */
  url: URL;
  status: number;
  headers: Headers;
  bytes: Uint8Array;
  /** The body was longer than `mostBytes`; `bytes` is its beginning. */
  isCut: boolean;
}

export interface WebRequest {
  reach: Reach;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  /** Longest body that is read, in bytes. */
  mostBytes: number;
  /** Milliseconds for everything, redirects and body included. */
  timeoutMs: number;
  /** How many redirects are followed, each guarded anew; default none, and a redirect is then the answer. */
  redirects?: number;
  /** Asked before each redirect is followed. @throws to stay */
  onRedirect?(to: URL): Promise<void>;
  signal?: AbortSignal | undefined;
}

function failureOf(error: unknown, host: string, timeoutMs: number): ToolFailure {
  if (error instanceof ToolFailure) return error;
  if (error instanceof AddressRefused) return new ToolFailure(error.message);
  if (error instanceof Error && error.name === "TimeoutError")
    return new ToolFailure(`${host} did not answer within ${timeoutMs / 1000} seconds.`, true);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTFOUND") return new ToolFailure(`There is no server named ${host}.`);
  if (code === "EAI_AGAIN")
    return new ToolFailure(`${host} cannot be looked up just now: is this machine connected to the internet?`, true);
  if (code === "ECONNREFUSED") return new ToolFailure(`${host} does not accept connections.`, true);
  if (/^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code))
    return new ToolFailure(`${host} has no certificate that can be trusted.`, true);
  return new ToolFailure(`${host} could not be reached${code ? ` (${code})` : ""}.`, true);
}

/**
 * One request of a tool through the guard: bounded in size, time and redirects.
 * @throws ToolFailure with a sentence; the signal's reason when it aborts
 */
export async function webFetch(address: URL, request: WebRequest): Promise<WebAnswer> {
  const { reach, method = "GET", headers = {}, body, mostBytes, timeoutMs, redirects = 0, onRedirect, signal } = request;
  const limit = AbortSignal.timeout(timeoutMs);
  const stop = signal ? AbortSignal.any([limit, signal]) : limit;
  let url = address;
  try {
    for (let hop = 0; ; hop += 1) {
      const response = await guardedFetch(reach)(url, { method, headers, signal: stop, ...(body !== undefined && { body }) });
      const target = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get("location") : null;
      if (redirects === 0 || !target)
        return { url, status: response.status, headers: response.headers, ...(await readUpTo(response, mostBytes)) };
      await response.body?.cancel();
      if (hop >= redirects) throw new ToolFailure(`${address.host} redirects more than ${redirects} times.`);
      const next = URL.parse(target, url);
      if (!next) throw new ToolFailure(`${url.host} redirects to an address that is none.`);
      await onRedirect?.(next);
      url = next;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw failureOf(error, url.host, timeoutMs);
  }
}

/** @throws ToolFailure for an answer that is no success */
export function assertSuccess({ status, url }: WebAnswer): void {
  if (status >= 200 && status < 300) return;
  const isPassing = status >= 500 || status === 429 || status === 408;
  throw new ToolFailure(`${url.host} answered ${status} for ${masked(url.pathname).slice(0, 200)}.`, isPassing);
}

/** The same as an error of the service: what is passing is upstream's fault and may be tried again, what lasts is that of what was sent. */
export const asAppError = (error: unknown): unknown =>
  error instanceof ToolFailure
    ? new AppError(error.isPassing ? "UPSTREAM_ERROR" : "VALIDATION_ERROR", error.message, { cause: error })
    : error;

/** Turns what a tool threw into an answer for the model; an abort stays an abort. */
export function failedAnswer(error: unknown, signal: AbortSignal): { result: string; success: false } {
  signal.throwIfAborted();
  if (error instanceof ToolFailure) return { result: error.message, success: false };
  throw error;
}
