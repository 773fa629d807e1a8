import { AppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/masking/mask-scope.ts";
import { AddressRefused, chosenReach } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { readUpTo } from "#server/platform/net/read-up-to.ts";

const TIMEOUT_MS = 30_000;
const MOST_REDIRECTS = 5;
/** Longest document that is fetched, in bytes. */
const MOST_BYTES = 10 * 1024 * 1024;

export interface FetchedDocument {
  bytes: Uint8Array;
  /** Where it came from in the end. */
  url: string;
  contentType: string;
}

// What will be the same next time is the document's fault; what may pass is the server's, and worth another try.
const lasting = (message: string) => new AppError("VALIDATION_ERROR", message);
const passing = (message: string, cause?: unknown) => new AppError("UPSTREAM_ERROR", message, { cause });

async function readBounded(response: Response, url: URL): Promise<Uint8Array> {
  const { bytes, isCut } = await readUpTo(response, MOST_BYTES);
  if (isCut) throw lasting(`The document at ${url.host} is larger than ${MOST_BYTES / 1024 / 1024} MiB.`);
  return bytes;
}

function faultOf(error: unknown, url: URL): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof AddressRefused) return lasting(error.message);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTFOUND") return lasting(`There is no server named ${url.hostname}. Check the address.`);
  if (error instanceof Error && error.name === "TimeoutError")
    return passing(`The server ${url.host} did not send the document within ${TIMEOUT_MS / 1000} seconds.`, error);
  return passing(`The server ${url.host} could not be reached${code ? ` (${code})` : ""}.`, error);
}

/**
 * Fetches a document from an address that a caller named: bounded in size and time, each redirect checked anew.
 * @throws AppError VALIDATION_ERROR for what will not change by itself, UPSTREAM_ERROR for what may
 */
export async function fetchDocument(address: string): Promise<FetchedDocument> {
  let url = new URL(address);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      const response = await guardedFetch(chosenReach())(url, {
        headers: {
          accept: "text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf,*/*;q=0.5",
          "user-agent": "Treadle/1.0",
        },
        signal,
      });
      const target = response.headers.get("location");
      if (response.status >= 300 && response.status < 400 && target) {
        await response.body?.cancel();
        const next = URL.parse(target, url);
        if (!next) throw lasting(`The server ${url.host} redirects to an address that is none.`);
        url = next;
        continue;
      }
      if (response.ok) {
        return { bytes: await readBounded(response, url), url: url.href, contentType: response.headers.get("content-type") ?? "" };
      }
      await response.body?.cancel();
      const isPassing = response.status >= 500 || response.status === 429 || response.status === 408;
      throw (isPassing ? passing : lasting)(
        `The server ${url.host} answered ${response.status} for ${masked(url.pathname).slice(0, 200)}.`,
      );
    }
    throw lasting(`The server ${url.host} redirects more than ${MOST_REDIRECTS} times.`);
  } catch (error) {
    throw faultOf(error, url);
  }
}
