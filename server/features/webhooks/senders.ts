import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256 } from "#server/platform/secrets.ts";
import { parseJson } from "#server/shared/json-text.ts";
import type { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

// How senders prove who they are, as each of them documents it. A sender is a row of the table; nothing else knows which it is.

/** What a trigger says of its sender, beside the secret that is kept apart. */
export interface SenderConfig {
  auth: WebhookAuth;
  auth_header: string;
  auth_username: string;
}

export interface Call {
  headers: Headers;
  /** The raw bytes, as they came: what signatures are over. */
  body: Uint8Array;
  secret: string;
  config: SenderConfig;
  /** The time now, in milliseconds. */
  now: number;
}

/** What a call proves: nothing, something wrong, the right thing too long ago, or who sent it. */
export type Proof = "missing" | "wrong" | "late" | "good";

interface Sender {
  /** Whether the call has what it is checked by, so that without it the body need not be read. */
  isOffered(headers: Headers, config: SenderConfig): boolean;
  check(call: Call): Proof;
  /** What the sender must send, for those who set the webhook up. */
  asks(config: SenderConfig): string;
  /** The timestamp that `check` compares with the clock, for messages. */
  timestamp?: string;
  /**
   * Which delivery it is, by what the proof covers, for senders that say so: whoever sends a call again that was overheard cannot
   * change that. Null when this one does not say.
   */
  deliveryOf?(headers: Headers, body: Uint8Array): string | null;
}

/** How far the sender's clock and the way may be off, in milliseconds. */
export const TOLERANCE_MS = 5 * 60_000;

/** Of what tells deliveries apart, how many characters are kept as they are. */
export const LONGEST_KEY = 200;

const hmac = (secret: string | Buffer, ...parts: (string | Uint8Array)[]): Buffer => {
  const hash = createHmac("sha256", secret);
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Whether two texts are the same, in a time that does not depend on where they differ, nor on their lengths. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));
const isHex = (hex: string | undefined, expected: Buffer): boolean =>
  hex !== undefined && /^[0-9a-f]{64}$/i.test(hex) && timingSafeEqual(Buffer.from(hex, "hex"), expected);
const isNow = (seconds: string, now: number): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(now - Number(seconds) * 1000) <= TOLERANCE_MS;
const text = (headers: Headers, name: string): string => headers.get(name)?.trim() ?? "";

/** A signature over the body alone, `sha256=` and hex digits, in a header. */
function hexOverBody(header: string): Pick<Sender, "isOffered" | "check"> {
  const hexIn = (headers: Headers) => /^sha256=([0-9a-f]{64})$/i.exec(text(headers, header))?.[1];
  return {
    isOffered: (headers) => hexIn(headers) !== undefined,
    check: ({ headers, body, secret }) => (isHex(hexIn(headers), hmac(secret, body)) ? "good" : "wrong"),
  };
}

/** Milliseconds since 1970: of seconds or milliseconds since then, or of a date as ISO 8601 or mail headers write it; else NaN. */
function timeIn(written: string): number {
  if (/^\d+(\.\d+)?$/.test(written)) return Number(written) * (Number(written) < 1e11 ? 1000 : 1);
  return Date.parse(written);
}

const OWN_TIMESTAMP = "X-SERVICE-Timestamp";

/** True unless the sender's timestamp is off. The signature does not cover it, so a delivery may come without. */
function isTimely(headers: Headers, now: number): boolean {
  const written = headers.get(OWN_TIMESTAMP)?.trim();
  return written === undefined || Math.abs(now - timeIn(written)) <= TOLERANCE_MS;
}

const own = hexOverBody("x-service-signature");

/** The family of headers of Standard Webhooks; Svix, from which it comes, calls them its own way. */
const standardPrefix = (headers: Headers) => (headers.has("webhook-signature") ? "webhook-" : "svix-");

/** The key in a secret of Standard Webhooks: base64 behind a prefix. Another secret is the key as it stands. */
function standardKey(secret: string): string | Buffer {
  const inner = secret.replace(/^whsec_/, "");
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(inner) ? Buffer.from(inner, "base64") : secret;
}

/** `t=…,v1=…,v1=…` as pairs. */
const pairsIn = (header: string): [name: string, value: string][] =>
  header
    .slice(0, 4000)
    .split(",")
    .map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    });

export const SENDERS: Readonly<Record<WebhookAuth, Sender>> = {
  signature: {
    isOffered: own.isOffered,
    check(call) {
      const proof = own.check(call);
      return proof === "good" && !isTimely(call.headers, call.now) ? "late" : proof;
    },
    timestamp: `its ${OWN_TIMESTAMP}`,
    asks: () => "a signature such as sha256=<64 hex digits> in its header X-SERVICE-Signature",
  },
  // https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    ...hexOverBody("x-hub-signature-256"),
    asks: () => "a signature in its header X-Hub-Signature-256: give GitHub the same secret",
  },
  // https://docs.stripe.com/webhooks/signature
  stripe: {
    isOffered: (headers) => text(headers, "stripe-signature") !== "",
    check({ headers, body, secret, now }) {
      const pairs = pairsIn(text(headers, "stripe-signature"));
      const time = pairs.find(([name]) => name === "t")?.[1] ?? "";
      const expected = hmac(secret, `${time}.`, body);
      // While a secret is rolled there is one signature for each.
      if (!pairs.some(([name, hex]) => name === "v1" && isHex(hex, expected))) return "wrong";
      return isNow(time, now) ? "good" : "late";
    },
    timestamp: "t in its Stripe-Signature",
    asks: () => "a signature in its header Stripe-Signature: take over the signing secret of the endpoint from Stripe",
    deliveryOf: (_, body) => idIn(body, "id"),
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    isOffered: (headers) => text(headers, "x-slack-signature") !== "",
    check({ headers, body, secret, now }) {
      const time = text(headers, "x-slack-request-timestamp");
      const hex = /^v0=([0-9a-f]{64})$/i.exec(text(headers, "x-slack-signature"))?.[1];
      if (!isHex(hex, hmac(secret, `v0:${time}:`, body))) return "wrong";
      return isNow(time, now) ? "good" : "late";
    },
    timestamp: "its X-Slack-Request-Timestamp",
    asks: () => "a signature in its header X-Slack-Signature: take over the signing secret of the app from Slack",
    // A command has no id; two of them in one second and with the same words are one.
    deliveryOf: (headers, body) => idIn(body, "event_id") ?? text(headers, "x-slack-signature").toLowerCase(),
  },
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  standard: {
    isOffered: (headers) => text(headers, `${standardPrefix(headers)}signature`) !== "",
    check({ headers, body, secret, now }) {
      const prefix = standardPrefix(headers);
      const [id, time] = [text(headers, `${prefix}id`), text(headers, `${prefix}timestamp`)];
      const expected = hmac(standardKey(secret), `${id}.${time}.`, body).toString("base64");
      const given = text(headers, `${prefix}signature`).slice(0, 4000).split(/\s+/);
      const isSigned = given.map((one) => one.startsWith("v1,") && isSame(one.slice(3), expected)).includes(true);
      if (id === "" || !isSigned) return "wrong";
      return isNow(time, now) ? "good" : "late";
    },
    timestamp: "its webhook-timestamp",
    asks: () => "the headers webhook-id, webhook-timestamp and webhook-signature",
    deliveryOf: (headers) => text(headers, `${standardPrefix(headers)}id`),
  },
  header: {
    isOffered: (headers, { auth_header }) => text(headers, auth_header) !== "",
    check: ({ headers, secret, config }) => (isSame(text(headers, config.auth_header), secret) ? "good" : "wrong"),
    asks: ({ auth_header }) => `the secret in its header ${auth_header}`,
  },
  basic: {
    isOffered: (headers) => /^basic /i.test(text(headers, "authorization")),
    check({ headers, secret, config }) {
      const given = Buffer.from(text(headers, "authorization").slice("basic ".length).trim(), "base64").toString();
      return isSame(given, `${config.auth_username}:${secret}`) ? "good" : "wrong";
    },
    asks: ({ auth_username }) => `the name “${auth_username}” and the secret as HTTP Basic authentication`,
  },
  none: { isOffered: () => true, check: () => "good", asks: () => "nothing" },
};

function idIn(body: Uint8Array, field: string): string | null {
  const id: unknown = Object(parsed(body))[field];
  return typeof id === "string" && id !== "" ? id : null;
}

/** What tells a call from others of its workflow, of senders whose proof covers that; e.g. `stripe:evt_1`, null when nothing does. */
export function provenKey(auth: WebhookAuth, headers: Headers, body: Uint8Array): string | null {
  const id = SENDERS[auth].deliveryOf?.(headers, body) ?? null;
  return id === null ? null : `${auth}:${id.length > LONGEST_KEY ? sha256(id) : id}`;
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder().decode(body));
  } catch {
    return undefined; // what is wrong with the body is said when it is taken in
  }
}

/** What Slack asks once when an address is given to it, to be answered with its challenge; null for anything else. */
export function slackChallenge(auth: WebhookAuth, body: Uint8Array): string | null {
  if (auth !== "slack") return null;
  const { type, challenge }: Record<string, unknown> = Object(parsed(body));
  return type === "url_verification" && typeof challenge === "string" ? challenge.slice(0, 1000) : null;
}
