import { randomBytes } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { propose } from "#server/features/assistant/proposals.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { measureProjects } from "#server/features/executions/tidy-executions.ts";
import { addDocument } from "#server/features/knowledge/documents.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import { getStorage } from "#server/features/projects/limits.ts";
import { saveDraft } from "#server/features/workflows/draft.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import type { Operation } from "#server/workflow/operations.ts";

const database = testDatabase();
beforeEach(() => setSettings({ PROJECT_STORAGE_BYTES: "0" }));

const flow = () => graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode"] }, edges: ["t>o"] });
const held = (admin: ProjectPrincipal) => getStorage(admin, { project_id: admin.project.id });
const forgetMeasuring = () => pool().query("UPDATE project_storage SET measured_at = NULL");
const full = {
  code: "CONFLICT",
  message: expect.stringMatching(/^This project holds \d\.\d MB; its quota is 1\.0 MB\. Keep runs for a shorter time/),
};

test("a project that holds as much as it may starts no run and takes no document, until something is gone", async () => {
  const admin = await database.newAdmin();
  const { id: workflow_id } = await createWorkflow(admin, { name: "Flow", ...flow() });
  const { id: rag_id } = await createRag(admin, { name: "Handbook", type: "documents", config: {} });
  const { execution_id } = await executeWorkflow(admin, { workflow_id, input: "small" });
  await db().execution.update({ where: { id: execution_id }, data: { status: "completed", completed_at: new Date() } });
  expect(await held(admin)).toMatchObject({ quota: null, documents: 0, workflows: expect.toSatisfy((bytes) => bytes > 0) });

  setSettings({ PROJECT_STORAGE_BYTES: `${1_000_000}` });
  const input = "x".repeat(600_000);
  await executeWorkflow(admin, { workflow_id, input });
  await addDocument(admin, { rag_id, title: "Long", text: "word ".repeat(120_000) });
  for (const start of [
    () => executeWorkflow(admin, { workflow_id, input: "small" }),
    () => runDraft(admin, { workflow_id, input: "small" }),
    () => rerunExecution(admin, { execution_id, use_current: false }),
    () => rerunExecution(admin, { execution_id, from_node_id: "o", use_current: false }),
    () => addDocument(admin, { rag_id, title: "One more", text: "more" }),
  ])
    await expect(start()).rejects.toMatchObject(full);
  const other = await database.newAdmin();
  await startStoredRun(other, flow());

  await db().execution.deleteMany({ where: { project_id: admin.project.id } });
  await forgetMeasuring();
  expect(await held(admin)).toMatchObject({ quota: 1_000_000, runs: 0 });
  await executeWorkflow(admin, { workflow_id, input: "small" });
});

test("what reruns take over counts at once", async () => {
  const admin = await database.newAdmin();
  const execution_id = await startStoredRun(admin, flow(), "x".repeat(300_000));
  await claimAndExecute(storedServices(), execution_id, 60);
  const { runs } = await held(admin);
  setSettings({ PROJECT_STORAGE_BYTES: `${Math.floor(3.5 * runs)}` });
  const again = () => rerunExecution(admin, { execution_id, from_node_id: "o", use_current: false });
  for (let count = 1; count <= 2; count++) await again();
  await expect(again()).rejects.toMatchObject({ code: "CONFLICT" });
});

test("graphs count at once, and a full project takes no more of them but a draft", async () => {
  const admin = await database.newAdmin();
  const graph = () => {
    const output = randomBytes(30_000).toString("hex");
    const nodes = Array.from({ length: 4 }, (_, at) => ({
      id: `o${at}`,
      type: "outputNode",
      data: { label: `${at}`, pinned: { output } },
    }));
    const { nodes: first } = flow();
    return { nodes: [...first, ...nodes.map((node) => ({ ...node, position: { x: 0, y: 0 } }))], edges: flow().edges };
  };
  const { id: workflow_id } = await createWorkflow(admin, { name: "Flow", ...flow() });
  await held(admin);
  setSettings({ PROJECT_STORAGE_BYTES: `${1_000_000}` });
  const large = await createWorkflow(admin, { name: "Large", ...graph() });
  await createWorkflow(admin, { name: "Large too", ...graph() });
  await saveDraft(admin, { workflow_id, ...graph(), revision: 1 });
  await saveDraft(admin, { workflow_id, ...flow(), revision: 2 });
  await updateWorkflow(admin, { workflow_id: large.id, ...graph() });
  await expect(createWorkflow(admin, { name: "One more", ...flow() })).rejects.toMatchObject(full);
  await expect(updateWorkflow(admin, { workflow_id, ...graph() })).rejects.toMatchObject(full);
  await expect(runDraft(admin, { workflow_id, input: "small" })).rejects.toMatchObject(full);
  await saveDraft(admin, { workflow_id, ...graph(), revision: 3 });
  expect((await updateWorkflow(admin, { workflow_id, name: "Renamed" })).name).toBe("Renamed");
});

test("what is said and proposed in threads counts, and a full project takes no more of it", async () => {
  const admin = await database.newAdmin();
  const { id: workflow_id } = await createWorkflow(admin, { name: "Flow", ...flow() });
  const thread = await db().assistantThread.create({ data: { project_id: admin.project.id, user_id: admin.user.id } });
  const message = await db().assistantMessage.create({ data: { thread_id: thread.id, content: "Hi", mode: "build" } });
  const before = (await held(admin)).workflows;
  const place = { thread_id: thread.id, message_id: message.id };
  const value = randomBytes(90_000).toString("hex");
  const operations: Operation[] = [{ op: "update_node", id: "o", data: { value } }];
  const more = () => propose(admin, place, { workflow_id, summary: "Longer", operations });
  await more();
  await forgetMeasuring();
  const { workflows } = await held(admin);
  expect(workflows - before).toBeGreaterThan(value.length);
  setSettings({ PROJECT_STORAGE_BYTES: `${workflows + 1000}` });
  await more();
  await expect(more()).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("its quota is") });
});

test("a run that has begun may go a little beyond it, and then fails in words", async () => {
  const admin = await database.newAdmin();
  const position = { x: 0, y: 0 };
  const ask = (id: string) => ({ id, type: "agentNode", position, data: { label: id, agent_id: "gone", retries: 0 } });
  const nodes = [{ id: "t", type: "triggerNode", position, data: { label: "t" } }, ...["a", "b", "c", "d", "e"].map(ask)];
  const edges = nodes.slice(1).map(({ id }, at) => ({ id, source: nodes[at]?.id ?? "", target: id }));
  const execution_id = await startStoredRun(admin, { nodes, edges });
  setSettings({ PROJECT_STORAGE_BYTES: `${1_000_000}` });
  let calls = 0;
  const callAgent = async () => ({ output: `${++calls}${"y".repeat(400_000)}` });
  expect(await claimAndExecute(storedServices({ callAgent }), execution_id, 60)).toMatchObject({ kind: "over" });
  const { status, error } = await getExecution(admin, { execution_id });
  expect(status).toBe("failed");
  expect(error).toMatch(/^A result could not be stored: This project holds 1\.\d MB; its quota is 1\.0 MB\./);
  expect(calls).toBeLessThan(5);
  const { runs } = await held(admin);
  expect(runs).toBeGreaterThan(1_000_000);
  expect(runs).toBeLessThan(2_000_000);
});

test("executions from before bytes were counted are measured", async () => {
  const admin = await database.newAdmin();
  const execution_id = await startStoredRun(admin, flow(), "x".repeat(100));
  await claimAndExecute(storedServices(), execution_id, 60);
  await db().execution.update({ where: { id: execution_id }, data: { bytes: 0 } });
  await measureProjects();
  const { bytes } = await db().execution.findUniqueOrThrow({ where: { id: execution_id }, select: { bytes: true } });
  expect(Number(bytes)).toBeGreaterThan(1000);
  expect((await held(admin)).runs).toBe(Number(bytes));
});
