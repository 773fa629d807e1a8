import { beforeAll, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecutionView } from "#server/runs/use-cases/get-execution.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let workflow_id: string;
beforeAll(async () => {
  admin = await database.newAdmin();
  const trigger = { kind: "webhook", payload_path: "$.n" };
  const nodes = { t: ["triggerNode", trigger], o: ["outputNode", { value: "{{trigger.output}} {{trigger.raw}}" }] } as const;
  const graph = graphOf({ nodes: nodes as never, edges: ["t>o"] });
  workflow_id = (await createWorkflow(admin, { name: "Hooked", ...graph })).id;
});

const valuesOf = async (execution_id: string) => {
  const { input, params } = await db().executionValues.findUniqueOrThrow({ where: { execution_id } });
  return { input, params };
};

/** A run of a delivery, played to its end. */
async function delivered() {
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const common = { project_id: admin.project.id, workflow_id, workflow_version: 1, snapshot_id, started_by_id: null };
  const values = { input: "7", params: { headers: { "x-id": "d-1" }, raw: '{"n":7}' } };
  const { execution_id } = await startExecution({ ...common, trigger: "webhook", ...values });
  await claimAndExecute(storedServices(), execution_id, 60);
  return execution_id;
}

test("a draft run of a webhook applies payload_path", async () => {
  const { execution_id } = await runDraft(admin, { workflow_id, input: '{"n":8}' });

  expect(await valuesOf(execution_id)).toEqual({ input: "8", params: { raw: '{"n":8}' } });
});

test("a draft run of a webhook refuses a payload without the part at payload_path", async () => {
  await expect(runDraft(admin, { workflow_id, input: "{}" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [{ path: "input" }],
  });
});

test("a rerun with another payload applies payload_path with the same headers", async () => {
  const original = await delivered();

  const { execution_id } = await rerunExecution(admin, { execution_id: original, input: '{"n":9}', use_current: false });

  expect(await valuesOf(execution_id)).toEqual({ input: "9", params: { headers: { "x-id": "d-1" }, raw: '{"n":9}' } });
});

test("a rerun of a webhook with its own values keeps them", async () => {
  const original = await delivered();

  const { execution_id } = await rerunExecution(admin, { execution_id: original, use_current: false });

  expect(await valuesOf(execution_id)).toEqual(await valuesOf(original));
});

test("the view of a webhook's run has headers and payload of the delivery", async () => {
  const execution_id = await delivered();

  const { params } = await getExecutionView(admin, { execution_id });

  expect(params).toEqual({ headers: { "x-id": "d-1" }, raw: '{"n":7}' });
});
