import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import * as declared from "#server/events/events.ts";
import { inngest } from "#server/events/inngest-client.ts";
import { createAgent } from "#server/features/agents/service.ts";
import { updateSettings } from "#server/features/assistant/settings.ts";
import { createThread, getThread, sendMessage } from "#server/features/assistant/threads.ts";
import { createCredential } from "#server/features/credentials/service.ts";
import { startBulk } from "#server/features/executions/bulk.ts";
import { BulkInput } from "#server/features/executions/schema.ts";
import { updateProfile } from "#server/features/identity/profile.ts";
import { addDocument } from "#server/features/knowledge/documents.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { failureNoticeSweep } from "#server/features/notifications/failures.ts";
import { mailSweep } from "#server/features/notifications/mail.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { jobs } from "#server/jobs/definitions.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { setSettings } from "#server/platform/settings.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import { inngestCarrier } from "#server/testing/inngest-carrier.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// The jobs of the product as functions of an Inngest server, which may be somebody else's.

const database = testDatabase();
const models = testModelServer();
const carrier = inngestCarrier();
const sent: { name: string; data: object }[] = [];
let admin: ProjectPrincipal;

beforeEach(async () => {
  admin = await database.newAdmin();
  setSettings({ INNGEST_BASE_URL: "http://127.0.0.1:9", INNGEST_EVENT_KEY: "event-key", INNGEST_SIGNING_KEY: "00" });
  vi.spyOn(inngest(), "send").mockImplementation(async (some) => {
    const events = [some].flat() as Parameters<typeof carrier.send>;
    sent.push(...events.map(({ name, data }) => ({ name, data: Object(data) })));
    await carrier.send(...events);
    return { ids: [] };
  });
  await carrier.start(jobs);
});
afterEach(async () => {
  await carrier.stop();
  vi.restoreAllMocks();
});

/** In every text of this test, so that none of them can be missed. */
const WORD = "marigold";
const position = { x: 0, y: 0 };

test("what an Inngest server is told and keeps are ids and states: no text, no secret, however large", async () => {
  const large = `${WORD} `.repeat(20_000);
  const llm_key = { name: `Key ${WORD}`, provider: "openai_compatible" as const, api_key: `sk-${WORD}-123456`, base_url: models.url };
  const { id: llm_key_id } = await createLlmKey(admin, llm_key);
  await createCredential(admin, { name: "TOKEN", value: `secret-${WORD}-987654` });
  const { id: agent_id } = await createAgent(admin, { name: `Agent ${WORD}`, model: "echo", llm_key_id });
  const rag = await createRag(admin, { name: `House ${WORD}`, type: "documents", config: {} });
  const document = await addDocument(admin, { rag_id: rag.id, title: `Rules ${WORD}`, text: large });
  await updateSettings(admin, { llm_key_id, model: "echo" });
  const thread = await createThread(admin, { title: WORD });
  await sendMessage(admin, { thread_id: thread.id, content: WORD, mode: "build" });

  const node = (id: string, type: string, data: object = {}) => ({ id, type, position, data: { label: `${WORD} ${id}`, ...data } });
  const nodes = [
    node("t", "triggerNode"),
    node("a", "agentNode", { agent_id, input: `{{credentials.TOKEN}} ${WORD}` }),
    node("h", "humanLoopNode", {
      title: `{{${WORD} a.output}}`,
      display_value: "{{trigger.output}}",
      notification_email: `${WORD}@example.com`,
      remind_hours: 1,
    }),
    node("o", "outputNode", { value: "{{trigger.output}}" }),
  ];
  const edges = [
    { id: "ta", source: "t", target: "a" },
    { id: "ah", source: "a", target: "h" },
    { id: "ho", source: "h", target: "o", sourceHandle: "approved" },
  ];
  const execution_id = await startStoredRun(admin, { nodes, edges }, large);
  const cancelled = await startStoredRun(admin, { nodes, edges }, large);
  const status = async (id: string) => (await db().execution.findUniqueOrThrow({ where: { id } })).status;
  for (const id of [execution_id, cancelled]) await until(async () => (await status(id)) === "paused");
  await updateProfile(admin, { notify_run_failed: true });
  const end = node("x", "terminateNode", { status: "failed", message: WORD });
  const failed = await startStoredRun(admin, { nodes: [node("t", "triggerNode"), end], edges: [{ id: "tx", source: "t", target: "x" }] });
  await until(async () => (await status(failed)) === "failed");
  await sweep(failureNoticeSweep);
  await sweep(mailSweep);
  await startBulk(admin, BulkInput.parse({ action: "delete", ids: [failed] }));
  await db().wait.updateMany({ where: { execution_id }, data: { remind_at: new Date() } });
  await sweep(waitSweep, reviewSweep);
  await until(() => sent.some(({ name }) => name === "review/overlooked"));
  await cancelExecution(admin, { execution_id: cancelled });
  await approveExecution(admin, { execution_id, decision: "approved", comment: `Yes, ${large}` });
  await until(async () => (await status(execution_id)) === "completed");
  await until(async () => (await db().ragDocument.findUniqueOrThrow({ where: { id: document.id } })).status === "ready");
  await until(() => sent.some(({ name }) => name === "execution/cancelled"));
  await until(async () => (await getThread(admin, { thread_id: thread.id })).messages[0]?.answer === `Echo: ${WORD}`);
  await carrier.stop();

  const names = Object.values(declared).flatMap((type) => (typeof type === "object" ? [type.name] : []));
  expect(new Set(sent.map(({ name }) => name))).toEqual(new Set(names));
  for (const { name, data } of sent) {
    for (const [field, value] of Object.entries(data))
      expect(`${value}`, `${name} ${field}`).toMatch(field.endsWith("_id") ? /^[0-9a-f-]{36}$/ : /^\d{1,9}$/);
    expect(JSON.stringify(data).length, name).toBeLessThan(1024);
  }
  expect(carrier.answers.length).toBeGreaterThan(5);
  for (const answer of carrier.answers) {
    expect(answer.toLowerCase()).not.toContain(WORD);
    expect(answer.length).toBeLessThan(1024);
  }
});
