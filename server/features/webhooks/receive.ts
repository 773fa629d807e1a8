import { createHmac, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { acceptDelivery } from "#server/features/webhooks/deliveries.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { pool } from "#server/platform/db/client.ts";
import { AppError, ERRORS } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";
import { randomToken, sha256, unsealOften } from "#server/platform/secrets.ts";
import type { ExecuteResult } from "#server/runs/schema.ts";

const SHAPE = /^sha256=([0-9a-f]{64})$/i;

/** Whether a header can be a signature at all; without one the body need not be read. */
export const isSignature = (header: string | null): header is string => SHAPE.test(header?.trim() ?? "");

/**
 * Whether a header is the signature of a body (specification, Webhooks): `sha256=` and the hex HMAC-SHA256 of the raw
 * bytes. Compared in constant time.
 */
export function isSigned(body: Uint8Array, header: string | null, secret: string): boolean {
  const hex = SHAPE.exec(header?.trim() ?? "")?.[1];
  const expected = createHmac("sha256", secret).update(body).digest();
  return hex !== undefined && timingSafeEqual(Buffer.from(hex, "hex"), expected);
}

/** Headers in which senders say when they sent a delivery. Each that is there must be right. */
const TIME_HEADERS = [
  "x-service-timestamp",
  "webhook-timestamp", // Standard Webhooks
  "svix-timestamp",
  "x-webhook-timestamp",
  "x-slack-request-timestamp",
  "x-timestamp",
];

/** How far the sender's clock and the way may be off, in milliseconds. */
const TOLERANCE_MS = 5 * 60_000;

/** Milliseconds since 1970: of seconds or milliseconds since then, or of a date as ISO 8601 or mail headers write it; else NaN. */
function timeIn(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * (Number(text) < 1e11 ? 1000 : 1);
  return Date.parse(text);
}

/** Whether a delivery was sent just now, as far as its sender says when. One that does not say may come at any time. */
export const isTimely = (headers: Headers): boolean =>
  TIME_HEADERS.every((name) => {
    const text = headers.get(name)?.trim();
    return text === undefined || Math.abs(Date.now() - timeIn(text)) <= TOLERANCE_MS;
  });

/** Headers in which senders say which delivery this is, so that one that they repeat is known. The first one found counts. */
const KEY_HEADERS = [
  "idempotency-key",
  "webhook-id", // Standard Webhooks
  "svix-id",
  "x-github-delivery",
  "x-gitea-delivery",
  "x-shopify-webhook-id",
  "x-atlassian-webhook-identifier",
  "linear-delivery",
  "i-twilio-idempotency-token",
  "paypal-transmission-id",
];

const LONGEST = 200;

/** What tells a delivery from others of its workflow: header and value, e.g. `idempotency-key:42`; null when nothing does. */
export function deliveryKey(headers: Headers): string | null {
  for (const name of KEY_HEADERS) {
    const value = headers.get(name)?.trim();
    if (value) return `${name}:${value.length > LONGEST ? sha256(value) : value}`;
  }
  return null;
}

// Calls without a good signature, told to those who set the webhook up. Anybody can send them, so they must cost next to
// nothing: none of what came is kept, at most one a minute of each workflow is written down, and only the latest few stay.

const REASONS = {
  missing: "The call had no signature such as sha256=<64 hex digits> in its header X-SERVICE-Signature.",
  wrong: "The signature is wrong. The sender must sign the raw body with the secret shown at the last setup.",
  late: "The signature is right, and the time in a header of the sender (such as webhook-timestamp) more than 5 minutes off or no time.",
} as const;

const PAUSE_MS = 60_000;
/** How many refused calls stay, so that they never push out what can be sent again. */
const KEPT = 5;
/** How many calls a minute are looked into at most, whatever workflows they name. */
const MOST_A_MINUTE = 120;

/** Workflows of which a refused call was noted just now. */
const noted = new LRUCache<string, true>({ max: 1000, ttl: PAUSE_MS });
let minute = { begin: 0, count: 0 };

const INSERT = `
  INSERT INTO webhook_deliveries (id, workflow_id, status, error)
  SELECT $1, h.workflow_id, ${ERRORS.AUTH_REQUIRED.status}, $3
  FROM webhooks h JOIN workflows w ON w.id = h.workflow_id AND w.deleted_at IS NULL
  WHERE h.workflow_id = $2 AND NOT EXISTS (
    SELECT 1 FROM webhook_deliveries d
    WHERE d.workflow_id = h.workflow_id AND d.status = ${ERRORS.AUTH_REQUIRED.status} AND d.received_at > now() - interval '${PAUSE_MS} milliseconds'
  )`;
const TRIM = `
  DELETE FROM webhook_deliveries WHERE workflow_id = $1 AND status = ${ERRORS.AUTH_REQUIRED.status} AND id NOT IN (
    SELECT id FROM webhook_deliveries WHERE workflow_id = $1 AND status = ${ERRORS.AUTH_REQUIRED.status} ORDER BY id DESC LIMIT ${KEPT}
  )`;

/**
 * Writes down that a call was refused for its signature, when the workflow has a webhook and none was written down in the last
 * minute. Nobody waits for it: how long an answer takes must not tell whether the workflow exists.
 */
export async function noteRefusal(workflow_id: string, reason: keyof typeof REASONS): Promise<void> {
  const now = Date.now();
  if (!isUuid(workflow_id) || noted.has(workflow_id)) return;
  if (now - minute.begin >= PAUSE_MS) minute = { begin: now, count: 0 };
  if (++minute.count > MOST_A_MINUTE) return;
  noted.set(workflow_id, true);
  try {
    const { rowCount } = await pool().query(INSERT, [newId(), workflow_id, REASONS[reason]]);
    if (rowCount) await pool().query(TRIM, [workflow_id]);
  } catch (cause) {
    log.warn({ err: cause }, "a refused webhook call could not be noted");
  }
}

/** Signatures are checked against it where there is no secret, so that an unknown workflow answers no sooner. */
const DECOY = randomToken();

export const badSignature = (): AppError =>
  new AppError("AUTH_REQUIRED", "The signature is missing or wrong. Send `X-SERVICE-Signature: sha256=<hex HMAC-SHA256 of the raw body>`.");

function secretOf(sealed: string | null | undefined): string | undefined {
  if (!sealed) return undefined;
  try {
    return unsealOften(sealed);
  } catch (error) {
    log.error({ err: error }, "the secret of a webhook cannot be read; set it up again");
    return undefined;
  }
}

/**
 * A call of a sender: checked by its signature alone, which comes first, so that nobody without the secret learns whether
 * the workflow exists.
 * @param body the bytes as they came
 * @throws AppError AUTH_REQUIRED, the same for a bad signature, a time that is off, an unknown workflow and one that was
 *   never set up; then what `acceptDelivery` throws
 */
export async function receiveDelivery(workflow_id: string, headers: Headers, body: Uint8Array): Promise<ExecuteResult> {
  const workflow = await savedWorkflow(workflow_id);
  const secret = secretOf(workflow?.sealed_secret);
  const isGood = isSigned(body, headers.get("x-service-signature"), secret ?? DECOY);
  if (!workflow || secret === undefined || !isGood) {
    void noteRefusal(workflow_id, "wrong");
    throw badSignature();
  }
  if (!isTimely(headers)) {
    void noteRefusal(workflow_id, "late");
    throw badSignature();
  }
  return acceptDelivery(workflow, { body, key: deliveryKey(headers), started_by_id: null });
}
