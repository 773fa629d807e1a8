import { createHmac, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { KEPT_CHARACTERS, replayDelivery, tidyDeliveries } from "#server/features/webhooks/deliveries.ts";
import { listenToWebhook } from "#server/features/webhooks/listen.ts";
import { receiveDelivery } from "#server/features/webhooks/receive.ts";
import { noteRefusal } from "#server/features/webhooks/refused-calls.ts";
import { getWebhookState, setupWebhook } from "#server/features/webhooks/service.ts";
import { exportWorkflow } from "#server/features/workflow-files/export.ts";
import { importWorkflow } from "#server/features/workflow-files/import.ts";
import { ImportWorkflowInput } from "#server/features/workflow-files/schema.ts";
import { getEditorState, saveDraft } from "#server/features/workflows/draft.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { CreateWorkflowInput, SaveDraftInput, UpdateWorkflowInput } from "#server/features/workflows/schema.ts";
import { createWorkflow, deleteWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { getVersion } from "#server/features/workflows/versions.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ EXECUTIONS_PER_HOUR: "100" }));

const trigger = (data = {}) => ({
  id: "t",
  type: "triggerNode",
  position: { x: 0, y: 0 },
  data: { label: "Start", kind: "webhook", ...data },
});

async function newWebhook(data = {}) {
  const admin = await database.newAdmin();
  const { id } = await createWorkflow(admin, { name: "Hooked", nodes: [trigger(data)], edges: [] });
  const { webhook_secret } = await setupWebhook(admin, { workflow_id: id });
  const send = (body: string, headers: Record<string, string> = {}, secret = webhook_secret) =>
    started(id, new Headers({ "x-service-signature": sign(body, secret), ...headers }), body);
  return { admin, id, secret: webhook_secret, send };
}

/** What a call starts. */
async function started(id: string, headers: Headers, body: string) {
  const answer = await receiveDelivery(id, post(headers), async () => Buffer.from(body));
  if (!("execution_id" in answer)) throw new Error("It was answered as a question about the address.");
  return answer;
}

const post = (headers = new Headers()) => ({ method: "POST", url: "http://localhost/api/v1/webhooks/x", headers });

const sign = (body: string | Buffer, secret: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
const deliveriesOf = async (admin: ProjectPrincipal, workflow_id: string) => (await getWebhookState(admin, { workflow_id })).deliveries;
const inputsOf = async (workflow_id: string) =>
  (await db().execution.findMany({ where: { workflow_id }, include: { values: true }, orderBy: { id: "asc" } })).map(
    (row) => row.values?.input,
  );

test("the secret is stored sealed, shown once, and rotated by setting up again", async () => {
  const { admin, id, secret, send } = await newWebhook();
  const row = await db().webhook.findUniqueOrThrow({ where: { workflow_id: id } });
  expect(row.sealed_secret).not.toContain(secret);
  expect(JSON.stringify(await getWebhookState(admin, { workflow_id: id }))).not.toContain(secret);
  const again = await setupWebhook(admin, { workflow_id: id });
  expect(again.webhook_url).toMatch(new RegExp(`/api/v1/webhooks/${id}$`));
  await expect(send("{}")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  await expect(send("{}", {}, again.webhook_secret)).resolves.toMatchObject({ status: "queued" });
  const audit = await db().auditEntry.findMany({ where: { project_id: admin.project.id, action: "webhook.setup" } });
  expect(audit).toHaveLength(2);
  expect(JSON.stringify(audit)).not.toContain(again.webhook_secret);
});

test("a webhook secret in a node's data is ignored: at every door, and in what was stored before", async () => {
  const admin = await database.newAdmin();
  const secret = "chosen-by-a-client";
  const nodes = [trigger({ webhook_secret: secret })];
  const made = await createWorkflow(admin, CreateWorkflowInput.parse({ name: "Hooked", nodes, edges: [] }));
  const { id: workflow_id } = made;
  const put = await updateWorkflow(admin, UpdateWorkflowInput.parse({ workflow_id, nodes, edges: [] }));
  const { draft } = await getEditorState(admin, { workflow_id });
  const drafted = await saveDraft(admin, SaveDraftInput.parse({ workflow_id, nodes, edges: [], revision: draft.revision }));
  const imported = await importWorkflow(admin, ImportWorkflowInput.parse({ file: { nodes, edges: [] } }));
  const bare = await importWorkflow(
    admin,
    ImportWorkflowInput.parse({ file: { ...(await exportWorkflow(admin, { workflow_id, draft: false })), nodes } }),
  );
  for (const answer of [made, put, drafted, imported, bare]) expect(JSON.stringify(answer)).not.toContain("webhook_secret");
  const stored = [await db().workflowSnapshot.findMany({}), await db().workflowDraft.findMany({})];
  expect(JSON.stringify(stored)).not.toContain(secret);
  // Kept by a version of the service that did not know better.
  await db().workflowSnapshot.updateMany({ where: { workflow_id }, data: { graph: { nodes, edges: [] } } });
  await db().workflowDraft.update({ where: { workflow_id }, data: { graph: { nodes, edges: [] } } });
  const answers = [
    await getWorkflow(admin, { workflow_id }),
    await getEditorState(admin, { workflow_id }),
    await getVersion(admin, { workflow_id, version: 1 }),
    await exportWorkflow(admin, { workflow_id, draft: false }),
  ];
  expect(JSON.stringify(answers)).not.toContain(secret);
});

test("a run is queued with the payload; who replays it is its starter", async () => {
  const { admin, id, send } = await newWebhook();
  const { execution_id } = await send('{ "a": [1, "é"] }');
  expect(await db().execution.findUniqueOrThrow({ where: { id: execution_id } })).toMatchObject({
    status: "queued",
    trigger: "webhook",
    started_by_id: null,
    workflow_version: 1,
  });
  const [delivery] = await deliveriesOf(admin, id);
  expect(delivery).toMatchObject({ status: 202, execution_id, error: null, can_replay: true });
  const replayed = await replayDelivery(admin, { delivery_id: delivery?.id ?? "" });
  expect(replayed.execution_id).not.toBe(execution_id);
  expect(await db().execution.findUniqueOrThrow({ where: { id: replayed.execution_id } })).toMatchObject({ started_by_id: admin.user.id });
  expect(await inputsOf(id)).toEqual(['{"a":[1,"é"]}', '{"a":[1,"é"]}']);
  const stranger = await database.newAdmin();
  await expect(replayDelivery(stranger, { delivery_id: delivery?.id ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(getWebhookState(stranger, { workflow_id: id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("an id with more digits than JavaScript keeps arrives as sent, whole or by a path", async () => {
  const whole = await newWebhook();
  await whole.send('{"id": 12345678901234567890, "of": {"ids": [98765432109876543210]}}');
  expect(await inputsOf(whole.id)).toEqual(['{"id":12345678901234567890,"of":{"ids":[98765432109876543210]}}']);
  const part = await newWebhook({ payload_path: "$.of.ids[0]" });
  await part.send('{"id": 12345678901234567890, "of": {"ids": [98765432109876543210]}}');
  expect(await inputsOf(part.id)).toEqual(["98765432109876543210"]);
});

test("without a good signature everything is the same refusal, and at most one a minute is noted, without its body", async () => {
  const { admin, id, secret, send } = await newWebhook();
  const plain = await createWorkflow(admin, { name: "Never set up", nodes: [trigger()], edges: [] });
  const deleted = await newWebhook();
  await deleteWorkflow(deleted.admin, { workflow_id: deleted.id });
  const attempt = (workflow_id: string, signature: string | null, body = "{}") =>
    receiveDelivery(workflow_id, post(new Headers(signature === null ? {} : { "x-service-signature": signature })), async () =>
      Buffer.from(body),
    ).catch((error) => `${error.code} ${error.message}`);
  const good = sign("{}", secret);
  const answers = await Promise.all([
    attempt(id, null),
    attempt(id, ""),
    attempt(id, good.slice(0, -1)),
    attempt(id, good.replace("sha256=", "")),
    attempt(id, good.replace("sha256", "sha1")),
    attempt(id, good, "{ }"),
    attempt(id, good, "not json"),
    attempt(crypto.randomUUID(), good),
    attempt("not-an-id", good),
    attempt(plain.id, good),
    attempt(plain.id, sign("{}", "")),
    attempt(deleted.id, sign("{}", deleted.secret)),
  ]);
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^AUTH_REQUIRED /);
  const refusal = { status: 401, execution_id: null, can_replay: false, error: expect.stringContaining("no signature") };
  await expect.poll(() => deliveriesOf(admin, id)).toMatchObject([refusal]);
  await expect(send("{}")).resolves.toMatchObject({ status: "queued" });
  expect(await deliveriesOf(admin, id)).toMatchObject([{ status: 202 }, refusal]);
  expect(await db().webhookDelivery.count({ where: { workflow_id: { in: [plain.id, deleted.id] } } })).toBe(0);
});

test("a right signature with a wrong timestamp gets a 401 that says so", async () => {
  const { admin, id, send } = await newWebhook();
  const late = {
    code: "AUTH_REQUIRED",
    message: expect.stringContaining("X-SERVICE-Timestamp is missing, unreadable or more than 5 minutes off"),
  };

  await expect(send("{}", { "x-service-timestamp": String(Math.floor(Date.now() / 1000) - 310) })).rejects.toMatchObject(late);
  await expect(send("{}", { "x-service-timestamp": "soon" })).rejects.toMatchObject(late);

  await expect
    .poll(() => deliveriesOf(admin, id), { timeout: 10_000 })
    .toMatchObject([{ status: 401, error: expect.stringContaining("5 minutes") }]);
  expect(await inputsOf(id)).toEqual([]);
});

test("a wrong signature with a wrong timestamp gets the 401 of a wrong signature", async () => {
  const { send } = await newWebhook();
  const plain = await send("{}", {}, "another secret").catch(({ message }) => message);

  const late = send("{}", { "x-service-timestamp": "soon" }, "another secret");

  await expect(late).rejects.toMatchObject({ code: "AUTH_REQUIRED", message: plain });
});

test("the timestamp header of another sender does not count", async () => {
  const { send } = await newWebhook();

  await expect(send("{}", { "webhook-timestamp": "soon" })).resolves.toMatchObject({ status: "queued" });
});

/** Params that the runs of a workflow were given. */
const paramsOf = async (workflow_id: string) =>
  (await db().execution.findMany({ where: { workflow_id }, include: { values: true }, orderBy: { id: "asc" } })).map(
    (row) => row.values?.params,
  );

/** Output of a run of this webhook whose Output node reads an expression. */
async function readBy(value: string, body: string, headers: Record<string, string>, data = {}) {
  const { admin, id, send } = await newWebhook(data);
  const output = { id: "o", type: "outputNode", position: { x: 1, y: 0 }, data: { label: "Out", value } };
  await updateWorkflow(admin, { workflow_id: id, nodes: [trigger(data), output], edges: [{ id: "e", source: "t", target: "o" }] });
  const { execution_id } = await send(body, headers);
  await claimAndExecute(storedServices(), execution_id, 60);
  return getExecution(admin, { execution_id });
}

test("a webhook run reads headers of its delivery in any letter case", async () => {
  const run = await readBy("{{trigger.headers.X-GitHub-Event}} {{trigger.headers.x-github-event}}", "{}", { "X-Github-Event": "push" });

  expect(run).toMatchObject({ status: "completed", output: "push push" });
});

test("a webhook run reads the payload as sent", async () => {
  const body = '{ "issue": {"title": "Broken"} }\n';

  const run = await readBy("{{trigger.raw}}", body, {}, { payload_path: "$.issue.title" });

  expect(run).toMatchObject({ input: "Broken", output: body });
});

test("headers with secrets are not kept", async () => {
  const { id, send, secret } = await newWebhook({ auth_header: "X-Shared" });

  await send("{}", {
    ...{ authorization: "Bearer x", cookie: "a=b", "x-shared": "1", "x-treadle-front": "t", "x-api-key": "k", "x-hub-signature": "s" },
    ...{ "x-plain": `is ${secret}`, "x-order": "7" },
  });

  expect(await paramsOf(id)).toEqual([{ headers: { "x-order": "7" } }]);
});

/** Starts a run of a webhook by a body as it is sent. */
async function sendBytes(body: Buffer, headers: Record<string, string>, data = {}) {
  const { id, secret } = await newWebhook(data);
  await receiveDelivery(id, post(new Headers({ "x-service-signature": sign(body, secret), ...headers })), async () => body);
  return { inputs: await inputsOf(id), params: await paramsOf(id) };
}

const FORM = { "content-type": "application/x-www-form-urlencoded" };

test("a delivery with an empty body starts a run with an empty input", async () => {
  expect(await sendBytes(Buffer.alloc(0), {})).toMatchObject({ inputs: [""] });
});

test("a form starts a run with its fields", async () => {
  const body = "Body=Hi+there&From=%2B49151";

  const { inputs, params } = await sendBytes(Buffer.from(body), FORM);

  expect(inputs).toEqual(['{"Body":"Hi there","From":"+49151"}']);
  expect(params).toEqual([{ headers: { ...FORM }, raw: body }]);
});

test("a form starts a run without authentication", async () => {
  const { id } = await newWebhook({ auth: "none" });

  await started(id, new Headers(FORM), "a=1&a=2");

  expect(await inputsOf(id)).toEqual(['{"a":["1","2"]}']);
});

test("the payload path reads a field of a form", async () => {
  expect(await sendBytes(Buffer.from("a=1&b=2"), FORM, { payload_path: "$.b" })).toMatchObject({ inputs: ["2"] });
});

test("a packed delivery is signed over its bytes as sent", async () => {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };

  expect(await sendBytes(gzipSync('{"a":1}'), headers)).toMatchObject({ inputs: ['{"a":1}'], params: [{ headers }] });
});

test("plain text starts a run with the text", async () => {
  expect(await sendBytes(Buffer.from("Größe", "latin1"), { "content-type": "text/plain; charset=iso-8859-1" })).toMatchObject({
    inputs: ["Größe"],
  });
});

test("a delivery of a form is replayed with its fields", async () => {
  const { admin, id, send } = await newWebhook();
  await send("a=1", FORM);
  const [delivery] = await deliveriesOf(admin, id);

  await replayDelivery(admin, { delivery_id: delivery?.id ?? "" });

  expect(await inputsOf(id)).toEqual(['{"a":"1"}', '{"a":"1"}']);
});

test("a payload that equals the output is kept once", async () => {
  const { id, send } = await newWebhook();

  await send('{"a":1}');
  await send('{ "a": 1 }');

  expect(await paramsOf(id)).toEqual([{ headers: {} }, { headers: {}, raw: '{ "a": 1 }' }]);
});

test("a payload that is kept twice counts twice toward the run's size", async () => {
  const { id, send } = await newWebhook();

  await send(` {"a":"${"x".repeat(100_000)}"}`);

  const { bytes } = await db().execution.findFirstOrThrow({ where: { workflow_id: id } });
  expect(Number(bytes)).toBeGreaterThan(200_000);
});

test("a rerun reads the headers of the original's delivery", async () => {
  const { admin, id, send } = await newWebhook();
  const { execution_id } = await send("{}", { "x-order": "7" });
  await db().execution.update({ where: { id: execution_id }, data: { status: "completed", completed_at: new Date() } });

  await rerunExecution(admin, { execution_id, use_current: false });

  expect(await paramsOf(id)).toEqual(Array(2).fill({ headers: { "x-order": "7" } }));
});

test("execute applies the payload path to its input", async () => {
  const { admin, id } = await newWebhook({ payload_path: "$.issue.title" });
  const body = '{"issue":{"title":"Broken"}}';

  await executeWorkflow(admin, { workflow_id: id, input: body });

  expect(await inputsOf(id)).toEqual(["Broken"]);
  expect(await paramsOf(id)).toEqual([{ raw: body }]);
});

test("execute refuses an input without the part that the payload path names", async () => {
  const { admin, id } = await newWebhook({ payload_path: "$.issue.title" });

  await expect(executeWorkflow(admin, { workflow_id: id, input: "{}" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [{ path: "input", message: expect.stringContaining("$.issue.title") }],
  });
});

test("refused calls never push out what can be sent again, and another process's note counts", async () => {
  const { admin, id, send } = await newWebhook();
  const day = 86_400_000;
  const old = (n: number) => ({ workflow_id: id, status: 401, error: `old ${n}`, received_at: new Date(Date.now() - day - n) });
  for (const n of [0, 1, 2, 3, 4, 5, 6]) await db().webhookDelivery.create({ data: old(n) });
  await send("{}");
  await noteRefusal(id, "missing");
  const kept = await deliveriesOf(admin, id);
  expect(kept.map(({ error }) => error)).toEqual([expect.stringContaining("no signature"), null, "old 6", "old 5", "old 4", "old 3"]);
  const other = await newWebhook();
  await db().webhookDelivery.create({ data: { workflow_id: other.id, status: 401, error: "noted elsewhere" } });
  await noteRefusal(other.id, "wrong");
  expect(await deliveriesOf(other.admin, other.id)).toMatchObject([{ error: "noted elsewhere" }]);
});

test("the signature is over the bytes as they came, in either case of hex", async () => {
  const { send, secret, id } = await newWebhook();
  const body = '{\r\n  "text": "日本 \\u00e9"\t}\n';
  await expect(send(body)).resolves.toMatchObject({ status: "queued" });
  await expect(send(body, { "x-service-signature": `sha256=${sign(body, secret).slice(7).toUpperCase()}` })).resolves.toMatchObject({
    status: "queued",
  });
  expect(await inputsOf(id)).toEqual(Array(2).fill('{"text":"日本 é"}'));
});

test("what is wrong with a signed delivery is told, and written down", async () => {
  const { admin, id, send } = await newWebhook({ payload_path: "$.issue.title" });
  await expect(send("not json", { "content-type": "application/json" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  await expect(send("{}", { "content-encoding": "compress" })).rejects.toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
  await expect(send('{"issue":{}}')).rejects.toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringContaining("$.issue.title") });
  await expect(send('{"issue":{"title":"Broken"}}')).resolves.toMatchObject({ status: "queued" });
  await updateWorkflow(admin, { workflow_id: id, enabled: false });
  await expect(send("not json either")).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await deliveriesOf(admin, id)).map(({ status }) => status)).toEqual([409, 202, 422, 415, 400]);
  expect(await inputsOf(id)).toEqual(["Broken"]);
});

test("a graph with problems, another trigger and a used-up hour are refused after the signature", async () => {
  const { admin, id, send } = await newWebhook();
  const agent = { id: "a", type: "agentNode", position: { x: 0, y: 0 }, data: { label: "Nobody" } };
  await updateWorkflow(admin, { workflow_id: id, nodes: [trigger(), agent] });
  await expect(send("{}")).rejects.toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringContaining("Choose an agent") });
  await updateWorkflow(admin, { workflow_id: id, nodes: [trigger({ kind: "manual" })] });
  await expect(send("{}")).rejects.toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringContaining("no longer") });
  await expect(setupWebhook(admin, { workflow_id: id })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await updateWorkflow(admin, { workflow_id: id, nodes: [trigger()] });
  setSettings({ EXECUTIONS_PER_HOUR: "1" });
  const first = await send("{}", { "idempotency-key": "one" });
  await expect(send("{}")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retryAfter: expect.any(Number) });
  await expect(send("{}", { "idempotency-key": "one" })).resolves.toEqual(first);
});

test("one delivery starts one execution, however often and at once it is sent, whatever the body", async () => {
  const { id, send } = await newWebhook();
  const together = await Promise.all(Array.from({ length: 12 }, (_, n) => send(`{"n":${n}}`, { "Idempotency-Key": "order-7" })));
  expect(new Set(together.map(({ execution_id }) => execution_id)).size).toBe(1);
  await expect(send("no json at all", { "Idempotency-Key": "order-7" })).resolves.toEqual(together[0]);
  for (const header of ["X-GitHub-Delivery", "X-Shopify-Webhook-Id", "svix-id", "webhook-id"])
    expect(await send("{}", { [header]: "order-7" })).toEqual(await send("{}", { [header]: "order-7" }));
  expect(await inputsOf(id)).toHaveLength(5);
  const other = await newWebhook();
  expect((await other.send("{}", { "Idempotency-Key": "order-7" })).execution_id).not.toBe(together[0]?.execution_id);
});

test("a refused delivery may be repeated under its id", async () => {
  const { send } = await newWebhook({ payload_path: "$.id" });
  await expect(send("{}", { "Idempotency-Key": "k" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(send('{"id":1}', { "Idempotency-Key": "k" })).resolves.toMatchObject({ status: "queued" });
});

test("a long body is kept in part, cannot be replayed, and runs whole", async () => {
  const { admin, id, send } = await newWebhook();
  const body = JSON.stringify({ text: "x".repeat(KEPT_CHARACTERS) });
  await send(body);
  const [delivery] = await deliveriesOf(admin, id);
  expect(delivery).toMatchObject({ status: 202, can_replay: false });
  await expect(replayDelivery(admin, { delivery_id: delivery?.id ?? "" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  expect(await inputsOf(id)).toEqual([body]);
});

test("the log keeps the newest 100, and the ids that senders may still repeat", async () => {
  const { admin, id } = await newWebhook();
  const old = new Date(Date.now() - 8 * 86_400_000);
  const rows = Array.from({ length: 105 }, (_, n) => ({ workflow_id: id, status: 202, body: "{}", delivery_key: n < 3 ? `k:${n}` : null }));
  for (const row of rows) await db().webhookDelivery.create({ data: { ...row, ...(row.delivery_key === "k:0" && { received_at: old }) } });
  await tidyDeliveries();
  const kept = await db().webhookDelivery.findMany({ where: { workflow_id: id }, orderBy: { id: "asc" } });
  expect(kept).toHaveLength(102);
  expect(kept.slice(0, 3).map(({ delivery_key, body }) => [delivery_key, body])).toEqual([
    ["k:1", null],
    ["k:2", null],
    [null, "{}"],
  ]);
  expect(await deliveriesOf(admin, id)).toHaveLength(20);
});

/** A call of a sender of another kind, with the secret that it made itself. */
async function newSender(data: Record<string, unknown>, webhook_secret?: string) {
  const admin = await database.newAdmin();
  const { id } = await createWorkflow(admin, { name: "Hooked", nodes: [trigger(data)], edges: [] });
  const setup = await setupWebhook(admin, { workflow_id: id, ...(webhook_secret !== undefined && { webhook_secret }) });
  let reads = 0;
  const call = (headers: Record<string, string>, body: string) =>
    receiveDelivery(id, post(new Headers(headers)), async () => {
      reads++;
      return Buffer.from(body);
    });
  return { admin, id, setup, call, reads: () => reads };
}
const hexOf = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");
const now = () => String(Math.floor(Date.now() / 1000));

test("GitHub, Stripe and Slack sign with their own secrets, and a delivery that they repeat is known", async () => {
  const secret = "made-by-the-sender";
  const github = await newSender({ auth: "github" }, secret);
  expect(github.setup.webhook_secret).toBe(secret);
  const row = await db().webhook.findUniqueOrThrow({ where: { workflow_id: github.id } });
  expect(JSON.stringify(row)).not.toContain(secret);
  const push = '{"ref":"refs/heads/main"}';
  const headers = { "x-hub-signature-256": `sha256=${hexOf(secret, push)}`, "x-github-delivery": "72d3162e" };
  expect(await github.call(headers, push)).toEqual(await github.call(headers, push));
  await expect(github.call({ "x-service-signature": `sha256=${hexOf(secret, push)}` }, push)).rejects.toMatchObject({
    code: "AUTH_REQUIRED",
  });
  const form = `payload=${encodeURIComponent(push)}`;
  const formHeaders = { "x-hub-signature-256": `sha256=${hexOf(secret, form)}`, "content-type": "application/x-www-form-urlencoded" };
  await github.call(formHeaders, form);
  expect(await inputsOf(github.id)).toEqual([push, push]);

  const stripe = await newSender({ auth: "stripe", payload_path: "$.type" }, secret);
  const event = '{"id":"evt_1","type":"invoice.paid"}';
  const paid = () => {
    const time = now();
    return stripe.call({ "stripe-signature": `t=${time},v1=${hexOf(secret, `${time}.${event}`)}` }, event);
  };
  expect(await paid()).toEqual(await paid());
  expect(await inputsOf(stripe.id)).toEqual(["invoice.paid"]);

  const slack = await newSender({ auth: "slack" }, secret);
  const say = (body: string, time = now()) =>
    slack.call({ "x-slack-request-timestamp": time, "x-slack-signature": `v0=${hexOf(secret, `v0:${time}:${body}`)}` }, body);
  expect(await say('{"type":"url_verification","challenge":"3eZ"}')).toEqual({ type: "text/plain; charset=utf-8", body: "3eZ" });
  const said = '{"type":"event_callback","event_id":"Ev1","event":{"text":"hello"}}';
  expect(await say(said)).toEqual(await say(said));
  await expect(say(said, String(Number(now()) - 400))).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  expect(await inputsOf(slack.id)).toEqual([said]);
});

test("a signed call that somebody overheard starts nothing again, whatever else is said with it", async () => {
  const secret = "made-by-the-sender";
  const again = async ({ call }: Awaited<ReturnType<typeof newSender>>, headers: Record<string, string>, body: string) => {
    const first = await call(headers, body);
    for (const name of ["idempotency-key", "x-github-delivery"])
      expect(await call({ ...headers, [name]: randomUUID() }, body)).toEqual(first);
    return first;
  };
  const [time, event] = [now(), '{"id":"evt_1"}'];
  await again(
    await newSender({ auth: "stripe" }, secret),
    { "stripe-signature": `t=${time},v1=${hexOf(secret, `${time}.${event}`)}` },
    event,
  );
  const slack = await newSender({ auth: "slack" }, secret);
  const command = (at: string) => {
    const signature = hexOf(secret, `v0:${at}:command=%2Fdeploy`);
    return { "content-type": "application/x-www-form-urlencoded", "x-slack-request-timestamp": at, "x-slack-signature": `v0=${signature}` };
  };
  const first = await again(slack, command(time), "command=%2Fdeploy");
  const shouted = command(time)["x-slack-signature"].toUpperCase().replace("V0", "v0");
  expect(await slack.call({ ...command(time), "x-slack-signature": shouted }, "command=%2Fdeploy")).toEqual(first);
  expect(await slack.call(command(String(Number(time) - 1)), "command=%2Fdeploy")).not.toEqual(first);
  const signature = createHmac("sha256", secret).update(`msg_1.${time}.{}`).digest("base64");
  const signed = { "webhook-id": "msg_1", "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
  await again(await newSender({ auth: "standard" }, secret), signed, "{}");
});

test("Standard Webhooks gets a secret in its form; a header, a name with a secret, and nobody at all", async () => {
  const standard = await newSender({ auth: "standard" });
  expect(standard.setup.webhook_secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  const key = Buffer.from(standard.setup.webhook_secret.slice(6), "base64");
  const time = now();
  const signature = createHmac("sha256", key).update(`msg_1.${time}.{"a":1}`).digest("base64");
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
  expect(await standard.call(headers, '{"a":1}')).toEqual(await standard.call(headers, '{"a":1}'));
  expect(await inputsOf(standard.id)).toHaveLength(1);

  const header = await newSender({ auth: "header", auth_header: "X-Gitlab-Token" }, "token of theirs");
  await expect(header.call({ "x-other": "token of theirs" }, "{}")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  expect(header.reads()).toBe(0); // a body is read only of who has something to show
  await expect(header.call({ "x-gitlab-token": "token of their" }, "{}")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  await header.call({ "x-gitlab-token": "token of theirs" }, "{}");

  const basic = await newSender({ auth: "basic", auth_username: "deploy" }, "a secret");
  const as = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
  await expect(basic.call(as("webhook:a secret"), "{}")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  await basic.call(as("deploy:a secret"), "{}");

  const open = await newSender({ auth: "none" });
  await open.call({}, '{"from":"anybody"}');
  expect(await inputsOf(open.id)).toEqual(['{"from":"anybody"}']);
  // Open only while it is a webhook, and once somebody has set it up.
  await updateWorkflow(open.admin, { workflow_id: open.id, nodes: [trigger({ auth: "none", kind: "manual" })] });
  await expect(open.call({}, "{}")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  const closed = await createWorkflow(open.admin, { name: "Not set up", nodes: [trigger({ auth: "none" })], edges: [] });
  await expect(receiveDelivery(closed.id, post(), async () => Buffer.from("{}"))).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  for (const data of [{ auth: "magic" }, { auth_header: "two words" }, { auth_username: "a:b" }])
    await expect(createWorkflow(open.admin, { name: "Wrong", nodes: [trigger(data)], edges: [] })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
});

test("the next call is heard once, with its secrets masked, and starts its run all the same", async () => {
  const secret = "token of theirs";
  const { admin, id, call } = await newSender({ auth: "header", auth_header: "X-Shared", payload_path: "$.text" }, secret);
  const stateOf = () => getWebhookState(admin, { workflow_id: id });
  const send = (text: string) =>
    call({ "x-shared": secret, cookie: "a=b", "x-plain": `says ${secret}`, "user-agent": "curl" }, JSON.stringify({ text }));
  await send("before");
  expect(await stateOf()).toMatchObject({ heard: null, listens_until: null });
  await listenToWebhook(admin, { workflow_id: id, is_on: true });
  expect((await stateOf()).listens_until).not.toBeNull();
  await expect(call({ "x-shared": "wrong" }, "{}")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  expect((await stateOf()).heard).toBeNull();
  await send(`with ${secret}`);
  await send("after");
  const { heard, listens_until } = await stateOf();
  expect(listens_until).toBeNull();
  expect(heard).toMatchObject({
    headers: { "x-shared": "••••", cookie: "••••", "x-plain": "says ••••", "user-agent": "curl" },
    body: '{"text":"with ••••"}',
    input: "with ••••",
  });
  expect(await inputsOf(id)).toHaveLength(3);
  const stranger = await database.newAdmin();
  await expect(listenToWebhook(stranger, { workflow_id: id, is_on: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a call that is heard is accepted, wherever what is kept of it is cut", async () => {
  const { admin, id, send } = await newWebhook();
  const text = "👍".repeat(40_000);
  for (const body of [JSON.stringify({ text }), JSON.stringify({ texts: text })]) {
    await listenToWebhook(admin, { workflow_id: id, is_on: true });
    await send(body);
    const { heard } = await getWebhookState(admin, { workflow_id: id });
    expect(heard?.body.length).toBe(65_536);
    expect(JSON.stringify(heard)).not.toMatch(/\\ud[89a-f]/i);
  }
});
