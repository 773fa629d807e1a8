import { expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { answerOnce } from "#server/platform/rpc/idempotency.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("a process that dies between starting a run and answering leaves one run, which the next try answers with", async () => {
  const ada = await database.newAdmin();
  const { id: workflow_id } = await createWorkflow(ada, { name: "Once" });
  const request = { user_id: ada.user.id, project_id: ada.project.id, operation: "POST /execute", key: "k", request_hash: "h" };
  const execute = async () => ({ status: 202, body: JSON.stringify(await executeWorkflow(ada, { workflow_id })) });
  const first = await answerOnce(request, execute);
  await pool().query(
    "UPDATE idempotency_keys SET status = NULL, response = NULL, held_by = 'dead', held_until = now() - interval '1 second'",
  );
  expect(await answerOnce(request, execute)).toEqual(first);
  expect(await db().execution.count()).toBe(1);
  await answerOnce({ ...request, key: "other" }, execute);
  expect(await db().execution.count()).toBe(2);
});

test("the same holds for a rerun", async () => {
  const ada = await database.newAdmin();
  const { id: workflow_id } = await createWorkflow(ada, { name: "Again" });
  const { execution_id } = await executeWorkflow(ada, { workflow_id });
  await db().execution.update({ where: { id: execution_id }, data: { status: "completed" } });
  const request = { user_id: ada.user.id, project_id: ada.project.id, operation: "POST /rerun", key: "k", request_hash: "h" };
  const rerun = async () => ({ status: 202, body: JSON.stringify(await rerunExecution(ada, { execution_id, use_current: false })) });
  const first = await answerOnce(request, rerun);
  await pool().query(
    "UPDATE idempotency_keys SET status = NULL, response = NULL, held_by = 'dead', held_until = now() - interval '1 second' WHERE project_id = $1",
    [ada.project.id],
  );
  expect(await answerOnce(request, rerun)).toEqual(first);
  expect(await db().execution.count({ where: { rerun_of_id: execution_id } })).toBe(1);
  expect(await db().auditEntry.count({ where: { project_id: ada.project.id, action: "execution.rerun" } })).toBe(1);
});
