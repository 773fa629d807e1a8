import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { provenKey, SENDERS } from "#server/features/webhooks/senders.ts";
import type { Proof } from "#server/features/webhooks/signatures.ts";
import type { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

const config = { auth_header: "X-Gitlab-Token", auth_username: "deploy", verify_token: "" };
/** What a call proves at a time, by default its own. */
function proofOf(auth: WebhookAuth, secret: string, headers: Record<string, string>, body: string, seconds = 1_700_000_000): Proof {
  const head = { method: "POST", headers: new Headers(headers), query: new URLSearchParams(), urls: [] };
  const call = { ...head, body: Buffer.from(body), secret, config: { auth, ...config }, now: seconds * 1000 };
  return SENDERS[auth].isOffered(call, call.config) ? SENDERS[auth].check(call) : "missing";
}
const hex = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text).digest("hex");

test("GitHub's own example is good, and nothing near it", () => {
  // docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries, "Testing the webhook payload validation"
  const [secret, body] = ["It's a Secret to Everybody", "Hello, World!"];
  const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  expect(proofOf("github", secret, { "x-hub-signature-256": signature }, body)).toBe("good");
  expect(proofOf("github", secret, { "x-hub-signature-256": signature }, `${body} `)).toBe("wrong");
  expect(proofOf("github", "another", { "x-hub-signature-256": signature }, body)).toBe("wrong");
  expect(proofOf("github", secret, { "x-hub-signature": signature }, body)).toBe("missing");
  expect(proofOf("github", secret, { "x-hub-signature-256": signature.slice(7) }, body)).toBe("missing");
});

test("Slack's own example is good for five minutes either way", () => {
  // docs.slack.dev/authentication/verifying-requests-from-slack
  const secret = "8f742231b10e8888abcd99yyyzzz85a5";
  const body =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const headers = {
    "x-slack-request-timestamp": "1531420618",
    "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  };
  const at = (seconds: number) => proofOf("slack", secret, headers, body, 1_531_420_618 + seconds);
  expect([at(0), at(299), at(-299), at(301), at(-301)]).toEqual(["good", "good", "good", "late", "late"]);
  expect(proofOf("slack", secret, { ...headers, "x-slack-request-timestamp": "1531420619" }, body, 1_531_420_619)).toBe("wrong");
  expect(proofOf("slack", secret, { "x-slack-signature": "v0=" }, body)).toBe("wrong");
  expect(proofOf("slack", secret, {}, body)).toBe("missing");
});

test("the example of Standard Webhooks is good, of each of several signatures, also under the names of Svix", () => {
  // The specification's and svix.com/docs' example of a manual verification
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const body = '{"test": 2432232314}';
  const [id, timestamp] = ["msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330"];
  const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  const headers = (given = signature, prefix = "webhook-") => ({
    [`${prefix}id`]: id,
    [`${prefix}timestamp`]: timestamp,
    [`${prefix}signature`]: given,
  });
  const at = (given: Record<string, string>, seconds = 0, key = secret) => proofOf("standard", key, given, body, 1_614_265_330 + seconds);
  expect(at(headers())).toBe("good");
  expect(at(headers(signature, "svix-"))).toBe("good");
  expect(
    at(headers(`v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg== v1,AAAA ${signature}`)),
  ).toBe("good");
  expect(at(headers(), 0, secret.slice(6))).toBe("good");
  expect(at(headers(), 301)).toBe("late");
  expect(at(headers(signature.replace("v1,", "v2,")))).toBe("wrong");
  expect(at({ ...headers(), "webhook-id": "" })).toBe("wrong");
  expect(at({ ...headers(), "webhook-id": "msg_other" })).toBe("wrong");
  // A secret that is no base64 is a key as it stands.
  const own = createHmac("sha256", "not base64!").update(`${id}.${timestamp}.${body}`).digest("base64");
  expect(at(headers(`v1,${own}`), 0, "not base64!")).toBe("good");
});

test("Stripe's signature is over the time and the body; one of several is enough", () => {
  // docs.stripe.com/webhooks/signature, steps 1 to 4
  const [secret, body, time] = ["whsec_test_secret", '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}', 1_700_000_000];
  const good = hex(secret, `${time}.${body}`);
  const at = (header: string, seconds = 0) => proofOf("stripe", secret, { "stripe-signature": header }, body, time + seconds);
  expect(at(`t=${time},v1=${good},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`)).toBe("good");
  expect(at(`t=${time},v1=${"0".repeat(64)},v1=${good}`, 300)).toBe("good");
  expect(at(`t=${time},v1=${good}`, 301)).toBe("late");
  expect(at(`t=${time + 1},v1=${good}`)).toBe("wrong");
  expect(at(`t=${time},v0=${good}`)).toBe("wrong");
  for (const header of ["t=", "v1", `v1=${good}`, ",".repeat(5000), `t=NaN,v1=${hex(secret, `NaN.${body}`)}`])
    expect(["wrong", "late"], header.slice(0, 40)).toContain(at(header));
  const keyOf = (auth: "stripe" | "github", of: string) => provenKey(auth, new Headers(), Buffer.from(of));
  expect(keyOf("stripe", body)).toBe("stripe:evt_test_webhook");
  expect(keyOf("stripe", "[1")).toBeNull();
  expect(keyOf("github", body)).toBeNull();
});

test("a secret in a header, and HTTP Basic authentication", () => {
  expect(proofOf("header", "a secret", { "x-gitlab-token": "a secret" }, "")).toBe("good");
  expect(proofOf("header", "a secret", { "x-gitlab-token": "a secre" }, "")).toBe("wrong");
  expect(proofOf("header", "a secret", {}, "")).toBe("missing");
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
  expect(proofOf("basic", "ünï:colon", basic("deploy:ünï:colon"), "")).toBe("good");
  expect(proofOf("basic", "secret", basic("someone:secret"), "")).toBe("wrong");
  expect(proofOf("basic", "secret", { authorization: "Bearer secret" }, "")).toBe("missing");
  expect(proofOf("none", "whatever", {}, "")).toBe("good");
});

test("only X-SERVICE-Timestamp tells when a delivery of the own signature was sent", () => {
  const seconds = 1_700_000_000;
  const at = (headers: Record<string, string>) =>
    proofOf("signature", "secret", { "x-service-signature": `sha256=${hex("secret", "{}")}`, ...headers }, "{}", seconds);

  expect(at({ "x-service-timestamp": String(seconds - 299) })).toBe("good");
  expect(at({ "x-service-timestamp": new Date((seconds + 299) * 1000).toISOString() })).toBe("good");
  for (const late of [String(seconds - 301), String((seconds + 301) * 1000), "soon", ""])
    expect(at({ "x-service-timestamp": late }), late).toBe("late");
  for (const name of ["webhook-timestamp", "svix-timestamp", "x-webhook-timestamp", "x-slack-request-timestamp", "x-timestamp"])
    expect(at({ [name]: "soon" }), name).toBe("good");
});
