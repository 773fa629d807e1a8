import type { ChoiceWords, NodeConfig } from "#components/workflow-editor/nodes/types.ts";

type Config = NodeConfig<"triggerNode">;

/** Settings of a webhook trigger about its sender. */
export type WebhookSender = Pick<Config, "auth" | "auth_header" | "auth_username">;

/** Texts of the editor about a sender. */
interface SenderWords extends ChoiceWords {
  /** Calls that start a run, as the card names them; left out, each call of the sender. */
  calls?: string;
  /** Fields of the trigger that only this sender has. */
  fields?: readonly (keyof Config)[];
  /** Place at which the sender shows its secret. Left out, Treadle generates the secret. */
  secretFrom?: string;
  /** Parameter of the address that holds the secret. */
  secretParameter?: string;
  /** Proof of a call by hand, as an argument of curl. Left out for a sender that is tried from its own side. */
  curlProof?: (sender: WebhookSender) => string;
}

const BODY_HMAC = `sha256=$(printf %s "$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.* //')`;
const hubSignature = () => `-H "X-Hub-Signature-256: ${BODY_HMAC}"`;

/** By the value of `auth`, in the order of the menu. */
export const WEBHOOK_SENDERS: Record<Config["auth"], SenderWords> = {
  signature: {
    label: "Signature",
    description: "X-SERVICE-Signature, for your own services",
    calls: "each signed webhook call",
    curlProof: () => `-H "X-SERVICE-Signature: ${BODY_HMAC}"`,
  },
  github: { label: "GitHub", description: "X-Hub-Signature-256", curlProof: hubSignature },
  stripe: {
    label: "Stripe",
    description: "Stripe-Signature; the secret comes from Stripe",
    secretFrom: "Stripe makes the secret: on the page of the endpoint, “Signing secret”.",
  },
  slack: {
    label: "Slack",
    description: "X-Slack-Signature; the secret comes from Slack",
    secretFrom: "Slack makes the secret: on the page of the app, “Signing Secret”.",
  },
  meta: {
    label: "Meta",
    description: "Facebook, Instagram and WhatsApp. The secret comes from Meta.",
    fields: ["verify_token"],
    secretFrom: "Meta makes the secret: in the app’s basic settings, “App secret”.",
    curlProof: hubSignature,
  },
  zoom: {
    label: "Zoom",
    description: "x-zm-signature. The secret comes from Zoom.",
    secretFrom: "Zoom makes the secret: on the page “Access” of the app, “Secret Token”.",
  },
  twilio: {
    label: "Twilio",
    description: "X-Twilio-Signature. The secret comes from Twilio.",
    secretFrom: "The secret is the primary auth token of the Twilio account.",
  },
  shopify: {
    label: "Shopify",
    description: "X-Shopify-Hmac-Sha256. The secret comes from Shopify.",
    secretFrom: "Shopify makes the secret: the client secret of the app or, for webhooks of a store, the key on their page.",
  },
  linear: {
    label: "Linear",
    description: "Linear-Signature. The secret comes from Linear.",
    secretFrom: "Linear makes the secret: on the page of the webhook, “Signing secret”.",
  },
  typeform: { label: "Typeform", description: "Typeform-Signature" },
  gitlab: {
    label: "GitLab",
    description: "X-Gitlab-Token, or a signing token",
    curlProof: () => `-H "X-Gitlab-Token: $WEBHOOK_SECRET"`,
  },
  trello: {
    label: "Trello",
    description: "X-Trello-Webhook. The secret comes from Trello.",
    secretFrom: "Trello makes the secret: on the page “API key” of the Power-Up, “Secret”.",
  },
  dropbox: {
    label: "Dropbox",
    description: "X-Dropbox-Signature. The secret comes from Dropbox.",
    secretFrom: "Dropbox makes the secret: on the page of the app, “App secret”.",
  },
  microsoft_graph: {
    label: "Microsoft Graph",
    description: "The secret is the clientState of the subscription.",
    calls: "each notification of Microsoft Graph",
  },
  event_grid: {
    label: "Azure Event Grid",
    description: "The secret is a part of the address.",
    calls: "each event of Azure Event Grid",
    secretParameter: "secret",
  },
  standard: {
    label: "Standard Webhooks",
    description: "webhook-signature, as many services sign",
    calls: "each call signed as Standard Webhooks are",
  },
  header: {
    label: "Secret in a header",
    description: "For senders that cannot sign",
    calls: "each webhook call with the secret",
    fields: ["auth_header"],
    curlProof: ({ auth_header }) => `-H "${auth_header}: $WEBHOOK_SECRET"`,
  },
  basic: {
    label: "Name and secret",
    description: "HTTP Basic authentication",
    calls: "each webhook call with the secret",
    fields: ["auth_username"],
    curlProof: ({ auth_username }) => `--user "${auth_username}:$WEBHOOK_SECRET"`,
  },
  none: {
    label: "None",
    description: "No authentication. Anyone with the URL can start runs.",
    calls: "each webhook call, without authentication",
    curlProof: () => "",
  },
};
