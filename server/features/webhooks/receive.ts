import { acceptDelivery, type Delivery } from "#server/features/webhooks/deliveries.ts";
import { keepHeard } from "#server/features/webhooks/listen.ts";
import { lateness, noteRefusal, type Refusal, UNKNOWN } from "#server/features/webhooks/refused-calls.ts";
import { answerVerification, LONGEST_KEY, provenKey, SENDERS } from "#server/features/webhooks/senders.ts";
import type { Call, Head } from "#server/features/webhooks/signatures.ts";
import type { VerificationAnswer } from "#server/features/webhooks/verifications.ts";
import { type SavedWorkflow, savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { AppError, isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { maskerOf } from "#server/platform/masking/masker.ts";
import { type RequestContent, readContent } from "#server/platform/net/request-content.ts";
import { visibleEntries } from "#server/platform/net/visible-headers.ts";
import { randomToken, sha256, unsealOften } from "#server/platform/secrets.ts";
import { appUrl } from "#server/platform/settings.ts";
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

/** Signatures are checked against it where there is no secret, so that an unknown workflow answers no sooner. */
const DECOY = randomToken();

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

/** True for a call that a sender could have signed. Its body is read then, also that of an unknown workflow, which so tells nothing. */
const isSignedByAnybody = (head: Head): boolean =>
  WebhookAuth.options.some((auth) => auth !== "none" && auth !== "header" && SENDERS[auth].isOffered(head, UNKNOWN));

/** The content of a body, or the error that its sender gets once the workflow turns out to take calls. */
async function contentOf(headers: Headers, body: Uint8Array): Promise<RequestContent | AppError> {
  try {
    return await readContent(headers, body);
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
}

/** Request to the address of a webhook. */
export type WebhookRequest = Pick<Request, "method" | "url" | "headers">;

/** Reads what proofs are checked by. A sender may know the address with or without the version of the API. */
function headOf({ method, url, headers }: WebhookRequest): Head {
  const { pathname, search, searchParams } = new URL(url);
  const paths = [pathname, pathname.replace(/^\/api\/v1/, "")];
  return { method, headers, query: searchParams, urls: paths.map((path) => `${appUrl()}${path}${search}`) };
}

const NOTHING = new Uint8Array();

/** The webhook of a workflow, as far as calls are concerned. */
async function webhookOf(workflow_id: string) {
  const workflow = await savedWorkflow(workflow_id);
  const secret = secretOf(workflow?.sealed_secret);
  const config = secret !== undefined && workflow?.trigger.kind === "webhook" ? workflow.trigger : UNKNOWN;
  return {
    workflow,
    secret,
    config,
    callOf: (head: Head): Call => ({ ...head, body: NOTHING, secret: secret ?? DECOY, config, now: Date.now() }),
  };
}

/**
 * Answers a question of a sender that comes by GET, HEAD or OPTIONS. It never starts a run.
 * @returns undefined for a request that is no question of the trigger's sender, and for an unknown workflow
 */
export async function verifyAddress(workflow_id: string, request: WebhookRequest): Promise<VerificationAnswer | undefined> {
  const { secret, config, callOf } = await webhookOf(workflow_id);
  if (secret === undefined) return undefined;
  const call = callOf(headOf(request));

  const isProven = SENDERS[config.auth].check(call) === "good";
  const answer = answerVerification(call, false) ?? (isProven ? answerVerification(call, true) : undefined);
  if (answer !== "wrong") return answer;
  void noteRefusal(workflow_id, "wrong_token", config);
  return undefined;
}

/**
 * Starts a run for a call of a sender, or answers its question about the address. The proof is checked before anything but a question
 * that has none, so that a client without the secret does not learn if the workflow exists.
 * @param read gives the bytes as sent; not called for a request that has nothing to prove
 * @throws AppError AUTH_REQUIRED, the same for a bad proof, an unknown workflow and one that was never set up, with its own text for
 *   a right signature with a wrong timestamp; then what `acceptDelivery` throws
 */
export async function receiveDelivery(
  workflow_id: string,
  request: WebhookRequest,
  read: () => Promise<Uint8Array>,
): Promise<ExecuteResult | VerificationAnswer> {
  const { workflow, secret, config, callOf } = await webhookOf(workflow_id);
  const head = headOf(request);
  const sender = SENDERS[config.auth];
  const refuse = (reason: Refusal) => {
    void noteRefusal(workflow_id, reason, config);
    return reason === "late" ? new AppError("AUTH_REQUIRED", lateness(config)) : badSignature();
  };
  const question = answerVerification(callOf(head), false);
  if (question && question !== "wrong") return question;

  const isOffered = sender.isOffered(head, config);
  if (!isOffered && !isSignedByAnybody(head)) throw refuse("missing");
  const call = { ...callOf(head), body: await read() };
  const proof = isOffered ? sender.check(call) : "missing";
  if (proof !== "good") throw refuse(proof);
  if (!workflow || secret === undefined) throw refuse("wrong");

  const answer = answerVerification(call, true);
  if (answer && answer !== "wrong") return answer;
  return start(workflow, call);
}

/** Starts a run for a call with a good proof. @throws what `acceptDelivery` throws */
async function start(workflow: SavedWorkflow, call: Call): Promise<ExecuteResult> {
  const { headers, body, secret, config } = call;
  const sender = SENDERS[config.auth];
  const content = await contentOf(headers, body);
  const json = content instanceof AppError ? body : Buffer.from(content.json);
  const key = provenKey(config.auth, headers, json) ?? deliveryKey(headers);

  const sent = content instanceof AppError ? new TextDecoder().decode(body) : "";
  const received = sender.isSecretInBody ? await withoutSecret({ content, sent }, secret) : { content, sent };
  const hidden = [config.auth_header, ...sender.hidden(call)].map((name) => name.toLowerCase());
  if (workflow.is_listening) await keepHeard(workflow, headers, received, { secret, hidden });
  return acceptDelivery(workflow, {
    ...received,
    headers: visibleEntries(headers, (name, value) => hidden.includes(name) || value.includes(secret)),
    key,
    started_by_id: null,
  });
}

/** Masks the secret in what is kept of a body. */
async function withoutSecret({ content, sent }: Pick<Delivery, "content" | "sent">, secret: string) {
  const masker = maskerOf([secret]);
  if (content instanceof AppError) return { content, sent: await masker.inSlices(sent) };
  return { content: await masker.inSlices(content), sent };
}
