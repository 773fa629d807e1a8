import { cleanText, parseCleanJson } from "#server/clean-text.ts";
import { parseJson } from "#server/engine/json-text.ts";
import { AppError } from "#server/errors.ts";

/** Headers that prove who calls or that only our own front and framework need: a workflow never sees them. */
const HIDDEN =
  /^(authorization|proxy-authorization|cookie|connection|x-forwarded-.*|x-treadle-.*|x-middleware-.*|x-invoke-.*|x-nextjs-.*|next-.*)$/;
const SECRET = /token|secret|password|signature|session|api[-_]?key|credential/;
/** A platform key, wherever it stands. */
const PLATFORM_KEY = "sk-service-";

function visible(entries: Iterable<[string, string]>): Record<string, string> {
  const shown = [...entries].filter(([name, value]) => {
    const key = name.toLowerCase();
    return !HIDDEN.test(key) && !SECRET.test(key) && !value.includes(PLATFORM_KEY);
  });
  return Object.fromEntries(shown.map(([name, value]) => [cleanText(name), cleanText(value)]));
}

const SAYS_JSON = /^\s*application\/(?:[^;]+\+)?json\s*(?:;|$)/i;

/**
 * A body as JSON when it is JSON, else as text; null without one.
 * @throws AppError BAD_REQUEST for what is declared as JSON and is none
 */
function bodyOf(bytes: Uint8Array, type: string): unknown {
  if (bytes.byteLength === 0) return null;
  const text = new TextDecoder().decode(bytes);
  try {
    return parseCleanJson(text, parseJson);
  } catch (cause) {
    if (!SAYS_JSON.test(type) || text.trim() === "") return cleanText(text);
    const message = "The body is declared as JSON and cannot be read as such. Check it, or declare it as text/plain.";
    throw new AppError("BAD_REQUEST", message, { cause });
  }
}

/**
 * What an HTTP trigger gives (specification, Trigger output expressions): the call as JSON text, with method, headers,
 * query and body. Keys, cookies and whatever else looks like a secret in headers or query are left out.
 * @throws AppError BAD_REQUEST for a body that is declared as JSON and is none
 */
export function callText(call: { method: string; url: string; headers: Headers }, body: Uint8Array): string {
  const { method, url, headers } = call;
  const query = visible(new URL(url).searchParams);
  return JSON.stringify({ method, headers: visible(headers), query, body: bodyOf(body, headers.get("content-type") ?? "") });
}
