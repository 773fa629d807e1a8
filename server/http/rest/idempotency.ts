import { bodyOf, idIn } from "#server/http/messages/respond.ts";
import { textResponse } from "#server/http/messages/text-response.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { limitsOf } from "#server/platform/auth/rights.ts";
import { invalidField } from "#server/platform/errors.ts";
import { answerOnce } from "#server/platform/rpc/idempotency.ts";
import { keyedHashInSlices } from "#server/platform/secrets.ts";
import { noteStored } from "#server/runs/store/space.ts";

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

/** About the length of a body once sealed, which is base64. */
const sealedSize = (body: string): number => Math.ceil((Buffer.byteLength(body) * 4) / 3);

interface Asked {
  principal: Principal;
  /** Null for operations outside projects. */
  project_id: string | null;
  /** Method and path template, e.g. `POST /agents`. */
  operation: string;
  /** Returns what was asked, whole, in pieces: when it differs, it is another request. */
  content: () => Iterable<string | Uint8Array>;
  /** Finds the path of the operation that gives an answer again, by the id in it; left out, every answer is stored. */
  resourceOf?: (id: unknown) => string | undefined;
  /** Answers that operation for the same caller. */
  read?: (path: string) => Promise<Response>;
}

/** Answers longer than this, in bytes, are rebuilt from their resource where there is one. */
const MAX_STORED_ANSWER = 64 * 1024;
/** Bytes of a row of `idempotency_keys` besides its answer. */
const ROW_BYTES = 300;

/**
 * Honours `Idempotency-Key`: the request is carried out once, and a repetition within 24 hours gets the same status and
 * body, with `Idempotent-Replayed: true`. A body over 64 kB is read from its resource again, as that is then. Answers 5xx, 429, 401 and 403 are not kept. Without the header it is `work()`.
 * By a key of other rights it is another request: the answer to the first one may hold what those do not reach.
 * Whoever asks must have been let in before: a repetition is not checked again.
 * @param work gives its errors as answers too
 * @throws AppError VALIDATION_ERROR for what cannot be a key; CONFLICT as `answerOnce`
 */
export async function withIdempotency(headers: Headers, asked: Asked, work: () => Promise<Response>): Promise<Response> {
  const key = keyOf(headers);
  if (key === undefined) return work();
  const { principal, project_id, operation, content, resourceOf, read } = asked;
  let response: Response | undefined;
  const asker = limitsOf(principal);
  const pieces = function* () {
    if (asker !== "") yield `${asker}\n`;
    yield* content();
  };
  const request_hash = await keyedHashInSlices(pieces());
  const request = { user_id: principal.user.id, project_id, operation, key, request_hash };
  const { status, body, resource, isReplayed } = await answerOnce(request, async () => {
    response = await work();
    const known = bodyOf(response);
    const text = known?.text ?? (await response.text());
    const isLong = response.ok && (text.length > MAX_STORED_ANSWER || Buffer.byteLength(text) > MAX_STORED_ANSWER);
    return { status: response.status, body: text, resource: isLong ? resourceOf?.(known ? known.id : idIn(JSON.parse(text))) : undefined };
  });
  if (!isReplayed && project_id !== null) noteStored(project_id, "other", ROW_BYTES + (resource ? 0 : sealedSize(body)));
  if (isReplayed && resource !== undefined && read) {
    const again = await read(resource);
    const headers = new Headers(again.headers);
    headers.set("idempotent-replayed", "true");
    return new Response(again.body, { status: again.ok ? status : again.status, headers });
  }
  if (response && !response.bodyUsed) return response;
  const sent = response?.headers ?? new Headers({ "content-type": "application/json", "cache-control": "no-store" });
  if (isReplayed) sent.set("idempotent-replayed", "true");
  if (!body) return new Response(null, { status, headers: sent });
  return textResponse(body, status, Object.fromEntries(sent), { account: principal.user.id, isOutcome: true });
}
