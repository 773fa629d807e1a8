import { sha256 } from "#server/secrets.ts";

/** Headers in which senders say which delivery this is, so that one that they repeat is known. The first one found counts. */
const HEADERS = [
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
  for (const name of HEADERS) {
    const value = headers.get(name)?.trim();
    if (value) return `${name}:${value.length > LONGEST ? sha256(value) : value}`;
  }
  return null;
}
