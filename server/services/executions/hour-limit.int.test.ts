import { afterEach, expect, test } from "vitest";
import { db } from "#server/db/client.ts";
import { executeWorkflow } from "#server/services/executions/execute-workflow.ts";
import { rerunExecution } from "#server/services/executions/rerun-execution.ts";
import { runDraft } from "#server/services/executions/run-draft.ts";
import { runHttpTrigger } from "#server/services/http-trigger/run-http-trigger.ts";
import { createWorkflow } from "#server/services/workflows/create-workflow.ts";
import { savedWorkflow } from "#server/services/workflows/saved-workflow.ts";
import { publishSettings } from "#server/settings.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => publishSettings({ EXECUTIONS_PER_HOUR: "100" }));

test("once the hour is used up nothing starts a run, and nothing is written of it", async () => {
  const admin = await database.newAdmin();
  const save = async (name: string, data: object = {}) =>
    (await createWorkflow(admin, { name, ...graphOf({ nodes: { t: ["triggerNode", { ...data }], o: ["outputNode"] }, edges: ["t>o"] }) }))
      .id;
  const manual = await save("Manual");
  const first = await executeWorkflow(admin, { workflow_id: manual, input: "one" });
  await db().execution.update({ where: { id: first.execution_id }, data: { status: "completed", completed_at: new Date() } });
  publishSettings({ EXECUTIONS_PER_HOUR: "1" });
  const written = async () => [await db().execution.count(), await db().nodeRun.count(), await db().auditEntry.count()];
  const before = await written();
  const call = async (response_mode: string) => {
    const workflow = await savedWorkflow(await save(response_mode, { kind: "http", response_mode }));
    if (!workflow) throw new Error("The workflow was saved.");
    before[2] = await db().auditEntry.count(); // of the save
    return runHttpTrigger(admin, workflow, "{}", new AbortController().signal);
  };
  for (const start of [
    () => executeWorkflow(admin, { workflow_id: manual, input: "two" }),
    () => runDraft(admin, { workflow_id: manual, input: "two" }),
    () => rerunExecution(admin, { execution_id: first.execution_id, use_current: false }),
    () => rerunExecution(admin, { execution_id: first.execution_id, from_node_id: "o", use_current: false }),
    () => call("sync"),
    () => call("async"),
  ]) {
    await expect(start()).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retryAfter: expect.any(Number) });
    expect(await written()).toEqual(before);
  }
});
