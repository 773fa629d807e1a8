import { createHmac } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { runHttpTrigger } from "#server/features/http-trigger/service.ts";
import { failureNoticeSweep } from "#server/features/notifications/failures.ts";
import { receiveDelivery } from "#server/features/webhooks/receive.ts";
import { getWebhookState, setupWebhook } from "#server/features/webhooks/service.ts";
import { startErrorWorkflow } from "#server/features/workflows/error-workflow.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { newId } from "#server/platform/new-id.ts";
import { withRunId } from "#server/platform/rpc/idempotency.ts";
import { setSettings } from "#server/platform/settings.ts";
import { hourlyUse, measureStorage } from "#server/runs/store/limits.ts";
import { MAX_REFUSED_ROWS } from "#server/runs/store/refused-runs.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ EXECUTIONS_PER_HOUR: "100", PROJECT_STORAGE_BYTES: "10737418240" }));

const position = { x: 0, y: 0 };
const trigger = (data = {}) => ({ id: "t", type: "triggerNode", position, data: { label: "Start", kind: "webhook", ...data } });
const incomplete = { id: "a", type: "agentNode", position, data: { label: "Writer" } };

/** A webhook with the calls of its sender. */
async function newWebhook(data = {}) {
  const admin = await database.newAdmin();
  const { id } = await createWorkflow(admin, { name: "Hooked", nodes: [trigger(data)], edges: [] });
  const { webhook_secret } = await setupWebhook(admin, { workflow_id: id });
  const send = async (body = '{"n":1}', headers: Record<string, string> = {}) => {
    const signature = `sha256=${createHmac("sha256", webhook_secret).update(body).digest("hex")}`;
    const sent = new Headers({ "x-service-signature": signature, ...headers });
    const request = { method: "POST", url: `http://localhost/api/v1/webhooks/${id}`, headers: sent };
    const answer = await receiveDelivery(id, request, async () => Buffer.from(body));
    if (!("execution_id" in answer)) throw new Error("The delivery is no question about the address.");
    return answer.execution_id;
  };
  const enable = (enabled: boolean) => updateWorkflow(admin, { workflow_id: id, enabled });
  return { admin, id, send, enable };
}

const runsOf = (workflow_id: string) =>
  db().execution.findMany({ where: { workflow_id }, include: { values: true }, orderBy: { id: "asc" } });
const noticesOf = (project_id: string) => db().notification.findMany({ where: { project_id, kind: "run_failed" } });

const REASONS: [reason: string, code: string, message: RegExp, block: (hook: Awaited<ReturnType<typeof newWebhook>>) => unknown][] = [
  ["a disabled workflow", "CONFLICT", /disabled/, ({ enable }) => enable(false)],
  [
    "a problem",
    "VALIDATION_ERROR",
    /Choose an agent/,
    ({ admin, id }) => updateWorkflow(admin, { workflow_id: id, nodes: [trigger(), incomplete] }),
  ],
  [
    "a trigger of another kind",
    "VALIDATION_ERROR",
    /no longer/,
    ({ admin, id }) => updateWorkflow(admin, { workflow_id: id, nodes: [trigger({ kind: "manual" })] }),
  ],
  [
    "the hourly limit",
    "RATE_LIMIT_EXCEEDED",
    /within an hour/,
    async ({ send, id }) => {
      setSettings({ EXECUTIONS_PER_HOUR: "1" });
      await db().execution.delete({ where: { id: await send() } });
      await db().project.updateMany({ where: { workflows: { some: { id } } }, data: { executions_per_hour: 1 } });
      await send();
    },
  ],
  [
    "the storage quota",
    "CONFLICT",
    /quota/,
    async ({ admin }) => {
      await measureStorage(admin.project.id, () => true);
      setSettings({ PROJECT_STORAGE_BYTES: "1" });
    },
  ],
];

test.each(REASONS)("a delivery refused for %s leaves a failed execution that never started", async (_, code, message, block) => {
  const hook = await newWebhook();
  await block(hook);
  const before = await runsOf(hook.id);

  await expect(hook.send('{"n":7}')).rejects.toMatchObject({ code });

  const left = (await runsOf(hook.id)).slice(before.length);
  expect(left).toMatchObject([
    { status: "failed", started_at: null, trigger: "webhook", error: expect.stringMatching(message), values: { input: '{"n":7}' } },
  ]);
  const [delivery] = (await getWebhookState(hook.admin, { workflow_id: hook.id })).deliveries;
  expect(delivery).toMatchObject({ execution_id: left[0]?.id, error: left[0]?.error });
});

test("a refused delivery does not count toward the hourly limit", async () => {
  const { admin, send, enable } = await newWebhook();
  await enable(false);

  await expect(send()).rejects.toMatchObject({ code: "CONFLICT" });

  expect(await hourlyUse(admin.project.id)).toMatchObject({ used: 0 });
});

test("a refused delivery runs again with its payload", async () => {
  const { admin, id, send, enable } = await newWebhook({ payload_path: "$.n" });
  await enable(false);
  await expect(send('{"n":7}')).rejects.toMatchObject({ code: "CONFLICT" });
  const [left] = await runsOf(id);

  const { execution_id } = await rerunExecution(admin, { execution_id: left?.id ?? "", use_current: false });

  const rerun = await db().execution.findUniqueOrThrow({ where: { id: execution_id }, include: { values: true } });
  expect(rerun).toMatchObject({ status: "pending", rerun_of_id: left?.id, values: { input: "7" } });
});

test("a later delivery with the same id starts the execution that an earlier one left", async () => {
  const { id, send, enable } = await newWebhook();
  await enable(false);
  await expect(send('{"n":1}', { "idempotency-key": "k" })).rejects.toMatchObject({ code: "CONFLICT" });
  const [left] = await runsOf(id);
  await enable(true);

  const started = await send('{"n":2}', { "idempotency-key": "k" });

  expect(started).toBe(left?.id);
  expect(await runsOf(id)).toMatchObject([{ id: left?.id, status: "queued", error: null, is_counted: true, values: { input: '{"n":2}' } }]);
  expect(await send('{"n":3}', { "idempotency-key": "k" })).toBe(started);
});

test("deliveries with one id refused at once leave one execution", async () => {
  const { id, send, enable } = await newWebhook();
  await enable(false);

  await Promise.allSettled(Array.from({ length: 8 }, () => send("{}", { "idempotency-key": "k" })));

  expect(await runsOf(id)).toHaveLength(1);
  expect(await db().refusedStart.findMany({ where: { workflow_id: id } })).toMatchObject([{ count: 1, rows: 1 }]);
});

test("deliveries with one id that arrive at once start a refused execution once", async () => {
  const { id, send, enable } = await newWebhook();
  await enable(false);
  await expect(send("{}", { "idempotency-key": "k" })).rejects.toMatchObject({ code: "CONFLICT" });
  const [left] = await runsOf(id);
  await enable(true);

  const answers = await Promise.all(Array.from({ length: 8 }, () => send("{}", { "idempotency-key": "k" })));

  expect(new Set(answers)).toEqual(new Set([left?.id]));
  expect(await runsOf(id)).toMatchObject([{ status: "queued" }]);
});

test("a refused execution stays when its delivery is refused again by the hourly limit", async () => {
  const { admin, id, send, enable } = await newWebhook();
  await enable(false);
  await expect(send("{}", { "idempotency-key": "k" })).rejects.toMatchObject({ code: "CONFLICT" });
  await enable(true);
  await db().project.update({ where: { id: admin.project.id }, data: { executions_per_hour: 1 } });
  await send();

  await expect(send("{}", { "idempotency-key": "k" })).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });

  expect((await runsOf(id)).map(({ status }) => status)).toEqual(["failed", "queued"]);
});

test("further refused deliveries of an hour are only counted", async () => {
  const { admin, id, send, enable } = await newWebhook();
  await enable(false);
  const total = MAX_REFUSED_ROWS + 5;

  for (let count = 0; count < total; count++) await expect(send()).rejects.toMatchObject({ code: "CONFLICT" });
  await sweep(failureNoticeSweep);

  expect(await runsOf(id)).toHaveLength(MAX_REFUSED_ROWS);
  expect(await noticesOf(admin.project.id)).toMatchObject([{ title: expect.stringContaining(`${total} runs of Hooked failed`) }]);
});

test("refused deliveries of an hour keep at most 16 MiB of input", async () => {
  const { id, send, enable } = await newWebhook();
  await enable(false);
  const body = JSON.stringify({ text: "x".repeat(4_000_000) });

  for (let count = 0; count < 6; count++) await expect(send(body)).rejects.toMatchObject({ code: "CONFLICT" });

  expect(await runsOf(id)).toHaveLength(4);
});

test("a sender without authentication leaves a bounded number of entries", async () => {
  const { id, send } = await newWebhook({ auth: "none", payload_path: "$.missing" });

  for (let count = 0; count < 130; count++) await expect(send()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });

  expect(await db().webhookDelivery.count({ where: { workflow_id: id } })).toBeLessThanOrEqual(120);
});

test("bytes of a refused delivery count toward the storage quota", async () => {
  const { id, send, enable } = await newWebhook();
  await enable(false);

  await expect(send(JSON.stringify({ text: "x".repeat(10_000) }))).rejects.toMatchObject({ code: "CONFLICT" });

  const [left] = await runsOf(id);
  expect(Number(left?.bytes)).toBeGreaterThan(20_000);
});

test("a refused delivery sends one notification to each member", async () => {
  const { admin, send, enable } = await newWebhook();
  await enable(false);
  await expect(send()).rejects.toMatchObject({ code: "CONFLICT" });

  await sweep(failureNoticeSweep);
  await sweep(failureNoticeSweep);

  expect(await noticesOf(admin.project.id)).toMatchObject([{ title: expect.stringContaining("disabled") }]);
});

test("a refused delivery starts no error workflow", async () => {
  const { admin, id, send, enable } = await newWebhook();
  const { id: error_workflow_id } = await createWorkflow(admin, { name: "On failure" });
  await updateWorkflow(admin, { workflow_id: id, error_workflow_id });
  await pool().query("UPDATE workflows SET error_workflow_since = now() - interval '1 hour' WHERE id = $1", [id]);
  await enable(false);
  await expect(send()).rejects.toMatchObject({ code: "CONFLICT" });
  const [left] = await runsOf(id);

  await startErrorWorkflow(left?.id ?? "");

  expect(await runsOf(error_workflow_id)).toEqual([]);
});

test("a call without a valid signature leaves no execution", async () => {
  const { id, send, enable } = await newWebhook();
  await enable(false);

  await expect(send("{}", { "x-service-signature": `sha256=${"0".repeat(64)}` })).rejects.toMatchObject({ code: "AUTH_REQUIRED" });

  expect(await runsOf(id)).toEqual([]);
  expect(await db().refusedStart.count({ where: { workflow_id: id } })).toBe(0);
});

test("an unreadable body leaves no execution", async () => {
  const { id, send } = await newWebhook();

  await expect(send("no JSON", { "content-type": "application/json" })).rejects.toMatchObject({ code: "BAD_REQUEST" });

  expect(await runsOf(id)).toEqual([]);
});

/** A workflow with an HTTP trigger. */
async function newHttpTrigger() {
  const admin = await database.newAdmin();
  const { id } = await createWorkflow(admin, { name: "Called", nodes: [trigger({ kind: "http" })], edges: [] });
  const call = async (input = "{}") => {
    const workflow = await savedWorkflow(id);
    if (!workflow) throw new Error("The workflow was saved.");
    return runHttpTrigger(admin, workflow, input, { signal: new AbortController().signal });
  };
  return { admin, id, call };
}

test("a call of an HTTP trigger that cannot start a run leaves a failed execution", async () => {
  const { admin, id, call } = await newHttpTrigger();
  await updateWorkflow(admin, { workflow_id: id, enabled: false });

  await expect(call('{"method":"POST"}')).rejects.toMatchObject({ code: "CONFLICT" });

  expect(await runsOf(id)).toMatchObject([
    { status: "failed", started_at: null, trigger: "http", started_by_id: admin.user.id, values: { input: '{"method":"POST"}' } },
  ]);
});

test("repeating a refused call with its key starts the stored execution", async () => {
  const { admin, id, call } = await newHttpTrigger();
  const run_id = newId();
  await updateWorkflow(admin, { workflow_id: id, enabled: false });
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(withRunId(run_id, () => call("{}"))).rejects.toMatchObject({ code: "CONFLICT" });
  await updateWorkflow(admin, { workflow_id: id, enabled: true });

  const { execution_id } = await withRunId(run_id, () => call("{}"));

  expect(execution_id).toBe(run_id);
  expect(await runsOf(id)).toMatchObject([{ id: run_id, status: "pending", error: null }]);
});
