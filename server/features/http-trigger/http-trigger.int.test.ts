import { expect, test } from "vitest";
import { runHttpTrigger } from "#server/features/http-trigger/service.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const LONG_MS = 30_000;

/** A synchronous call in a process where nobody carries runs: the test does what the run loop would. */
async function newCall(waitMs: number, signal = new AbortController().signal) {
  const admin = await database.newAdmin();
  const data = { label: "Start", kind: "http", response_mode: "sync" };
  const { id } = await createWorkflow(admin, {
    name: "Called",
    nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data }],
    edges: [],
  });
  const workflow = await savedWorkflow(id);
  if (!workflow) throw new Error("The workflow was saved.");
  return { id, answer: runHttpTrigger(admin, workflow, "{}", signal, waitMs) };
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
