/** Headers in which senders say when they sent a delivery. Each that is there must be right. */
const HEADERS = [
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
  HEADERS.every((name) => {
    const text = headers.get(name)?.trim();
    return text === undefined || Math.abs(Date.now() - timeIn(text)) <= TOLERANCE_MS;
  });
