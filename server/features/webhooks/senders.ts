import { createHash } from "node:crypto";
import {
  type Call,
  fieldIn,
  type Head,
  headerText,
  type Proof,
  parsedBody,
  type SenderConfig,
  secondsIn,
  sentBy,
  signedBy,
} from "#server/features/webhooks/signatures.ts";
import {
  cloudEventsVerification,
  dropboxVerification,
  eventGridVerification,
  graphVerification,
  metaVerification,
  slackVerification,
  trelloVerification,
  type Verification,
  type VerificationAnswer,
  zoomVerification,
} from "#server/features/webhooks/verifications.ts";
import { isSameSecret, sha256 } from "#server/platform/secrets.ts";
import type { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

// How senders prove who they are, as each of them documents it. A sender is a row of the table; nothing else knows which it is.

interface Sender {
  /** True when the call has what it is checked by, so that without it the body need not be read. */
  isOffered(call: Head, config: SenderConfig): boolean;
  check(call: Call): Proof;
  /** What the sender must send, for those who set the webhook up. */
  asks(config: SenderConfig): string;
  /** Names of headers that prove something; runs never see them. */
  hidden(call: Head): readonly string[];
  /** The timestamp that `check` compares with the clock, for messages. */
  timestamp?: string;
  /** Greatest difference between that and the clock, in ms. */
  toleranceMs?: number;
  /**
   * Id of the delivery in what the proof covers, for senders that have one: a client with a copy of a call cannot change that. Null
   * when this call has none.
   */
  deliveryOf?(headers: Headers, body: Uint8Array): string | null;
  /** Questions by which the sender asks if the address expects it. */
  verifications?: readonly Verification[];
  /** True for a sender that writes the secret into its bodies: runs get them with the secret masked. */
  isSecretInBody?: true;
  /** True for a sender that sends the secret in place of a signature. */
  sendsSecret?: true;
  /** True for a sender that signs the address as it knows it, besides the body. */
  signsAddress?: true;
}

/** Characters of an id of a delivery that are kept; a longer one is kept as its hash. */
export const LONGEST_KEY = 200;

/** Milliseconds since 1970: of seconds or milliseconds since then, or of a date as ISO 8601 or mail headers write it; else NaN. */
function timeIn(written: string): number {
  if (/^\d+(\.\d+)?$/.test(written)) return Number(written) * (Number(written) < 1e11 ? 1000 : 1);
  return Date.parse(written);
}

const OWN_TIMESTAMP = "X-SERVICE-Timestamp";

/** The family of headers of Standard Webhooks; Svix, from which it comes, calls them its own way. */
const standardPrefix = (headers: Headers) => (headers.has("webhook-signature") ? "webhook-" : "svix-");

/** The key in a secret of Standard Webhooks: base64 behind a prefix. Another secret is the key as it stands. */
function standardKey(secret: string): string | Buffer {
  const inner = secret.replace(/^whsec_/, "");
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(inner) ? Buffer.from(inner, "base64") : secret;
}

/** Values of a name in `t=…,v1=…,v1=…`. */
const valuesOf = (name: string, header: string): string[] =>
  header
    .slice(0, 4000)
    .split(",")
    .flatMap((pair) => {
      const at = pair.indexOf("=");
      return pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
    });

const stripeTime = (headers: Headers) => valuesOf("t", headerText(headers, "stripe-signature"))[0] ?? "";

/** `v0:<time>:<body>`, as Slack and Zoom sign. */
const versionedText = (timeHeader: string) => ({
  prefix: "v0=",
  encoding: "hex" as const,
  signed: ({ headers, body }: Call) => [[`v0:${headerText(headers, timeHeader)}:`, body]],
  sentAt: ({ headers }: Call) => secondsIn(headerText(headers, timeHeader)),
});

const mediaTypeOf = (headers: Headers): string => headerText(headers, "content-type").split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** Bytes of a form of Twilio, which has a few KiB: any client can have it sorted. */
const MAX_FORM_BYTES = 64 * 1024;
/** Bytes of notifications of Microsoft Graph: any client can have them parsed, which takes up to 0.2 s. */
const MAX_NOTIFICATION_BYTES = 1024 * 1024;

/** Returns the addresses with and without their port: Twilio signs either. */
const withPorts = (urls: readonly string[]): string[] =>
  urls.flatMap((url) => {
    const { protocol, hostname, port } = new URL(url);
    const rest = url.replace(/^\w+:\/\/[^/?]*/, "");
    const host = `${protocol}//${hostname}`;
    return [`${host}${rest}`, `${host}:${port || (protocol === "https:" ? 443 : 80)}${rest}`];
  });

/** Returns the fields of a form by name in the order of Twilio's signature, each name with its distinct values. */
function sortedFields(form: string): string {
  const fields = new Map<string, Set<string>>();
  // The mark begins the first name where a body begins with it, and would be dropped as that of a query.
  for (const [name, value] of new URLSearchParams(`&${form}`)) fields.set(name, (fields.get(name) ?? new Set()).add(value));
  return [...fields.keys()]
    .sort()
    .flatMap((name) => [...(fields.get(name) ?? [])].sort().map((value) => name + value))
    .join("");
}

/**
 * Returns what Twilio may have signed: each address with the fields of the form, or with the hash of another body in its query. None for
 * a body that neither covers.
 */
function twilioTexts({ headers, body, query, urls }: Call): string[][] {
  const bodyHash = query.get("bodySHA256");
  if (bodyHash !== null) {
    const isCovered = isSameSecret(bodyHash.toLowerCase(), createHash("sha256").update(body).digest("hex"));
    return isCovered ? withPorts(urls).map((url) => [url]) : [];
  }
  const isForm = mediaTypeOf(headers) === "application/x-www-form-urlencoded";
  if (body.byteLength > (isForm ? MAX_FORM_BYTES : 0)) return [];
  const fields = sortedFields(new TextDecoder().decode(body));
  return withPorts(urls).map((url) => [url + fields]);
}

/** Id of an event in a body with one event. An id is unique in its source. */
function eventIdIn(body: Uint8Array): string | null {
  const payload = parsedBody(body);
  const event = Array.isArray(payload) && payload.length === 1 ? payload[0] : payload;
  const [id, source] = [fieldIn(event, "id"), fieldIn(event, "source") ?? fieldIn(event, "topic")];
  return typeof id === "string" && id !== "" ? `${id} ${source ?? ""}` : null;
}

/** Returns true when every notification has the secret. */
function hasClientState({ body, secret }: Call): boolean {
  const notifications = fieldIn(parsedBody(body, MAX_NOTIFICATION_BYTES), "value");
  if (!Array.isArray(notifications)) return false;
  const state = fieldIn(notifications[0], "clientState");
  if (typeof state !== "string" || !isSameSecret(state, secret)) return false;
  return notifications.every((notification) => fieldIn(notification, "clientState") === state);
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
const standard = {
  ...signedBy({
    header: (headers) => `${standardPrefix(headers)}signature`,
    digestsIn: (text) => text.split(/\s+/).flatMap((one) => (one.startsWith("v1,") ? [one.slice(3)] : [])),
    encoding: "base64",
    keyOf: standardKey,
    signed({ headers, body }) {
      const prefix = standardPrefix(headers);
      const [id, time] = [headerText(headers, `${prefix}id`), headerText(headers, `${prefix}timestamp`)];
      return id === "" ? [] : [[`${id}.${time}.`, body]];
    },
    sentAt: ({ headers }) => secondsIn(headerText(headers, `${standardPrefix(headers)}timestamp`)),
  }),
  timestamp: "its webhook-timestamp",
  deliveryOf: (headers: Headers) => headerText(headers, `${standardPrefix(headers)}id`) || null,
};
const gitlabToken = sentBy(({ headers }) => [headerText(headers, "x-gitlab-token")], "x-gitlab-token");
const hubSignature = signedBy({ header: "x-hub-signature-256", prefix: "sha256=", encoding: "hex" });

export const SENDERS: Readonly<Record<WebhookAuth, Sender>> = {
  signature: {
    ...signedBy({
      header: "x-service-signature",
      prefix: "sha256=",
      encoding: "hex",
      // The signature does not cover it, so a delivery may come without.
      sentAt: ({ headers }) => (headers.has(OWN_TIMESTAMP) ? timeIn(headerText(headers, OWN_TIMESTAMP)) : undefined),
    }),
    timestamp: `its ${OWN_TIMESTAMP}`,
    asks: () => "a signature such as sha256=<64 hex digits> in its header X-SERVICE-Signature",
  },
  // https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  github: { ...hubSignature, asks: () => "a signature in its header X-Hub-Signature-256: give GitHub the same secret" },
  // https://docs.stripe.com/webhooks/signature; while a secret is rolled there is one signature for each.
  stripe: {
    ...signedBy({
      header: "stripe-signature",
      digestsIn: (text) => valuesOf("v1", text),
      encoding: "hex",
      signed: ({ headers, body }) => [[`${stripeTime(headers)}.`, body]],
      sentAt: ({ headers }) => secondsIn(stripeTime(headers)),
    }),
    timestamp: "t in its Stripe-Signature",
    asks: () => "a signature in its header Stripe-Signature: take over the signing secret of the endpoint from Stripe",
    deliveryOf: (_, body) => idIn(body, "id"),
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    ...signedBy({ header: "x-slack-signature", ...versionedText("x-slack-request-timestamp") }),
    timestamp: "its X-Slack-Request-Timestamp",
    asks: () => "a signature in its header X-Slack-Signature: take over the signing secret of the app from Slack",
    // A command has no id; two of them in one second and with the same words are one.
    deliveryOf: (headers, body) => idIn(body, "event_id") ?? headerText(headers, "x-slack-signature").toLowerCase(),
    verifications: [slackVerification],
  },
  // https://developers.facebook.com/docs/graph-api/webhooks/getting-started, "Validating Payloads"
  meta: {
    ...hubSignature,
    asks: () => "a signature in its header X-Hub-Signature-256: take over the app secret from Meta",
    verifications: [metaVerification],
  },
  // https://developers.zoom.us/docs/api/webhooks, "Verify with Zoom's header"
  zoom: {
    ...signedBy({ header: "x-zm-signature", ...versionedText("x-zm-request-timestamp") }),
    timestamp: "its x-zm-request-timestamp",
    asks: () => "a signature in its header x-zm-signature: take over the secret token of the app from Zoom",
    deliveryOf: (headers) => headerText(headers, "x-zm-signature").toLowerCase(),
    verifications: [zoomVerification],
  },
  // https://www.twilio.com/docs/usage/webhooks/webhooks-security
  twilio: {
    ...signedBy({ header: "x-twilio-signature", algorithm: "sha1", encoding: "base64", signed: twilioTexts }),
    signsAddress: true,
    asks: () => "a signature of this address and the body in its header X-Twilio-Signature: take over the auth token from Twilio",
  },
  // https://shopify.dev/docs/apps/build/webhooks/verify-deliveries
  shopify: {
    ...signedBy({ header: "x-shopify-hmac-sha256", encoding: "base64" }),
    asks: () => "a signature in its header X-Shopify-Hmac-Sha256: take over the client secret of the app from Shopify",
  },
  // https://linear.app/developers/webhooks#securing-webhooks
  linear: {
    ...signedBy({
      header: "linear-signature",
      encoding: "hex",
      sentAt: ({ body }) => Number(fieldIn(parsedBody(body), "webhookTimestamp") ?? Number.NaN),
      toleranceMs: 60_000,
    }),
    timestamp: "webhookTimestamp in its body",
    asks: () => "a signature in its header Linear-Signature: take over the signing secret of the webhook from Linear",
  },
  // https://www.typeform.com/developers/webhooks/secure-your-webhooks
  typeform: {
    ...signedBy({ header: "typeform-signature", prefix: "sha256=", encoding: "base64" }),
    asks: () => "a signature in its header Typeform-Signature: give Typeform the same secret",
    deliveryOf: (_, body) => idIn(body, "event_id"),
  },
  // https://docs.gitlab.com/user/project/integrations/webhooks, a secret token or, signed as Standard Webhooks are, a signing token
  gitlab: {
    hidden: (call) => [...gitlabToken.hidden(), ...standard.hidden(call)],
    isOffered: (call, config) => standard.isOffered(call) || gitlabToken.isOffered(call, config),
    check: (call) => (gitlabToken.check(call) === "wrong" && standard.isOffered(call) ? standard.check(call) : gitlabToken.check(call)),
    timestamp: standard.timestamp,
    sendsSecret: true,
    asks: () => "the secret in its header X-Gitlab-Token, or a signature in webhook-signature: give GitLab the same token",
    deliveryOf: (headers) => (headers.has("webhook-signature") ? standard.deliveryOf(headers) : null),
  },
  // https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks, "Webhook Signatures"
  trello: {
    ...signedBy({
      header: "x-trello-webhook",
      algorithm: "sha1",
      encoding: "base64",
      signed: ({ body, urls }) => urls.map((url) => [body, url]),
    }),
    signsAddress: true,
    asks: () => "a signature of the body and this address in its header X-Trello-Webhook: take over the secret of the API key from Trello",
    // Webhooks of a board and of its card send one action each.
    deliveryOf(_, body) {
      const payload = parsedBody(body);
      const [action, model] = [fieldIn(payload, "action", "id"), fieldIn(payload, "model", "id")];
      return typeof action === "string" ? `${action} ${model ?? ""}` : null;
    },
    verifications: [trelloVerification],
  },
  // https://www.dropbox.com/developers/reference/webhooks
  dropbox: {
    ...signedBy({ header: "x-dropbox-signature", encoding: "hex" }),
    asks: () => "a signature in its header X-Dropbox-Signature: take over the app secret from Dropbox",
    verifications: [dropboxVerification],
  },
  // https://learn.microsoft.com/graph/change-notifications-delivery-webhooks
  microsoft_graph: {
    hidden: () => [],
    isOffered: ({ headers }) => mediaTypeOf(headers) === "application/json",
    check: (call) => (hasClientState(call) ? "good" : "wrong"),
    asks: () => "the secret as clientState of every notification: create the subscription with it",
    verifications: [graphVerification],
    isSecretInBody: true,
    sendsSecret: true,
  },
  // https://learn.microsoft.com/azure/event-grid/security-authentication, "Using client secret as a query parameter": of any name
  event_grid: {
    ...sentBy(({ query }) => [...query.values()]),
    asks: () => "the secret in the query of its address, as ?secret=…",
    deliveryOf: (_, body) => eventIdIn(body),
    verifications: [eventGridVerification, cloudEventsVerification],
  },
  standard: { ...standard, asks: () => "the headers webhook-id, webhook-timestamp and webhook-signature" },
  header: {
    ...sentBy(({ headers }, { auth_header }) => (auth_header === "" ? [] : [headerText(headers, auth_header)])),
    asks: ({ auth_header }) => `the secret in its header ${auth_header}`,
  },
  basic: {
    hidden: () => [],
    isOffered: ({ headers }) => /^basic /i.test(headerText(headers, "authorization")),
    check({ headers, secret, config }) {
      const given = Buffer.from(headerText(headers, "authorization").slice("basic ".length).trim(), "base64").toString();
      return isSameSecret(given, `${config.auth_username}:${secret}`) ? "good" : "wrong";
    },
    sendsSecret: true,
    asks: ({ auth_username }) => `the name “${auth_username}” and the secret as HTTP Basic authentication`,
  },
  none: { hidden: () => [], isOffered: () => true, check: () => "good", asks: () => "nothing" },
};

function idIn(body: Uint8Array, field: string): string | null {
  const id = fieldIn(parsedBody(body), field);
  return typeof id === "string" && id !== "" ? id : null;
}

/** Returns what names a delivery in what its sender's proof covers, e.g. `stripe:evt_1`; null without such an id. */
export function provenKey(auth: WebhookAuth, headers: Headers, body: Uint8Array): string | null {
  const id = SENDERS[auth].deliveryOf?.(headers, body) ?? null;
  return id === null ? null : `${auth}:${id.length > LONGEST_KEY ? sha256(id) : id}`;
}

/**
 * Returns the answer to a question of the trigger's sender; of any sender where the trigger asks for no authentication.
 * @param isProven true for the questions that need the proof of a delivery, which the call has given
 */
export function answerVerification(call: Call, isProven: boolean): VerificationAnswer | "wrong" | undefined {
  const { auth } = call.config;
  const senders = auth === "none" ? Object.values(SENDERS) : [SENDERS[auth]];
  for (const verification of senders.flatMap(({ verifications = [] }) => verifications)) {
    if (verification.method !== call.method || verification.isProven !== isProven) continue;
    const answer = verification.answer(call);
    if (answer) return answer;
  }
  return undefined;
}
