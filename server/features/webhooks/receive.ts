import { LRUCache } from "lru-cache";
import { acceptDelivery } from "#server/features/webhooks/deliveries.ts";
import { keepHeard } from "#server/features/webhooks/listen.ts";
import { LONGEST_KEY, type Proof, provenKey, SENDERS, type SenderConfig, slackChallenge } from "#server/features/webhooks/senders.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { pool } from "#server/platform/db/client.ts";
import { AppError, ERRORS, isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { type RequestContent, readContent } from "#server/platform/net/request-content.ts";
import { visibleEntries } from "#server/platform/net/visible-headers.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";
import { randomToken, sha256, unsealOften } from "#server/platform/secrets.ts";
import type { ExecuteResult } from "#server/runs/schema.ts";
import { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

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

/** What tells a delivery from others of its workflow: header and value, e.g. `idempotency-key:42`; null when nothing does. */
export function deliveryKey(headers: Headers): string | null {
  for (const name of KEY_HEADERS) {
    const value = headers.get(name)?.trim();
    if (value) return `${name}:${value.length > LONGEST_KEY ? sha256(value) : value}`;
  }
  return null;
}

// Calls without a good signature, told to those who set the webhook up. Anybody can send them, so they must cost next to
// nothing: none of what came is kept, at most one a minute of each workflow is written down, and only the latest few stay.

type Refusal = Exclude<Proof, "good">;

const sentenceOf = (reason: Refusal, config: SenderConfig): string => {
  const asked = SENDERS[config.auth].asks(config);
  if (reason === "missing") return `The call had no ${asked.replace(/^(?:a|the) /, "")}.`;
  const body =
    config.auth === "header" || config.auth === "basic" ? "" : " The sender must sign the raw body with the secret of the last setup.";
  if (reason === "wrong") return `The ${body ? "signature" : "secret"} is wrong.${body || ` Send ${asked}.`}`;
  return lateness(config);
};

/** Text for a delivery whose signature is right, so that its sender may learn more than that it was refused. */
const lateness = ({ auth }: SenderConfig): string =>
  `The signature is right, but ${SENDERS[auth].timestamp} is missing, unreadable or more than 5 minutes off. Check the sender's clock, then sign and send the delivery again.`;

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

/** Signatures are checked against it where there is no secret, so that an unknown workflow answers no sooner. */
const DECOY = randomToken();

/** What a call to an address without a webhook is looked at as. */
const UNKNOWN: SenderConfig = { auth: "signature", auth_header: "", auth_username: "" };

/** The same words whoever the sender should be: they must not tell whether the workflow exists. */
const badSignature = (): AppError =>
  new AppError(
    "AUTH_REQUIRED",
    "The signature or the secret is missing or wrong. Send what the webhook's trigger asks for, by default `X-SERVICE-Signature: sha256=<hex HMAC-SHA256 of the raw body>`.",
  );

function secretOf(sealed: string | null | undefined): string | undefined {
  if (!sealed) return undefined;
  try {
    return unsealOften(sealed);
  } catch (error) {
    log.error({ err: error }, "the secret of a webhook cannot be read; set it up again");
    return undefined;
  }
}

/** Whether a call could be from a sender that signs. Its body is read then, also of an unknown workflow's, which so tells nothing. */
const isSignedByAnybody = (headers: Headers): boolean =>
  WebhookAuth.options.some((auth) => auth !== "none" && auth !== "header" && SENDERS[auth].isOffered(headers, UNKNOWN));

/** The content of a body, or the error that its sender gets once the workflow turns out to take calls. */
async function contentOf(headers: Headers, body: Uint8Array): Promise<RequestContent | AppError> {
  try {
    return await readContent(headers, body);
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
}

/** What a sender is answered: a run, or the challenge by which it asks whether the address is ours. */
export type WebhookAnswer = ExecuteResult | { challenge: string };

/**
 * A call of a sender: checked by its proof alone, which comes first, so that nobody without the secret learns whether
 * the workflow exists.
 * @param read the bytes as they came; not asked for where the call has nothing that could prove anything
 * @throws AppError AUTH_REQUIRED, the same for a bad proof, an unknown workflow and one that was never set up, with its own text for
 *   a right signature with a wrong timestamp; then what `acceptDelivery` throws
 */
export async function receiveDelivery(workflow_id: string, headers: Headers, read: () => Promise<Uint8Array>): Promise<WebhookAnswer> {
  const workflow = await savedWorkflow(workflow_id);
  const secret = secretOf(workflow?.sealed_secret);
  const config = secret !== undefined && workflow?.trigger.kind === "webhook" ? workflow.trigger : UNKNOWN;
  const sender = SENDERS[config.auth];
  const refuse = (reason: Refusal) => {
    void noteRefusal(workflow_id, reason, config);
    return reason === "late" ? new AppError("AUTH_REQUIRED", lateness(config)) : badSignature();
  };
  const isOffered = sender.isOffered(headers, config);
  if (!isOffered && !isSignedByAnybody(headers)) throw refuse("missing");
  const body = await read();
  const proof = isOffered ? sender.check({ headers, body, secret: secret ?? DECOY, config, now: Date.now() }) : "missing";
  if (proof !== "good") throw refuse(proof);
  if (!workflow || secret === undefined) throw refuse("wrong");
  const challenge = slackChallenge(config.auth, body);
  if (challenge !== null) return { challenge };
  const content = await contentOf(headers, body);
  const json = content instanceof AppError ? body : Buffer.from(content.json);
  const received = { content, sent: new TextDecoder().decode(body) };
  if (workflow.is_listening) await keepHeard(workflow, headers, received, secret);
  return acceptDelivery(workflow, {
    ...received,
    headers: visibleEntries(headers, (name, value) => name === config.auth_header.toLowerCase() || value.includes(secret)),
    key: provenKey(config.auth, headers, json) ?? deliveryKey(headers),
    started_by_id: null,
  });
}
