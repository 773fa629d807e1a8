import { beforeAll, expect, test } from "vitest";
import { CreateWorkflowInput, UpdateWorkflowInput, type Workflow } from "#server/features/workflows/schema.ts";
import { createWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
});

const flow = (trigger: Record<string, unknown> = { kind: "schedule", cron_expression: "0 9 * * *" }) =>
  graphOf({ nodes: { t: ["triggerNode", trigger], o: ["outputNode"] }, edges: ["t>o"] });
const create = (body: object = {}) => createWorkflow(admin, CreateWorkflowInput.parse({ name: "Flow", ...flow(), ...body }));
const put = ({ id: workflow_id }: Workflow, body: object) => updateWorkflow(admin, UpdateWorkflowInput.parse({ workflow_id, ...body }));
const audits = ({ id: resource_id }: Workflow) => db().auditEntry.count({ where: { resource_id } });

test.each([
  ["an empty body", () => ({})],
  ["what GET returned", ({ id: _, ...workflow }: Workflow) => workflow],
  ["the same graph alone", ({ nodes, edges }: Workflow) => ({ nodes, edges })],
])("a save of %s writes nothing", async (_, bodyOf) => {
  const workflow = await create({ description: "Daily", tags: ["a"], folder: "F" });
  const draft = await db().workflowDraft.findUniqueOrThrow({ where: { workflow_id: workflow.id } });

  expect(await put(workflow, bodyOf(workflow))).toEqual({ ...workflow, canvases_changed: { items: [], total: 0 } });

  expect(await getWorkflow(admin, { workflow_id: workflow.id })).toEqual(workflow);
  expect(await db().workflowDraft.findUnique({ where: { workflow_id: workflow.id } })).toEqual(draft);
  expect([await db().workflowVersion.count({ where: { workflow_id: workflow.id } }), await audits(workflow)]).toEqual([1, 1]);
});

test("a save of the published graph makes a draft that is ahead equal to it", async () => {
  const workflow = await create();
  await db().workflowDraft.update({ where: { workflow_id: workflow.id }, data: { graph: { nodes: [], edges: [] } } });

  const { version } = await put(workflow, { nodes: workflow.nodes, edges: workflow.edges });

  expect(version).toBe(1);
  const { graph } = await db().workflowDraft.findUniqueOrThrow({ where: { workflow_id: workflow.id } });
  expect(graph).toEqual({ nodes: workflow.nodes, edges: workflow.edges });
});

test("a schedule that differs is written to the trigger", async () => {
  const workflow = await create();

  const saved = await put(workflow, { schedule: { ...workflow.schedule, cron_expression: "30 7 * * *", timezone: "Europe/Berlin" } });

  expect(saved).toMatchObject({ version: 2, schedule: { cron_expression: "30 7 * * *", timezone: "Europe/Berlin", enabled: true } });
  expect(saved.nodes[0]?.data).toMatchObject({ cron_expression: "30 7 * * *" });
  expect(await db().schedule.findUnique({ where: { workflow_id: workflow.id } })).toMatchObject({ cron_expression: "30 7 * * *" });
});

test.each([
  ["a schedule that cannot be kept", { schedule: { cron_expression: "* * * * *" } }, "schedule.cron_expression"],
  ["an unknown time zone", { schedule: { timezone: "Mars/Base" } }, "schedule.timezone"],
  ["no schedule for a schedule trigger", { schedule: null }, "schedule"],
  ["a schedule that contradicts the nodes", { ...flow(), schedule: { cron_expression: "30 7 * * *" } }, "schedule"],
  ["a schedule beside a manual trigger in the nodes", { ...flow({ kind: "manual" }), schedule: { enabled: false } }, "schedule"],
])("a save refuses %s", async (_, body, path) => {
  const workflow = await create();

  await expect(put(workflow, body)).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path }] });

  expect((await getWorkflow(admin, { workflow_id: workflow.id })).version).toBe(1);
});

test("a trigger in the nodes wins over a schedule that is as GET returned it", async () => {
  const workflow = await create();

  const saved = await put(workflow, { ...flow({ kind: "manual" }), schedule: workflow.schedule });

  expect(saved).toMatchObject({ trigger: "manual", schedule: null });
});

test("a schedule is refused for a trigger of another kind", async () => {
  const workflow = await create(flow({ kind: "manual" }));

  await expect(put(workflow, { schedule: { enabled: true, cron_expression: "0 9 * * *" } })).rejects.toMatchObject({
    errors: [{ path: "schedule" }],
  });
});

test.each([
  [{ ...flow(), schedule: { cron_expression: "30 7 * * *" } }],
  [{ ...flow(), schedule: null }],
  [{ nodes: undefined, edges: undefined, schedule: { enabled: true } }],
])("a new workflow with a schedule that its trigger does not have is refused", async (body) => {
  await expect(create(body)).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "schedule" }] });
});
