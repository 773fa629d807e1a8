import { pool } from "#server/db/client.ts";
import { ERRORS } from "#server/errors.ts";
import { log } from "#server/log.ts";
import { newId } from "#server/new-id.ts";
import { isUuid } from "#server/services/ids.ts";

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
/** How many workflows this process remembers to have noted one of. */
const MOST_NOTED = 1000;
/** How many calls a minute are looked into at most, whatever workflows they name. */
const MOST_A_MINUTE = 120;

/** When a refused call of a workflow was noted last, the latest at the end. */
const noted = new Map<string, number>();
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
  if (!isUuid(workflow_id) || now - (noted.get(workflow_id) ?? 0) < PAUSE_MS) return;
  if (now - minute.begin >= PAUSE_MS) minute = { begin: now, count: 0 };
  if (++minute.count > MOST_A_MINUTE) return;
  noted.delete(workflow_id);
  if (noted.size >= MOST_NOTED) noted.delete(noted.keys().next().value ?? "");
  noted.set(workflow_id, now);
  try {
    const { rowCount } = await pool().query(INSERT, [newId(), workflow_id, REASONS[reason]]);
    if (rowCount) await pool().query(TRIM, [workflow_id]);
  } catch (cause) {
    log.warn({ err: cause }, "a refused webhook call could not be noted");
  }
}
