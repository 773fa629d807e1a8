import { beforeAll, expect, test } from "vitest";
import { createWorkflow, deleteWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, inTransaction, pool } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { createExecution } from "#server/runs/store/create.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { listExecutions } from "#server/runs/use-cases/list-executions.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { newPausedRun, openReview } from "#server/testing/reviews.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
});

test("deleting a workflow cancels its runs with the runs that these started", async () => {
  const paused = await newPausedRun(admin, "Deleted");
  await openReview(paused, "a");
  const { workflow_id } = await db().execution.findUniqueOrThrow({ where: { id: paused } });
  const child = await startStoredRun(admin, graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode"] }, edges: ["t>o"] }));
  await db().execution.update({ where: { id: child }, data: { parent_id: paused } });

  await deleteWorkflow(admin, { workflow_id });

  expect(await getExecution(admin, { execution_id: paused })).toMatchObject({ status: "cancelled", workflow_name: "Deleted" });
  expect((await getExecution(admin, { execution_id: child })).status).toBe("cancelled");
  expect(await db().wait.count({ where: { execution_id: paused, status: "waiting" } })).toBe(0);
  const { items } = await listExecutions(admin, { page: 1, per_page: 50, workflow_id });
  expect(items).toMatchObject([{ id: paused, workflow_name: "Deleted", status: "cancelled" }]);
});

test("a deletion that is refused cancels nothing", async () => {
  const paused = await newPausedRun(admin, "Used");
  const { workflow_id } = await db().execution.findUniqueOrThrow({ where: { id: paused } });
  await createWorkflow(admin, { name: "User", error_workflow_id: workflow_id });

  await expect(deleteWorkflow(admin, { workflow_id })).rejects.toMatchObject({ code: "CONFLICT" });

  expect((await getExecution(admin, { execution_id: paused })).status).toBe("paused");
});

/** A workflow as a request has read it that is about to start a run. */
async function readWorkflow() {
  const { id: workflow_id } = await createWorkflow(admin, { name: "Read" });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const common = { project_id: admin.project.id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  return { ...common, workflow_id, trigger: "manual", input: "", params: null } as const;
}

test("a request that has read a workflow before its deletion starts no run", async () => {
  const run = await readWorkflow();
  await deleteWorkflow(admin, { workflow_id: run.workflow_id });

  await expect(startExecution(run)).rejects.toMatchObject({ code: "NOT_FOUND" });

  expect(await db().execution.count({ where: { workflow_id: run.workflow_id } })).toBe(0);
});

/** Resolves when a statement on workflows waits for a lock. */
async function deletionWaits(): Promise<void> {
  const text = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE '%FROM workflows%FOR UPDATE%'";
  await expect.poll(async () => (await pool().query(text)).rowCount, { timeout: 10_000 }).toBe(1);
}

test("a deletion waits for a run that is being written, then cancels it", async () => {
  const run = await readWorkflow();
  let deleting: Promise<void> | undefined;

  const started = await inTransaction(async (client) => {
    const written = await createExecution(run, { on: client });
    deleting = asOtherCaller(() => deleteWorkflow(admin, { workflow_id: run.workflow_id }));
    await asOtherCaller(deletionWaits);
    return written;
  });
  await deleting;

  const execution_id = started.kind === "started" ? started.execution_id : "";
  expect((await getExecution(admin, { execution_id })).status).toBe("cancelled");
});
