import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { provenKey, SENDERS } from "#server/features/webhooks/senders.ts";
import type { Proof } from "#server/features/webhooks/signatures.ts";
import type { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

const SECRET = "made-by-the-sender";
const SECONDS = 1_700_000_000;
const URL_OF_HOOK = "https://treadle.example/api/v1/webhooks/019a";
const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

interface Sent {
  headers?: Record<string, string>;
  body?: string;
  url?: string;
  secret?: string;
  /** Seconds between the sender's clock and this one. */
  delay?: number;
}

function proofOf(auth: WebhookAuth, { headers = {}, body = "{}", url = URL_OF_HOOK, secret = SECRET, delay = 0 }: Sent): Proof {
  const config = { auth, auth_header: "X-Token", auth_username: "", verify_token: "" };
  const head = { method: "POST", headers: new Headers(headers), query: new URL(url).searchParams, urls: [url] };
  const call = { ...head, body: Buffer.from(body), secret, config, now: (SECONDS + delay) * 1000 };
  return SENDERS[auth].isOffered(call, config) ? SENDERS[auth].check(call) : "missing";
}

const hmac = (encoding: "hex" | "base64", text: string, algorithm = "sha256") =>
  createHmac(algorithm, SECRET).update(text).digest(encoding);
const keyOf = (auth: WebhookAuth, body: unknown, headers = {}) => provenKey(auth, new Headers(headers), Buffer.from(JSON.stringify(body)));

test.each<[auth: WebhookAuth, header: string, signature: (body: string) => string]>([
  ["meta", "X-Hub-Signature-256", (body) => `sha256=${hmac("hex", body)}`],
  ["shopify", "X-Shopify-Hmac-Sha256", (body) => hmac("base64", body)],
  ["typeform", "Typeform-Signature", (body) => `sha256=${hmac("base64", body)}`],
  ["dropbox", "X-Dropbox-Signature", (body) => hmac("hex", body)],
  ["trello", "X-Trello-Webhook", (body) => hmac("base64", body + URL_OF_HOOK, "sha1")],
])("%s checks the signature in %s", (auth, header, signature) => {
  const body = '{"text": "é"}\n';
  const headers = { [header]: signature(body) };

  expect(proofOf(auth, { headers, body })).toBe("good");
  expect(proofOf(auth, { headers, body: `${body} ` })).toBe("wrong");
  expect(proofOf(auth, { headers, body, secret: "another" })).toBe("wrong");
  expect(proofOf(auth, { headers: { [header]: signature("") }, body })).toBe("wrong");
  expect(proofOf(auth, { headers: {}, body })).toBe("missing");
});

test("Trello's signature covers the address with its query", () => {
  const headers = { "X-Trello-Webhook": hmac("base64", `{}${URL_OF_HOOK}?board=1`, "sha1") };

  expect(proofOf("trello", { headers, url: `${URL_OF_HOOK}?board=1` })).toBe("good");
  expect(proofOf("trello", { headers, url: `${URL_OF_HOOK}?board=2` })).toBe("wrong");
});

test("Zoom's signature is good for five minutes either way", () => {
  const body = '{"event":"meeting.started"}';
  const headers = { "x-zm-request-timestamp": String(SECONDS), "x-zm-signature": `v0=${hmac("hex", `v0:${SECONDS}:${body}`)}` };
  const at = (delay: number) => proofOf("zoom", { headers, body, delay });

  expect([at(0), at(300), at(-300), at(301), at(-301)]).toEqual(["good", "good", "good", "late", "late"]);
  expect(proofOf("zoom", { headers: { ...headers, "x-zm-request-timestamp": String(SECONDS + 1) }, body })).toBe("wrong");
});

test("Linear's signature is good for a minute either way", () => {
  const send = (body: string, delay = 0) => proofOf("linear", { headers: { "Linear-Signature": hmac("hex", body) }, body, delay });
  const body = JSON.stringify({ action: "create", webhookTimestamp: SECONDS * 1000 });

  expect([send(body), send(body, 60), send(body, 61), send(body, -61)]).toEqual(["good", "good", "late", "late"]);
  expect(send("{}")).toBe("late");
  expect(proofOf("linear", { headers: { "Linear-Signature": hmac("hex", "{}") }, body })).toBe("wrong");
});

// The validation example of twilio.com/docs/usage/webhooks/webhooks-security, and those of the tests of Twilio's libraries.
const TWILIO = { url: "https://mycompany.com/myapp.php?foo=1&bar=2", secret: "12345" };
const CALL = "Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE";
const CALL_SIGNATURE = "RSOYDt4T1cUTdK1PDd93/VVr8B8=";
const twilio = (signature: string, sent: Sent) =>
  proofOf("twilio", { ...TWILIO, ...sent, headers: { ...FORM_TYPE, ...sent.headers, "X-Twilio-Signature": signature } });

test("Twilio's own example of a form is good", () => {
  expect(twilio(CALL_SIGNATURE, { body: CALL })).toBe("good");
  expect(twilio(CALL_SIGNATURE, { body: CALL.replace("1234&", "1235&") })).toBe("wrong");
  expect(twilio(CALL_SIGNATURE, { body: CALL, url: "https://mycompany.com/myapp.php?foo=1" })).toBe("wrong");
  expect(twilio(CALL_SIGNATURE, { body: `${CALL}&x=${"y".repeat(300_000)}` })).toBe("wrong");
});

test("Twilio's own example of repeated fields is good", () => {
  const body = "Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234";

  expect(twilio("IK+Dwps556ElfBT0I3Rgjkr1wJU=", { body })).toBe("good");
});

test("Twilio's own example of a JSON body is good", () => {
  const body = '{"property": "value", "boolean": true}';
  const url = `${TWILIO.url}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`;
  const signature = "a9nBmqA0ju/hNViExpshrM61xv4=";

  expect(twilio(signature, { url, body, headers: JSON_TYPE })).toBe("good");
  expect(twilio(signature, { url, body: body.replace("true", "false"), headers: JSON_TYPE })).toBe("wrong");
});

test("Twilio may sign the address with the port of its scheme", () => {
  const signature = createHmac("sha1", "12345").update("https://mycompany.com:443/myapp.php?foo=1&bar=2Ab").digest("base64");

  expect(twilio(signature, { body: "A=b" })).toBe("good");
});

test("a Twilio signature that does not cover a JSON body is wrong", () => {
  const signature = createHmac("sha1", "12345").update(TWILIO.url).digest("base64");

  expect(twilio(signature, { body: "" })).toBe("good");
  expect(twilio(signature, { body: '{"a":1}', headers: JSON_TYPE })).toBe("wrong");
});

test("a question mark before the first field of a Twilio form counts", () => {
  expect(twilio(CALL_SIGNATURE, { body: `?${CALL}` })).toBe("wrong");
});

test("GitLab sends the secret in X-Gitlab-Token", () => {
  expect(proofOf("gitlab", { headers: { "X-Gitlab-Token": SECRET } })).toBe("good");
  expect(proofOf("gitlab", { headers: { "X-Gitlab-Token": "another" } })).toBe("wrong");
  expect(proofOf("gitlab", { headers: { "X-Token": SECRET } })).toBe("missing");
});

test("GitLab's signing token signs as Standard Webhooks do", () => {
  const token = `whsec_${Buffer.from("a key of thirty-two bytes, here.").toString("base64")}`;
  const signature = createHmac("sha256", "a key of thirty-two bytes, here.").update(`id_1.${SECONDS}.{}`).digest("base64");
  const headers = { "webhook-id": "id_1", "webhook-timestamp": String(SECONDS), "webhook-signature": `v1,${signature}` };

  expect(proofOf("gitlab", { headers, secret: token })).toBe("good");
  expect(proofOf("gitlab", { headers: { ...headers, "X-Gitlab-Token": "other" }, secret: token })).toBe("good");
  expect(proofOf("gitlab", { headers, secret: token, delay: 301 })).toBe("late");
  expect(proofOf("gitlab", { headers, secret: token, body: "[]" })).toBe("wrong");
});

test("each notification of Microsoft Graph has the secret as clientState", () => {
  const send = (...states: unknown[]) =>
    proofOf("microsoft_graph", { headers: JSON_TYPE, body: JSON.stringify({ value: states.map((clientState) => ({ clientState })) }) });

  expect([send(SECRET), send(SECRET, SECRET)]).toEqual(["good", "good"]);
  expect([send(), send("another"), send(SECRET, "another"), send(null), send([SECRET])]).toEqual(Array(5).fill("wrong"));
  expect(send(SECRET, "x".repeat(1024 * 1024))).toBe("wrong");
  for (const body of ["", "[", "{}", '{"value":{}}', `{"clientState":"${SECRET}"}`])
    expect(proofOf("microsoft_graph", { headers: JSON_TYPE, body }), body).toBe("wrong");
});

test("Event Grid sends the secret in the query", () => {
  expect(proofOf("event_grid", { url: `${URL_OF_HOOK}?secret=${SECRET}` })).toBe("good");
  expect(proofOf("event_grid", { url: `${URL_OF_HOOK}?a=b&code=${SECRET}` })).toBe("good");
  expect(proofOf("event_grid", { url: `${URL_OF_HOOK}?secret=another` })).toBe("wrong");
  expect(proofOf("event_grid", { headers: { secret: SECRET } })).toBe("missing");
});

test("ids in signed bodies name deliveries", () => {
  expect(keyOf("typeform", { event_id: "01F" })).toBe("typeform:01F");
  expect(keyOf("trello", { action: { id: "a1" }, model: { id: "b1" } })).toBe("trello:a1 b1");
  expect(keyOf("zoom", {}, { "x-zm-signature": "v0=AB" })).toBe("zoom:v0=ab");
  expect(keyOf("event_grid", [{ id: "e1", topic: "/t" }])).toBe("event_grid:e1 /t");
  expect(keyOf("event_grid", { id: "e1", source: "/s" })).toBe("event_grid:e1 /s");
  for (const auth of ["typeform", "trello", "event_grid", "dropbox", "shopify"] as const) expect(keyOf(auth, {}), auth).toBeNull();
  expect(keyOf("event_grid", [{ id: "e1" }, { id: "e2" }])).toBeNull();
});

test("the hash of Twilio's body may be in either case", () => {
  const url = `${TWILIO.url}&bodySHA256=${createHash("sha256").update("[]").digest("hex").toUpperCase()}`;
  const signature = createHmac("sha1", "12345").update(url).digest("base64");

  expect(twilio(signature, { url, body: "[]", headers: JSON_TYPE })).toBe("good");
});
