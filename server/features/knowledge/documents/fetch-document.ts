import { asAppError, assertSuccess, ToolFailure, USER_AGENT, webFetch } from "#server/llm/tools/web-fetch.ts";
import { chosenReach } from "#server/platform/net/guard.ts";

const TIMEOUT_MS = 30_000;
const MOST_REDIRECTS = 5;
/** Longest document that is fetched, in bytes. */
const MOST_BYTES = 10 * 1024 * 1024;
const ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf,*/*;q=0.5";

export interface FetchedDocument {
  bytes: Uint8Array;
  /** Where it came from in the end. */
  url: string;
  contentType: string;
}

/**
 * Fetches a document from an address that a caller named: bounded in size and time, each redirect checked anew.
 * @throws AppError VALIDATION_ERROR for what will not change by itself, UPSTREAM_ERROR for what may
 */
export async function fetchDocument(address: string): Promise<FetchedDocument> {
  try {
    const answer = await webFetch(new URL(address), {
      reach: chosenReach(),
      headers: { accept: ACCEPT, "user-agent": USER_AGENT },
      mostBytes: MOST_BYTES,
      timeoutMs: TIMEOUT_MS,
      redirects: MOST_REDIRECTS,
    });
    assertSuccess(answer);
    const { bytes, isCut, url, headers } = answer;
    if (isCut) throw new ToolFailure(`The document at ${url.host} is larger than ${MOST_BYTES / 1024 / 1024} MiB.`);
    return { bytes, url: url.href, contentType: headers.get("content-type") ?? "" };
  } catch (error) {
    throw asAppError(error);
  }
}
