import { expect, test } from "vitest";
import { runHttpTrigger } from "#server/features/http-trigger/service.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { getExecutionView } from "#server/runs/use-cases/get-execution.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const LONG_MS = 30_000;

test("the run of a call keeps the text of its body for the editor", async () => {
  const admin = await database.newAdmin();
  const data = { label: "Start", kind: "http", response_mode: "async" };
  const nodes = [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data }];
  const { id: workflow_id } = await createWorkflow(admin, { name: "Called", nodes, edges: [] });
  const workflow = await savedWorkflow(workflow_id);

  await runHttpTrigger(admin, workflow as never, "{}", { signal: new AbortController().signal, raw: "a=1" });

  const { params } = await getExecutionView(admin, { execution_id: await theRunOf(workflow_id) });
  expect(params).toEqual({ raw: "a=1" });
});

/** A synchronous call in a process where nobody carries runs: the test does what the run loop would. */
async function newCall(waitMs: number, signal = new AbortController().signal, more = {}) {
  const admin = await database.newAdmin();
  const data = { label: "Start", kind: "http", response_mode: "sync", ...more };
  const { id } = await createWorkflow(admin, {
    name: "Called",
    nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data }],
    edges: [],
  });
  const workflow = await savedWorkflow(id);
  if (!workflow) throw new Error("The workflow was saved.");
  return { id, answer: runHttpTrigger(admin, workflow, "{}", { signal, ...(waitMs !== undefined && { waitMs }) }) };
}

async function theRunOf(workflow_id: string): Promise<string> {
  for (;;) {
    const row = await db().execution.findFirst({ where: { workflow_id } });
    if (row) return row.id;
  }
}

const tell = (id: string) => pool().query("SELECT pg_notify('treadle_execution', $1)", [id]);

test("the answer is the output, as soon as the end is told", async () => {
  const { id, answer } = await newCall(LONG_MS);
  const execution_id = await theRunOf(id);
  await db().execution.update({ where: { id: execution_id }, data: { status: "running" } });
  await tell(execution_id);
  await db().execution.update({ where: { id: execution_id }, data: { status: "completed", values: { update: { output: "done" } } } });
  await tell(execution_id);
  expect(await answer).toEqual({ execution_id, status: "completed", output: "done" });
});

test("a run that pauses at a review, or goes on for too long, is answered without output", async () => {
  const paused = await newCall(LONG_MS);
  const execution_id = await theRunOf(paused.id);
  await db().execution.update({ where: { id: execution_id }, data: { status: "paused" } });
  await tell(execution_id);
  expect(await paused.answer).toEqual({ execution_id, status: "paused" });

  const slow = await newCall(50);
  expect(await slow.answer).toEqual({ execution_id: await theRunOf(slow.id), status: "pending" });
});

test("a caller that goes away ends the wait and not the run", async () => {
  const gone = new AbortController();
  const { id, answer } = await newCall(LONG_MS, gone.signal);
  const execution_id = await theRunOf(id);
  gone.abort();
  expect(await answer).toEqual({ execution_id, status: "pending" });
  expect(await db().execution.findUniqueOrThrow({ where: { id: execution_id } })).toMatchObject({ status: "pending" });
});

/** The response to a call whose run ends so. */
async function answerTo(status: "failed" | "cancelled" | "rejected", more = {}) {
  const { id, answer } = await newCall(LONG_MS, undefined, more);
  const execution_id = await theRunOf(id);
  await db().execution.update({ where: { id: execution_id }, data: { status, ...(status === "failed" && { error: "x".repeat(5000) }) } });
  await tell(execution_id);
  return { execution_id, answer: await answer };
}

test.each([
  ["failed", 502, "UPSTREAM_ERROR"],
  ["cancelled", 502, "UPSTREAM_ERROR"],
  ["rejected", 409, "CONFLICT"],
] as const)("a %s run answers %i with an error body", async (run_status, status, error_code) => {
  const { execution_id, answer } = await answerTo(run_status);

  expect(answer).toEqual({ detail: expect.stringContaining(run_status), error_code, status, execution_id, run_status });
});

test.each(["failed", "rejected"] as const)("error_status replaces the status of a %s run", async (run_status) => {
  const { answer } = await answerTo(run_status, { error_status: 200 });

  expect(answer).toMatchObject({ status: 200, run_status });
});

test("the error of a failed run is bounded in the response", async () => {
  const { answer } = await answerTo("failed");

  expect("detail" in answer && answer.detail.length).toBeLessThanOrEqual(2000);
});

test.each([199, 600, 200.5])("an error_status of %d is refused at save", async (error_status) => {
  await expect(newCall(LONG_MS, undefined, { error_status })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});
