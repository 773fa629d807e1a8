import { AppError, isAppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/mask-scope.ts";
import { AddressRefused, type Reach } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { ProxyFailed } from "#server/platform/net/proxy-connection.ts";
import { readUpTo } from "#server/platform/net/read-up-to.ts";

/** How we introduce ourselves to web servers; robots.txt files may address the first word. */
export const USER_AGENT = "Treadle/1.0 (reads pages that its users ask for)";

interface BoundedAnswer {
  /** Where it came from, after redirects. */
  url: URL;
  status: number;
  headers: Headers;
  bytes: Uint8Array;
  /** The body was longer than `mostBytes`; `bytes` is its beginning. */
  isCut: boolean;
}

interface BoundedRequest {
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

function failureOf(error: unknown, host: string, timeoutMs: number): AppError {
  if (isAppError(error)) return error;
  if (error instanceof AddressRefused) return new AppError("VALIDATION_ERROR", error.message);
  if (error instanceof ProxyFailed)
    return new AppError(error.isRetryable ? "UPSTREAM_ERROR" : "VALIDATION_ERROR", error.message, { cause: error });
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTFOUND") return new AppError("VALIDATION_ERROR", `There is no server named ${host}.`);
  const upstream = (message: string) => new AppError("UPSTREAM_ERROR", message, { cause: error });
  if (error instanceof Error && error.name === "TimeoutError")
    return upstream(`${host} did not answer within ${timeoutMs / 1000} seconds.`);
  if (code === "EAI_AGAIN") return upstream(`${host} cannot be looked up just now: is this machine connected to the internet?`);
  if (code === "ECONNREFUSED") return upstream(`${host} does not accept connections.`);
  if (/^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code))
    return upstream(`${host} has no certificate that can be trusted.`);
  return upstream(`${host} could not be reached${code ? ` (${code})` : ""}.`);
}

/**
 * One request through the guard, bounded in size, time and redirects.
 * @throws AppError with a sentence: VALIDATION_ERROR for what will not change by itself, UPSTREAM_ERROR for what may; the signal's
 *   reason when it aborts
 */
export async function fetchBounded(address: URL, request: BoundedRequest): Promise<BoundedAnswer> {
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
      if (hop >= redirects) throw new AppError("VALIDATION_ERROR", `${address.host} redirects more than ${redirects} times.`);
      const next = URL.parse(target, url);
      if (!next) throw new AppError("VALIDATION_ERROR", `${url.host} redirects to an address that is none.`);
      await onRedirect?.(next);
      url = next;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw failureOf(error, url.host, timeoutMs);
  }
}

/** @throws AppError for an answer that is no success, as `fetchBounded` does */
export function assertSuccess({ status, url }: BoundedAnswer): void {
  if (status >= 200 && status < 300) return;
  const isPassing = status >= 500 || status === 429 || status === 408;
  const message = `${url.host} answered ${status} for ${masked(url.pathname).slice(0, 200)}.`;
  throw new AppError(isPassing ? "UPSTREAM_ERROR" : "VALIDATION_ERROR", message);
}
