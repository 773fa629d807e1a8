import { LRUCache } from "lru-cache";
import { SENDERS } from "#server/features/webhooks/senders.ts";
import { type Proof, type SenderConfig, TOLERANCE_MS } from "#server/features/webhooks/signatures.ts";
import { pool } from "#server/platform/db/client.ts";
import { ERRORS } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";

// Log of calls without a valid signature, for the people who set a webhook up. Any client can send them, so each must cost little: no
// content is stored, at most one entry a minute per workflow is written, and only the latest entries are kept.

export type Refusal = Exclude<Proof, "good"> | "wrong_token";

/** Settings by which a call to an address without a webhook is checked. */
export const UNKNOWN: SenderConfig = { auth: "signature", auth_header: "", auth_username: "", verify_token: "" };

const sentenceOf = (reason: Refusal, config: SenderConfig): string => {
  if (reason === "wrong_token")
    return "The sender verified the address with a wrong verify token. Enter the same token in the trigger and at the sender.";
  const { asks, sendsSecret, signsAddress } = SENDERS[config.auth];
  const asked = asks(config);
  if (reason === "missing") return `The call had no ${asked.replace(/^(?:a|the) /, "")}.`;
  if (reason === "late") return lateness(config);
  if (sendsSecret) return `The secret is wrong. Send ${asked}.`;
  const signed = signsAddress ? "the raw body and the address under APP_URL" : "the raw body";
  return `The signature is wrong. The sender must sign ${signed} with the secret of the last setup.`;
};

/** Text for a delivery whose signature is right, so that its sender may learn more than that it was refused. */
export function lateness({ auth }: SenderConfig): string {
  const { timestamp, toleranceMs = TOLERANCE_MS } = SENDERS[auth];
  const most = toleranceMs > 60_000 ? `${toleranceMs / 60_000} minutes` : `${toleranceMs / 1000} seconds`;
  return `The signature is right, but ${timestamp} is missing, unreadable or more than ${most} off. Check the sender's clock, then sign and send the delivery again.`;
}

const PAUSE_MS = 60_000;
/** Refused calls that are kept, so that they do not displace deliveries that can be replayed. */
const KEPT = 5;
/** Calls per minute that are examined, over all workflows. */
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
 * minute. Runs after the response, whose time must not reveal if the workflow exists.
 */
export async function noteRefusal(workflow_id: string, reason: Refusal, config: SenderConfig = UNKNOWN): Promise<void> {
  const now = Date.now();
  if (!isUuid(workflow_id) || noted.has(workflow_id)) return;
  if (now - minute.begin >= PAUSE_MS) minute = { begin: now, count: 0 };
  if (++minute.count > MOST_A_MINUTE) return;
  noted.set(workflow_id, true);
  try {
    const { rowCount } = await pool().query(INSERT, [newId(), workflow_id, sentenceOf(reason, config)]);
    if (rowCount) await pool().query(TRIM, [workflow_id]);
  } catch (cause) {
    log.warn({ err: cause }, "a refused webhook call could not be noted");
  }
}
