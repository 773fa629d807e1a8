import type { Principal } from "#server/platform/auth/principal.ts";
import { limitsOf } from "#server/platform/auth/rights.ts";
import { invalidField } from "#server/platform/errors.ts";
import { answerOnce } from "#server/platform/rpc/idempotency.ts";
import { keyedHash } from "#server/platform/secrets.ts";

const HEADER = "Idempotency-Key";
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The Idempotency-Key of a request; undefined without one.
 * @throws AppError VALIDATION_ERROR for what cannot be a key
 */
function keyOf(headers: Headers): string | undefined {
  const key = headers.get(HEADER);
  if (key === null) return undefined;
  if (KEY.test(key)) return key;
  const message = "The key is 1 to 255 visible ASCII characters without spaces, such as a UUID.";
  throw invalidField(HEADER, message, `${HEADER}: ${message}`);
}

/** JSON with the keys of every object in order, so that a client which writes them otherwise sends the same body. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

interface Asked {
  principal: Principal;
  /** Null for operations outside projects. */
  project_id: string | null;
  /** Method and path template, e.g. `POST /agents`. */
  operation: string;
  /** What was asked, whole: when it differs, it is another request. */
  content: () => string | Uint8Array;
}

/**
 * Honours `Idempotency-Key`: the request is carried out once, and a repetition within 24 hours gets the same status and
 * body, with `Idempotent-Replayed: true`. Answers 5xx, 429, 401 and 403 are not kept. Without the header it is `work()`.
 * By a key of other rights it is another request: the answer to the first one may hold what those do not reach.
 * Whoever asks must have been let in before: a repetition is not checked again.
 * @param work gives its errors as answers too
 * @throws AppError VALIDATION_ERROR for what cannot be a key; CONFLICT as `answerOnce`
 */
export async function withIdempotency(headers: Headers, asked: Asked, work: () => Promise<Response>): Promise<Response> {
  const key = keyOf(headers);
  if (key === undefined) return work();
  const { principal, project_id, operation, content } = asked;
  let sent = new Headers({ "content-type": "application/json", "cache-control": "no-store" });
  const asker = limitsOf(principal);
  const request_hash = keyedHash(asker === "" ? content() : Buffer.concat([Buffer.from(`${asker}\n`), Buffer.from(content())]));
  const request = { user_id: principal.user.id, project_id, operation, key, request_hash };
  const { status, body, isReplayed } = await answerOnce(request, async () => {
    const response = await work();
    sent = response.headers;
    return { status: response.status, body: await response.text() };
  });
  if (isReplayed) sent.set("idempotent-replayed", "true");
  if (body) sent.set("content-length", String(Buffer.byteLength(body)));
  return new Response(body || null, { status, headers: sent });
}
