import { afterEach, expect, test } from "vitest";
import { listNotifications, markRead } from "#server/features/notifications/service.ts";
import { fireDueSchedules } from "#server/features/schedules/fire-due-schedules.ts";
import { getEditorState, saveDraft } from "#server/features/workflows/draft.ts";
import { createWorkflow, deleteWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { setSchedule } from "#server/features/workflows/set-schedule.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { isTerminalEvent } from "#server/runs/event-schema.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { addMember } from "#server/testing/add-member.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(async () => {
  setSettings({ EXECUTIONS_PER_HOUR: "100" });
  await db().schedule.updateMany({ data: { active: false } });
});

const position = { x: 0, y: 0 };
const schedule = (data = {}) => ({
  id: "t",
  type: "triggerNode",
  position,
  data: { label: "Start", kind: "schedule", cron_expression: "0 9 * * *", default_input: "good morning", ...data },
});
const newWorkflow = (admin: ProjectPrincipal, data = {}, others: object[] = []) =>
  createWorkflow(admin, { name: "Daily", nodes: [schedule(data), ...others] as never, edges: [] });
const rowOf = (workflow_id: string) => db().schedule.findUnique({ where: { workflow_id } });
const dueSince = (workflow_id: string, next_fire_at: Date) => db().schedule.update({ where: { workflow_id }, data: { next_fire_at } });
const runsOf = (workflow_id: string) =>
  db().execution.findMany({ where: { workflow_id }, include: { values: true }, orderBy: { id: "asc" } });

test("a save registers the schedule, and both switches silence it", async () => {
  const admin = await database.newAdmin();
  const { id, schedule: view } = await newWorkflow(admin, { timezone: "Asia/Tokyo" });
  expect(view).toMatchObject({ enabled: true, cron_expression: "0 9 * * *", timezone: "Asia/Tokyo", default_input: "good morning" });
  expect(view?.next_fires).toHaveLength(5);
  expect(view?.next_fires.every((time) => time.endsWith("T00:00:00.000Z"))).toBe(true);
  expect(await rowOf(id)).toMatchObject({ active: true, next_fire_at: new Date(view?.next_fires[0] ?? "") });

  const off = await updateWorkflow(admin, { workflow_id: id, enabled: false });
  expect(off.schedule).toMatchObject({ enabled: true, next_fires: [] });
  expect(await rowOf(id)).toMatchObject({ active: false, next_fire_at: null });
  await updateWorkflow(admin, { workflow_id: id, enabled: true });
  expect(await rowOf(id)).toMatchObject({ active: true });

  const toggled = await setSchedule(admin, { workflow_id: id, enabled: false });
  expect(toggled).toMatchObject({ version: 4, schedule: { enabled: false, next_fires: [] } });
  expect(toggled.nodes[0]?.data).toMatchObject({ active: false, cron_expression: "0 9 * * *" });
  expect(await rowOf(id)).toMatchObject({ active: false, next_fire_at: null });

  await updateWorkflow(admin, { workflow_id: id, nodes: [{ ...schedule(), data: { kind: "manual" } }] });
  expect(await rowOf(id)).toBeNull();
  const other = await newWorkflow(admin);
  await deleteWorkflow(admin, { workflow_id: other.id });
  expect(await rowOf(other.id)).toBeNull();
});

test("times that cannot be kept are refused at save, and leave what was there", async () => {
  const admin = await database.newAdmin();
  const refused = (data: object) => expect(newWorkflow(admin, data)).rejects;
  await refused({ cron_expression: "* * * * *" }).toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [{ path: "nodes.0.data.cron_expression", message: expect.stringContaining("every 5 minutes") }],
  });
  await refused({ cron_expression: "soon" }).toMatchObject({ code: "VALIDATION_ERROR" });
  await refused({ timezone: "Mars/Olympus" }).toMatchObject({ errors: [{ path: "nodes.0.data.timezone" }] });
  const { id } = await newWorkflow(admin);
  await expect(setSchedule(admin, { workflow_id: id, enabled: true, cron_expression: "*/2 * * * *" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
  expect(await rowOf(id)).toMatchObject({ cron_expression: "0 9 * * *" });
});

test("without an expression yet it is saved with a problem and registers nothing", async () => {
  const { id, problems, schedule: view } = await newWorkflow(await database.newAdmin(), { cron_expression: "" });
  expect(problems).toMatchObject([{ node_id: "t", field: "cron_expression" }]);
  expect(view).toMatchObject({ cron_expression: "", next_fires: [] });
  expect(await rowOf(id)).toBeNull();
});

test("setting a schedule keeps a draft that is ahead, and is refused for another kind of trigger", async () => {
  const admin = await database.newAdmin();
  const { id } = await newWorkflow(admin);
  const note = { id: "n", type: "noteNode", position, data: { content: "not saved yet" } };
  await saveDraft(admin, { workflow_id: id, nodes: [schedule({ default_input: "draft" }), note], edges: [], revision: 1 });
  await setSchedule(admin, { workflow_id: id, enabled: true, cron_expression: "30 6 * * *", timezone: "Europe/Berlin" });
  const { draft, workflow, is_draft_ahead } = await getEditorState(admin, { workflow_id: id });
  expect(is_draft_ahead).toBe(true);
  expect(workflow.nodes).toHaveLength(1);
  expect(draft.nodes).toMatchObject([
    { data: { cron_expression: "30 6 * * *", timezone: "Europe/Berlin", default_input: "draft" } },
    { id: "n" },
  ]);

  const manual = await createWorkflow(admin, { name: "By hand" });
  await expect(setSchedule(admin, { workflow_id: manual.id, enabled: true })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  const stranger = await database.newAdmin();
  await expect(setSchedule(stranger, { workflow_id: id, enabled: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a draft tells what a save would refuse", async () => {
  const admin = await database.newAdmin();
  const { id } = await newWorkflow(admin);
  const draft = await saveDraft(admin, { workflow_id: id, nodes: [schedule({ cron_expression: "*/2 * * * *" })], edges: [], revision: 1 });
  expect(draft.problems).toMatchObject([{ node_id: "t", field: "cron_expression", message: expect.stringContaining("every 5 minutes") }]);
});

test("each fire happens once, however many processes look; missed ones are made up for by one", async () => {
  const admin = await database.newAdmin();
  const flows = await Promise.all(Array.from({ length: 5 }, () => newWorkflow(admin)));
  const due = new Date("2026-11-18T09:00:00Z");
  for (const { id } of flows) await dueSince(id, due);
  const now = new Date("2026-11-21T10:00:00Z");
  const counts = await Promise.all(Array.from({ length: 6 }, () => fireDueSchedules(now)));
  expect(counts.reduce((sum, count) => sum + count)).toBe(5);
  for (const { id } of flows) {
    expect(await runsOf(id)).toMatchObject([
      { status: "pending", trigger: "schedule", due_at: due, started_by_id: null, workflow_version: 1, values: { input: "good morning" } },
    ]);
    expect(await rowOf(id)).toMatchObject({ last_fire_at: due, next_fire_at: new Date("2026-11-22T09:00:00Z") });
  }
  expect(await fireDueSchedules(now)).toBe(0);
});

test("a schedule whose workflow runs another one fires", async () => {
  const admin = await database.newAdmin();
  const child = await createWorkflow(admin, { name: "Child", nodes: [{ id: "t", type: "triggerNode", position, data: {} }], edges: [] });
  const { id } = await newWorkflow(admin, {}, [
    { id: "w", type: "workflowNode", position, data: { label: "Child", workflow_id: child.id } },
  ]);
  await dueSince(id, new Date(Date.now() - 1000));

  expect(await fireDueSchedules()).toBe(1);

  expect(await runsOf(id)).toMatchObject([{ status: "pending", error: null }]);
});

test("members are told of a schedule that came too late, once a workflow, and of none that was on time", async () => {
  const admin = await database.newAdmin();
  const member = await database.newAdmin();
  await addMember(admin, member.user, "viewer");
  const { id } = await newWorkflow(admin);
  const told = async (who = admin) => (await listNotifications({ ...who, project: admin.project }, { page: 1, per_page: 50 })).items;
  const fireAt = async (due: string, now: string) => {
    await dueSince(id, new Date(due));
    expect(await fireDueSchedules(new Date(now))).toBe(1);
  };
  await fireAt("2026-11-17T09:00:00Z", "2026-11-17T09:01:00Z");
  expect(await told()).toEqual([]);
  await fireAt("2026-11-18T09:00:00Z", "2026-11-18T09:20:00Z");
  const link = `/runs?workflow=${id}`;
  const late = { kind: "schedule_missed", link, title: "Daily was due at 2026-11-18 09:00 UTC, and is late" };
  expect(await told()).toMatchObject([late]);
  expect(await told(member)).toMatchObject([late]);
  await markRead(admin, {});
  await fireAt("2026-11-19T09:00:00Z", "2026-11-21T10:00:00Z");
  expect(await told()).toMatchObject([
    {
      kind: "schedule_missed",
      read_at: null,
      title: "Daily missed runs: it was due since 2026-11-19 09:00 UTC, and one is made up for now",
    },
  ]);
});

test("a fire that was started before the process died is not started again", async () => {
  const { id } = await newWorkflow(await database.newAdmin());
  const due = new Date("2026-11-18T09:00:00Z");
  for (let times = 0; times < 2; times++) {
    await dueSince(id, due);
    expect(await fireDueSchedules(new Date("2026-11-18T09:00:30Z"))).toBe(1);
  }
  expect(await runsOf(id)).toHaveLength(1);
});

test("what is off, disabled or deleted does not fire", async () => {
  const admin = await database.newAdmin();
  const [off, disabled, deleted] = await Promise.all([newWorkflow(admin), newWorkflow(admin), newWorkflow(admin)]);
  await setSchedule(admin, { workflow_id: off.id, enabled: false });
  await updateWorkflow(admin, { workflow_id: disabled.id, enabled: false });
  for (const { id } of [off, disabled, deleted]) await dueSince(id, new Date(Date.now() - 1000));
  await deleteWorkflow(admin, { workflow_id: deleted.id });
  expect(await fireDueSchedules()).toBe(0);
  expect(await db().execution.count({ where: { project_id: admin.project.id } })).toBe(0);
});

test("a fire that the hour or a problem forbids leaves a failed execution with the reason and the end of its stream", async () => {
  setSettings({ EXECUTIONS_PER_HOUR: "1" });
  const admin = await database.newAdmin();
  const broken = await newWorkflow(admin, {}, [{ id: "a", type: "agentNode", position, data: { label: "Nobody" } }]);
  const [first, second] = [await newWorkflow(admin), await newWorkflow(admin)];
  const due = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  for (const [index, { id }] of [broken, first, second].entries()) await dueSince(id, due(10 - index));
  expect(await fireDueSchedules()).toBe(3);
  expect(await runsOf(first.id)).toMatchObject([{ status: "pending" }]);
  expect(await runsOf(broken.id)).toMatchObject([{ status: "failed", error: "The workflow cannot run yet: Choose an agent." }]);
  const [refused] = await runsOf(second.id);
  expect(refused).toMatchObject({ status: "failed", error: expect.stringContaining("1 executions within an hour"), run_at: null });
  const execution = await getExecution(admin, { execution_id: refused?.id ?? "" });
  expect(execution).toMatchObject({
    trigger: "schedule",
    input: "good morning",
    started_by: null,
    node_results: { t: { status: "skipped" } },
  });
  const events = await db().executionEvent.findMany({ where: { execution_id: execution.id } });
  expect(events.map(({ type }) => isTerminalEvent(type))).toEqual([true]);
});

test("a save that leaves the times alone does not pass over a fire that is due", async () => {
  const admin = await database.newAdmin();
  const { id } = await newWorkflow(admin);
  const due = new Date(Date.now() - 1000);
  await dueSince(id, due);
  await updateWorkflow(admin, { workflow_id: id, name: "Renamed" });
  expect(await rowOf(id)).toMatchObject({ next_fire_at: due });
  await setSchedule(admin, { workflow_id: id, enabled: true, cron_expression: "0 10 * * *" });
  expect((await rowOf(id))?.next_fire_at?.getTime()).toBeGreaterThan(Date.now());
});
