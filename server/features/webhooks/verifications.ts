import { type Call, fieldIn, hmac, parsedBody } from "#server/features/webhooks/signatures.ts";
import { isSameSecret } from "#server/platform/secrets.ts";

// Senders ask an address a question before they deliver to it. The answers hold text that any client can choose: they are short, plain
// text or JSON, and never a page.

/** Response to a question, always with status 200. */
export interface VerificationAnswer {
  type: "text/plain; charset=utf-8" | "application/json";
  body: string;
  headers?: Record<string, string>;
}

/** Question of one sender, and its answer. */
export interface Verification {
  method: "GET" | "HEAD" | "POST" | "OPTIONS";
  /** True where the question carries the same proof as a delivery, without which it is not answered. */
  isProven: boolean;
  /** @returns undefined for another request, `wrong` for a question with a wrong token */
  answer(call: Call): VerificationAnswer | "wrong" | undefined;
}

/** Characters of a text that is sent back. */
const MAX_CHALLENGE_LENGTH = 4096;
/** Bytes of a body that can be a question. */
const MAX_QUESTION_BYTES = 64 * 1024;

const isShort = (text: unknown): text is string => typeof text === "string" && text !== "" && text.length <= MAX_CHALLENGE_LENGTH;

function echo(text: unknown): VerificationAnswer | undefined {
  return isShort(text) ? { type: "text/plain; charset=utf-8", body: text } : undefined;
}

const asJson = (value: object): VerificationAnswer => ({ type: "application/json", body: JSON.stringify(value) });
const questionIn = ({ body }: Call): unknown => parsedBody(body, MAX_QUESTION_BYTES);

/** Question of Meta with a token of the trigger. https://developers.facebook.com/docs/graph-api/webhooks/getting-started */
export const metaVerification: Verification = {
  method: "GET",
  isProven: false,
  answer({ query, config: { auth, verify_token } }) {
    if (query.get("hub.mode") !== "subscribe") return undefined;
    const isRight = verify_token !== "" && isSameSecret(query.get("hub.verify_token") ?? "", verify_token);
    return auth === "none" || isRight ? echo(query.get("hub.challenge")) : "wrong";
  },
};

/** Question of Trello, whose answer is the status. https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks */
export const trelloVerification: Verification = {
  method: "HEAD",
  isProven: false,
  answer: () => ({ type: "text/plain; charset=utf-8", body: "" }),
};

/** Question of Dropbox. https://www.dropbox.com/developers/reference/webhooks */
export const dropboxVerification: Verification = {
  method: "GET",
  isProven: false,
  answer: ({ query }) => echo(query.get("challenge")),
};

/** Question of Microsoft Graph. https://learn.microsoft.com/graph/change-notifications-delivery-webhooks */
export const graphVerification: Verification = {
  method: "POST",
  isProven: false,
  answer: ({ query }) => echo(query.get("validationToken")),
};

/** Question of Slack. https://docs.slack.dev/reference/events/url_verification */
export const slackVerification: Verification = {
  method: "POST",
  isProven: true,
  answer(call) {
    const question = questionIn(call);
    return fieldIn(question, "type") === "url_verification" ? echo(fieldIn(question, "challenge")) : undefined;
  },
};

/**
 * Question of Zoom (https://developers.zoom.us/docs/api/webhooks). The answer signs a text that the caller chose: only for a caller with
 * the secret, and only a text that is no delivery of Zoom.
 */
export const zoomVerification: Verification = {
  method: "POST",
  isProven: true,
  answer(call) {
    const question = questionIn(call);
    const plainToken = fieldIn(question, "payload", "plainToken");
    if (fieldIn(question, "event") !== "endpoint.url_validation" || !isShort(plainToken)) return undefined;
    if (!/^[\w+/=-]{1,200}$/.test(plainToken)) return undefined;
    return asJson({ plainToken, encryptedToken: hmac(call.secret, [plainToken]).toString("hex") });
  },
};

/**
 * Question of Event Grid (https://learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema). The
 * `validationUrl` in it is never called.
 */
export const eventGridVerification: Verification = {
  method: "POST",
  isProven: true,
  answer(call) {
    const event = fieldIn(questionIn(call), 0);
    const code = fieldIn(event, "data", "validationCode");
    const isQuestion = fieldIn(event, "eventType") === "Microsoft.EventGrid.SubscriptionValidationEvent";
    return isQuestion && isShort(code) ? asJson({ validationResponse: code }) : undefined;
  },
};

/**
 * Question of Event Grid in the schema of CloudEvents. https://learn.microsoft.com/azure/event-grid/end-point-validation-cloud-events-schema
 * and https://github.com/cloudevents/spec/blob/v1.0/http-webhook.md, section 4
 */
export const cloudEventsVerification: Verification = {
  method: "OPTIONS",
  isProven: true,
  answer({ headers }) {
    const origin = headers.get("webhook-request-origin") ?? "";
    if (!/^[A-Za-z0-9.-]{1,253}$/.test(origin)) return undefined;
    const rate = /^[1-9]\d{0,8}$/.exec(headers.get("webhook-request-rate") ?? "")?.[0] ?? "*";
    const allowed = { allow: "GET, HEAD, POST, OPTIONS", "webhook-allowed-origin": origin, "webhook-allowed-rate": rate };
    return { type: "text/plain; charset=utf-8", body: "", headers: allowed };
  },
};
