import { beforeAll, expect, test } from "vitest";
import { updateProject } from "#server/features/projects/service.ts";
import { failureSweep, startErrorWorkflow } from "#server/features/workflows/error-workflow.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow, deleteWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { newWorkflow } from "#server/testing/new-workflow.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  collectEvents();
});

const failing = (more: object = {}) =>
  newWorkflow(admin, { t: ["triggerNode"], x: ["codeNode", { code: "1 / 0", timeout: 5 }], o: ["outputNode"] }, ["t>x", "x>o"], more);
const listener = (more: object = {}) =>
  newWorkflow(
    admin,
    { t: ["triggerNode"], o: ["outputNode", { value: "{{trigger.output.failed_node.label}}: {{trigger.output.error}}" }] },
    ["t>o"],
    more,
  );

/** Runs a workflow once, as the service does. @returns the run's id */
async function run(workflow_id: string): Promise<string> {
  const { execution_id } = await executeWorkflow(admin, { workflow_id });
  await carry(execution_id);
  return execution_id;
}
async function carry(id: string): Promise<void> {
  const failed: string[] = [];
  await claimAndExecute(storedServices({ runFailed: (one) => void failed.push(one) }), id, 60);
  for (const one of failed) await startErrorWorkflow(one);
}
const startedBy = (workflow_id: string) =>
  db().execution.findMany({
    where: { workflow_id, trigger: "error" },
    orderBy: { created_at: "asc" },
    select: { id: true, is_counted: true },
  });

test("a failed run starts the error workflow of its own workflow, once, with what has happened; that one starts none", async () => {
  const workflow_id = await listener();
  const watched = await failing({ error_workflow_id: workflow_id });
  // It would go round.
  await updateWorkflow(admin, { workflow_id, error_workflow_id: watched });
  const id = await run(watched);
  await Promise.all([startErrorWorkflow(id), startErrorWorkflow(id), sweep(failureSweep)]);
  const [started, ...more] = await startedBy(workflow_id);
  expect([more, started?.is_counted]).toEqual([[], false]);
  expect(started?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  await carry(started?.id ?? "");
  const error = await getExecution(admin, { execution_id: started?.id ?? "" });
  const { name } = await getWorkflow(admin, { workflow_id: watched });
  expect(error).toMatchObject({ status: "completed", trigger: "error", output: "x: x: Line 1: ZeroDivisionError: division by zero." });
  expect(JSON.parse(error.input)).toEqual({
    execution_id: id,
    workflow: { id: watched, name },
    failed_node: { id: "x", label: "x" },
    error: "x: Line 1: ZeroDivisionError: division by zero.",
    url: expect.stringMatching(new RegExp(`^http.*/runs/${id}$`)),
  });
  // One that fails itself.
  const broken = await failing();
  await updateWorkflow(admin, { workflow_id: watched, error_workflow_id: broken });
  await updateWorkflow(admin, { workflow_id: broken, error_workflow_id: workflow_id });
  await run(watched);
  const [second] = await startedBy(broken);
  await carry(second?.id ?? "");
  expect(await startedBy(workflow_id)).toHaveLength(1);
});

test("the project's counts where the workflow names none; a good run, a draft and an older failure start nothing", async () => {
  const workflow_id = await listener();
  const watched = await failing();
  await run(watched);
  await updateProject(admin, { project_id: admin.project.id, error_workflow_id: workflow_id });
  await pool().query("UPDATE executions SET completed_at = completed_at - interval '1 minute' WHERE workflow_id = $1", [watched]);
  await sweep(failureSweep);
  await run(await newWorkflow(admin, { t: ["triggerNode"], o: ["outputNode"] }, ["t>o"]));
  expect(await startedBy(workflow_id)).toEqual([]);
  const id = await run(watched);
  expect(await startedBy(workflow_id)).toHaveLength(1);
  await pool().query("UPDATE executions SET workflow_version = NULL WHERE id = $1", [id]);
  await db().execution.deleteMany({ where: { workflow_id } });
  await startErrorWorkflow(id);
  expect(await startedBy(workflow_id)).toEqual([]);
  await updateProject(admin, { project_id: admin.project.id, error_workflow_id: null });
});

test("what a process that died has not started, the sweep starts", async () => {
  const workflow_id = await listener();
  const watched = await failing({ error_workflow_id: workflow_id });
  await pool().query("UPDATE workflows SET error_workflow_since = now() - interval '1 hour' WHERE id = $1", [watched]);
  const { execution_id } = await executeWorkflow(admin, { workflow_id: watched });
  await claimAndExecute(storedServices(), execution_id, 60);
  await pool().query("UPDATE executions SET completed_at = now() - interval '1 minute' WHERE id = $1", [execution_id]);
  await Promise.all([sweep(failureSweep), sweep(failureSweep)]);
  await sweep(failureSweep);
  expect(await startedBy(workflow_id)).toHaveLength(1);
});

test("only a workflow of the project can be one, none its own, and it is not deleted while it is", async () => {
  const workflow_id = await listener();
  const watched = await failing({ error_workflow_id: workflow_id });
  expect((await getWorkflow(admin, { workflow_id: watched })).error_workflow_id).toBe(workflow_id);
  const { name } = await getWorkflow(admin, { workflow_id: watched });
  await expect(deleteWorkflow(admin, { workflow_id })).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining(name) });
  const foreign = await database.newAdmin();
  const theirs = (await createWorkflow(foreign, { name: "Theirs" })).id;
  for (const wrong of [theirs, "no id", watched])
    await expect(updateWorkflow(admin, { workflow_id: watched, error_workflow_id: wrong }), wrong).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  const project_id = admin.project.id;
  await expect(updateProject(admin, { project_id, error_workflow_id: theirs })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await updateWorkflow(admin, { workflow_id: watched, error_workflow_id: null });
  await updateProject(admin, { project_id, error_workflow_id: workflow_id });
  await expect(deleteWorkflow(admin, { workflow_id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("the project"),
  });
  expect((await updateProject(admin, { project_id, error_workflow_id: null })).error_workflow_id).toBeNull();
  await deleteWorkflow(admin, { workflow_id });
});
