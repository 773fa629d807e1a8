import { afterEach, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { getHourlyUse } from "#server/features/projects/limits.ts";
import { getProject, updateProject } from "#server/features/projects/service.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ EXECUTIONS_PER_HOUR: "100", EXECUTIONS_PER_HOUR_MAX: "0" }));

/** The same person by an API key. */
const byKey = (admin: ProjectPrincipal): ProjectPrincipal => ({
  ...admin,
  auth: { type: "platform_key", key_id: admin.project.id, scopes: ["read", "run", "write"], project_ids: null, expires_at: null },
});

test("once the hour is used up nothing starts a run, and nothing is written of it", async () => {
  const admin = await database.newAdmin();
  const save = async (name: string, data: object = {}) =>
    (await createWorkflow(admin, { name, ...graphOf({ nodes: { t: ["triggerNode", { ...data }], o: ["outputNode"] }, edges: ["t>o"] }) }))
      .id;
  const manual = await save("Manual");
  const first = await executeWorkflow(admin, { workflow_id: manual, input: "one" });
  await db().execution.update({ where: { id: first.execution_id }, data: { status: "completed", completed_at: new Date() } });
  setSettings({ EXECUTIONS_PER_HOUR: "1" });
  const written = async () => [await db().execution.count(), await db().nodeRun.count(), await db().auditEntry.count()];
  const before = await written();
  for (const start of [
    () => executeWorkflow(admin, { workflow_id: manual, input: "two" }),
    () => runDraft(byKey(admin), { workflow_id: manual, input: "two" }),
    () => rerunExecution(byKey(admin), { execution_id: first.execution_id, use_current: false }),
    () => rerunExecution(byKey(admin), { execution_id: first.execution_id, from_node_id: "o", use_current: false }),
  ]) {
    await expect(start()).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retryAfter: expect.any(Number) });
    expect(await written()).toEqual(before);
  }
});

test("a person's drafts and reruns start when the hour is used up, and use none of it", async () => {
  const admin = await database.newAdmin();
  const graph = graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode"] }, edges: ["t>o"] });
  const { id: workflow_id } = await createWorkflow(admin, { name: "Flow", ...graph });
  setSettings({ EXECUTIONS_PER_HOUR: "2" });
  const used = async () => (await getHourlyUse(admin, { project_id: admin.project.id })).used;
  for (let count = 0; count < 3; count++) await runDraft(admin, { workflow_id, input: "draft" });
  expect(await used()).toBe(0);
  const { execution_id } = await executeWorkflow(admin, { workflow_id, input: "one" });
  await db().execution.update({ where: { id: execution_id }, data: { status: "completed", completed_at: new Date() } });
  await rerunExecution(byKey(admin), { execution_id, use_current: false });
  expect(await used()).toBe(2);
  await expect(executeWorkflow(admin, { workflow_id, input: "three" })).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  await runDraft(admin, { workflow_id, input: "draft" });
  await rerunExecution(admin, { execution_id, use_current: false });
  await rerunExecution(admin, { execution_id, from_node_id: "o", use_current: false });
  expect(await used()).toBe(2);
});

test("a project sets its own limit, up to the install's cap", async () => {
  const admin = await database.newAdmin();
  const { id: project_id } = admin.project;
  const { id: workflow_id } = await createWorkflow(admin, {
    name: "Flow",
    ...graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode"] }, edges: ["t>o"] }),
  });
  const start = () => executeWorkflow(admin, { workflow_id, input: "one" });
  const set = (executions_per_hour: number | null) => updateProject(admin, { project_id, executions_per_hour });
  const hour = () => getHourlyUse(admin, { project_id });
  const refused = (limit: number) => ({ code: "RATE_LIMIT_EXCEEDED", message: expect.stringContaining(`has started ${limit} executions`) });

  expect(await hour()).toEqual({ limit: 100, used: 0, next_at: null, preset: 100, most: null });
  await expect(set(1)).resolves.toMatchObject({ executions_per_hour: 1 });
  await start();
  await expect(start()).rejects.toMatchObject(refused(1));
  expect(await hour()).toMatchObject({ limit: 1, used: 1, next_at: expect.any(String) });
  await set(3);
  await start();
  await expect(getProject(admin, { project_id })).resolves.toMatchObject({ executions_per_hour: 3 });

  // The install's cap holds for what was set before it, and for the install's own figure.
  setSettings({ EXECUTIONS_PER_HOUR_MAX: "2" });
  await expect(start()).rejects.toMatchObject(refused(2));
  const errors = [{ path: "executions_per_hour", message: expect.stringContaining("at most 2") }];
  await expect(set(3)).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors });
  await set(null);
  expect(await hour()).toMatchObject({ limit: 2, preset: 100, most: 2 });
  setSettings({ EXECUTIONS_PER_HOUR: "0" });
  await expect(start()).rejects.toMatchObject(refused(2));

  // Off for the install, and still a project's own.
  setSettings({ EXECUTIONS_PER_HOUR_MAX: "0" });
  await start();
  expect(await hour()).toMatchObject({ limit: null });
  await set(3);
  await expect(start()).rejects.toMatchObject(refused(3));
  const viewer = { ...admin, user: { ...admin.user, id: (await database.newAdmin()).user.id } };
  await db().membership.create({ data: { project_id, user_id: viewer.user.id, role: "editor" } });
  await expect(updateProject(viewer, { project_id, executions_per_hour: 9 })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(getHourlyUse(viewer, { project_id })).resolves.toMatchObject({ used: 3 });
});
