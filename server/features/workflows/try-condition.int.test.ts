import { beforeEach, expect, test } from "vitest";
import type { NodeStatus } from "#prisma/generated/client.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { tryCondition } from "#server/features/workflows/try-condition.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let execution_id: string;

const node = (id: string, type: string, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });

beforeEach(async () => {
  admin = await database.newAdmin();
  const nodes = [node("t", "triggerNode"), node("a", "outputNode"), node("b", "branchNode", { condition: "True" })];
  const workflow = await createWorkflow(admin, { name: "Trial", nodes, edges: [{ id: "1", source: "t", target: "a" }] });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow.id } });
  const common = { project_id: admin.project.id, workflow_id: workflow.id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  ({ execution_id } = await startExecution({ ...common, trigger: "manual", input: "looms", params: null }));
  const left = async (node_id: string, status: NodeStatus, output: string | null, more: object = {}) => {
    const row = { execution_id, node_id, status, completed_at: new Date("2026-11-21T08:00:00Z"), ...more };
    const { id } = await db().nodeRun.create({ data: row });
    await db().nodeRunValues.create({ data: { node_run_id: id, output } });
  };
  await left("a", "complete", "first", { attempt: 1 });
  await left("a", "complete", "weft", { attempt: 2 });
  await left("c", "failed", null, { error: "it broke", completed_at: new Date("2026-11-21T09:00:00Z") });
  await left("l", "complete", "ninth", { iteration: "9" });
  await left("l", "complete", "tenth", { iteration: "10" });
  await left("l", "complete", "an item's", { iteration: "11", handle: "item" });
});

const outcome = (condition: string, more: Partial<Parameters<typeof tryCondition>[1]> = {}) =>
  tryCondition(admin, { condition, execution_id, before: ["a"], outputs: { Writer: ["a"], Both: ["a", "c"], Loop: ["l"] }, ...more });
const holds = { holds: true, failure: null };

test("a condition is tried on what the run left: newest attempts, latest iterations, errors of failed nodes", async () => {
  expect(await outcome('output == "weft" and trigger_output == "looms"')).toEqual(holds);
  expect(await outcome('node_outputs["Writer"] == "weft" and node_outputs["Loop"] == "tenth"')).toEqual(holds);
  expect(await outcome('node_outputs["Both"] == "it broke"')).toEqual(holds);
  expect(await outcome('output == "weft\\n\\nit broke"', { before: ["a", "c"] })).toEqual(holds);
  expect(await outcome('output == "one item"', { item: "one item" })).toEqual(holds);
  expect(await outcome('output == "pinned"', { pinned: { a: "pinned" } })).toEqual(holds);
  expect(await outcome('"x" in output')).toEqual({ holds: false, failure: null });
});

test("a condition that fails says why, and one that could take long runs apart", async () => {
  expect(await outcome('node_outputs["Nobody"] == ""')).toMatchObject({ holds: null, failure: expect.stringContaining('has "Writer"') });
  expect(await outcome("output =")).toMatchObject({ holds: null, failure: expect.stringContaining("not a Python expression") });
  expect(await outcome('re.search("w(.+)t", output)')).toEqual(holds);
});

test("a run of another project is not there", async () => {
  const stranger = await database.newAdmin();
  const input = { condition: "True", execution_id, before: [], outputs: {} };
  await expect(tryCondition(stranger, input)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(tryCondition(admin, { ...input, execution_id: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});
