import { expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { executeDue } from "#server/jobs/run-workflow.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { startRunWorker } from "#server/runs/worker/run-worker.ts";
import { missTicks, startTestJobs } from "#server/testing/jobs.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("each minute what is due is fired, and the run ends with the schedule's input", async () => {
  const admin = await database.newAdmin();
  const data = { label: "Start", kind: "schedule", cron_expression: "0 9 * * *", default_input: "good morning" };
  const { id } = await createWorkflow(admin, {
    name: "Daily",
    nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data }],
    edges: [],
  });
  const stopRuns = await startRunWorker(pool(), engineServices, executeDue);
  await (await startTestJobs()).stop(1000); // the clock's jobs are known from now on
  const due_at = new Date(Date.now() - 1000);
  await db().schedule.update({ where: { workflow_id: id }, data: { next_fire_at: due_at } });
  await missTicks();
  const worker = await startTestJobs();
  try {
    const run = await until(() => db().execution.findFirst({ where: { workflow_id: id, status: "completed" }, include: { values: true } }));
    expect(run).toMatchObject({ trigger: "schedule", due_at, values: { output: "good morning" } });
    expect(await db().execution.count({ where: { workflow_id: id } })).toBe(1);
  } finally {
    await Promise.all([stopRuns(1000), worker.stop(1000)]);
  }
});
