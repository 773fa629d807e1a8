import { createHmac, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { getWebhookState, setupWebhook } from "#server/features/webhooks/service.ts";
import { exportWorkflow } from "#server/features/workflow-files/export.ts";
import { createWorkflow, deleteWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { answerApi } from "#server/http/api.ts";
import { db } from "#server/platform/db/client.ts";
import { appUrl } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

const database = testDatabase();

const SECRET = "made-by-the-sender";
const hex = (text: string, secret = SECRET) => createHmac("sha256", secret).update(text).digest("hex");
const trigger = (data: object) => ({
  id: "t",
  type: "triggerNode",
  position: { x: 0, y: 0 },
  data: { label: "Start", kind: "webhook", ...data },
});

async function newWebhook(auth: WebhookAuth, data = {}) {
  const admin = await database.newAdmin();
  const { id } = await createWorkflow(admin, { name: "Hooked", nodes: [trigger({ auth, ...data })], edges: [] });
  await setupWebhook(admin, { workflow_id: id, webhook_secret: SECRET });
  return { admin, id };
}

interface Question {
  method: "GET" | "HEAD" | "POST" | "OPTIONS";
  query?: string;
  headers?: Record<string, string>;
  body?: string;
}

const ask = (id: string, { method, query = "", headers = {}, body }: Question) =>
  answerApi(new Request(`http://localhost/api/v1/webhooks/${id}${query}`, { method, headers, ...(body !== undefined && { body }) }));

/** Status, type and text of a response that no browser takes for a page. */
async function answerOf(response: Response) {
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("cache-control")).toBe("no-store");
  return [response.status, response.headers.get("content-type"), await response.text()];
}

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";
const now = () => String(Math.floor(Date.now() / 1000));

function slackSigned(body: string): Question {
  const time = now();
  const headers = { "x-slack-request-timestamp": time, "x-slack-signature": `v0=${hex(`v0:${time}:${body}`)}` };
  return { method: "POST", body, headers };
}

function zoomSigned(body: string): Question {
  const time = now();
  const headers = { "x-zm-request-timestamp": time, "x-zm-signature": `v0=${hex(`v0:${time}:${body}`)}` };
  return { method: "POST", body, headers };
}

const TOKEN = "token of the trigger";
const META = `?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${encodeURIComponent(TOKEN)}`;
const ZOOM = '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680}';
const EVENT_GRID = JSON.stringify([
  {
    id: "2d1781af",
    eventType: "Microsoft.EventGrid.SubscriptionValidationEvent",
    data: { validationCode: "512d38b6", validationUrl: "http://127.0.0.1:1/validate" },
  },
]);

/** Each sender's question, and its answer. */
const QUESTIONS: readonly (readonly [auth: WebhookAuth, question: () => Question, answer: unknown[]])[] = [
  ["meta", () => ({ method: "GET", query: META }), [200, TEXT, "1158201444"]],
  ["dropbox", () => ({ method: "GET", query: "?challenge=a%3Cb" }), [200, TEXT, "a<b"]],
  ["trello", () => ({ method: "HEAD" }), [200, TEXT, ""]],
  [
    "microsoft_graph",
    () => ({ method: "POST", query: "?validationToken=Validation%3A+Testing%20%26", headers: { "content-type": TEXT }, body: "" }),
    [200, TEXT, "Validation: Testing &"],
  ],
  ["slack", () => slackSigned('{"type":"url_verification","challenge":"3eZbrw1a"}'), [200, TEXT, "3eZbrw1a"]],
  [
    "zoom",
    () => zoomSigned(ZOOM),
    [200, JSON_TYPE, JSON.stringify({ plainToken: "qgg8vlvZRS6UYooatFL8Aw", encryptedToken: hex("qgg8vlvZRS6UYooatFL8Aw") })],
  ],
  [
    "event_grid",
    () => ({ method: "POST", query: `?secret=${SECRET}`, headers: { "aeg-event-type": "SubscriptionValidation" }, body: EVENT_GRID }),
    [200, JSON_TYPE, '{"validationResponse":"512d38b6"}'],
  ],
];
const VERIFYING = QUESTIONS.map(([auth]) => auth);

test.each(QUESTIONS)("%s gets its question answered without a run", async (auth, question, answer) => {
  const { admin, id } = await newWebhook(auth, { verify_token: TOKEN });

  expect(await answerOf(await ask(id, question()))).toEqual(answer);

  expect(await db().execution.count({ where: { workflow_id: id } })).toBe(0);
  expect((await getWebhookState(admin, { workflow_id: id })).deliveries).toEqual([]);
});

test.each(QUESTIONS)("only %s and None answer its question", async (auth, question, answer) => {
  const { admin, id } = await newWebhook("none");

  expect(await answerOf(await ask(id, question()))).toEqual(answer);
  for (const other of WebhookAuth.options) {
    if (other === auth || other === "none") continue;
    await updateWorkflow(admin, { workflow_id: id, nodes: [trigger({ auth: other, verify_token: TOKEN })] });
    const { status, headers } = await ask(id, question());
    expect([other, status, headers.get("content-type")]).toEqual([other, 401, JSON_TYPE]);
  }
  expect(await db().execution.count({ where: { workflow_id: id } })).toBe(0);
});

test("an Event Grid that sends CloudEvents is allowed by OPTIONS", async () => {
  const { id } = await newWebhook("event_grid");
  const headers = { "WebHook-Request-Origin": "eventgrid.azure.net", "WebHook-Request-Rate": "120" };

  const right = await ask(id, { method: "OPTIONS", query: `?secret=${SECRET}`, headers });
  const wrong = await ask(id, { method: "OPTIONS", query: "?secret=another", headers });

  expect(right.status).toBe(200);
  expect(right.headers.get("webhook-allowed-origin")).toBe("eventgrid.azure.net");
  expect(right.headers.get("webhook-allowed-rate")).toBe("120");
  expect([wrong.status, wrong.headers.get("webhook-allowed-origin")]).toEqual([204, null]);
});

/** Returns status, headers and body of a response, for comparing responses. */
const contentOf = async (response: Response) => JSON.stringify([response.status, [...response.headers], await response.text()]);

test.each<Question>([
  { method: "GET" },
  { method: "GET", query: META },
  { method: "GET", query: "?challenge=1" },
  { method: "HEAD" },
  { method: "OPTIONS", headers: { "WebHook-Request-Origin": "eventgrid.azure.net" } },
  { method: "POST", query: "?validationToken=1", body: "" },
  { method: "POST", body: EVENT_GRID, headers: { "content-type": JSON_TYPE } },
  { method: "POST", body: ZOOM, headers: { "content-type": JSON_TYPE, "x-zm-signature": "v0=00" } },
])("$method $query tells nothing of a workflow", async (question) => {
  const { admin, id } = await newWebhook("github");
  const deleted = await newWebhook("dropbox");
  await deleteWorkflow(deleted.admin, { workflow_id: deleted.id });
  const manual = await createWorkflow(admin, { name: "By hand", nodes: [trigger({ kind: "manual", auth: "dropbox" })], edges: [] });
  const unset = await createWorkflow(admin, { name: "Not set up", nodes: [trigger({ auth: "none" })], edges: [] });

  const answers = await Promise.all(
    [id, deleted.id, manual.id, unset.id, randomUUID(), "no-id"].map(async (each) => contentOf(await ask(each, question))),
  );

  expect(new Set(answers).size).toBe(1);
});

test.each(VERIFYING)("%s starts no run by GET", async (auth) => {
  const { id } = await newWebhook(auth, { verify_token: TOKEN });

  for (const query of ["", "?hub.mode=subscribe&hub.verify_token=&hub.challenge=1", `?secret=${SECRET}`, `?challenge=${"x".repeat(4097)}`])
    expect([query, (await ask(id, { method: "GET", query })).status]).toEqual([query, 401]);

  expect(await db().execution.count({ where: { workflow_id: id } })).toBe(0);
});

test("a wrong verify token is noted for the editor", async () => {
  const { admin, id } = await newWebhook("meta", { verify_token: TOKEN });

  const response = await ask(id, { method: "GET", query: META.replace("trigger", "another") });

  expect(response.status).toBe(401);
  await expect
    .poll(async () => (await getWebhookState(admin, { workflow_id: id })).deliveries)
    .toMatchObject([{ status: 401, error: expect.stringContaining("verify token") }]);
});

test.each([
  ["trello", { "x-trello-webhook": "AAAA" }, "the address under APP_URL"],
  ["gitlab", { "x-gitlab-token": "another" }, "The secret is wrong. Send the secret in its header X-Gitlab-Token"],
] as const)("a refused call of %s is noted with what to send", async (auth, headers, note) => {
  const { admin, id } = await newWebhook(auth);

  expect((await ask(id, { method: "POST", body: "{}", headers })).status).toBe(401);

  await expect
    .poll(async () => (await getWebhookState(admin, { workflow_id: id })).deliveries)
    .toMatchObject([{ status: 401, error: expect.stringContaining(note) }]);
});

test("an empty verify token verifies nothing", async () => {
  const { id } = await newWebhook("meta");

  const response = await ask(id, { method: "GET", query: "?hub.mode=subscribe&hub.challenge=1&hub.verify_token=" });

  expect(response.status).toBe(401);
});

test("an exported file has no verify token", async () => {
  const { admin, id } = await newWebhook("meta", { verify_token: TOKEN });

  expect(JSON.stringify(await exportWorkflow(admin, { workflow_id: id, draft: false }))).not.toContain(TOKEN);
});

test("Zoom's question is not answered without its signature", async () => {
  const { id } = await newWebhook("zoom");

  const response = await ask(id, { method: "POST", body: ZOOM, headers: { "x-zm-signature": "v0=00", "x-zm-request-timestamp": now() } });

  expect(response.status).toBe(401);
  expect(await response.text()).not.toContain(hex("qgg8vlvZRS6UYooatFL8Aw"));
});

test("no text that Zoom could sign is signed for a client", async () => {
  const { id } = await newWebhook("none");
  const plainToken = `v0:${now()}:{}`;

  const response = await ask(id, { method: "POST", body: JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken } }) });

  expect(await response.text()).not.toContain(hex(plainToken));
});

test("a disabled workflow still answers the question of its sender", async () => {
  const { admin, id } = await newWebhook("dropbox");
  await updateWorkflow(admin, { workflow_id: id, enabled: false });

  expect((await ask(id, { method: "GET", query: "?challenge=1" })).status).toBe(200);
});

const inputOf = async (workflow_id: string) => {
  const run = await db().execution.findFirstOrThrow({ where: { workflow_id }, include: { values: true } });
  return JSON.stringify([run.values?.input, run.values?.params]);
};

test("a notification of Microsoft Graph starts a run without its clientState", async () => {
  const { admin, id } = await newWebhook("microsoft_graph");
  const body = JSON.stringify({ value: [{ clientState: SECRET, changeType: "created" }] });

  const response = await ask(id, { method: "POST", body, headers: { "content-type": "application/json; charset=utf-8" } });

  expect(response.status).toBe(202);
  expect(await inputOf(id)).toContain("created");
  expect(await inputOf(id)).not.toContain(SECRET);
  const stored = await db().webhookDelivery.findMany({ where: { workflow_id: id } });
  expect(JSON.stringify([stored, await getWebhookState(admin, { workflow_id: id })])).not.toContain(SECRET);
});

test("an unreadable notification of Microsoft Graph is listed without its clientState", async () => {
  const { id } = await newWebhook("microsoft_graph");
  const body = JSON.stringify({ value: [{ clientState: SECRET }] });

  const response = await ask(id, { method: "POST", body, headers: { "content-type": "application/json; charset=x-unknown" } });

  expect(response.status).toBe(415);
  expect(JSON.stringify(await db().webhookDelivery.findMany({ where: { workflow_id: id } }))).not.toContain(SECRET);
});

test("a Twilio form starts a run by either address of the webhook", async () => {
  const { id } = await newWebhook("twilio");
  const body = "Body=Hi+there&From=%2B49151";
  const send = (base: string) => {
    const url = `${appUrl()}${base}/webhooks/${id}?to=sales`;
    const signature = createHmac("sha1", SECRET).update(`${url}BodyHi thereFrom+49151`).digest("base64");
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature };
    return ask(id, { method: "POST", query: "?to=sales", body, headers });
  };

  expect((await send("/api/v1")).status).toBe(202);
  expect((await send("")).status).toBe(202);
  expect(await inputOf(id)).toContain("Hi there");
});

test("signatures of a delivery do not reach its run", async () => {
  const { id } = await newWebhook("shopify");
  const signature = createHmac("sha256", SECRET).update("{}").digest("base64");

  const response = await ask(id, {
    method: "POST",
    body: "{}",
    headers: { "x-shopify-hmac-sha256": signature, "x-shopify-topic": "orders/create" },
  });

  expect(response.status).toBe(202);
  expect(await inputOf(id)).toContain("orders/create");
  expect(await inputOf(id)).not.toContain(signature);
});
