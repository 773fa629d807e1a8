import { beforeEach, expect, test } from "vitest";
import type { NodeStatus } from "#prisma/generated/client.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { getExecutionView } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { getLoopItems } from "#server/runs/use-cases/get-loop-items.ts";
import { getLoopTimes } from "#server/runs/use-cases/get-loop-times.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let execution_id: string;

const node = (id: string, type: string, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });
const loop = (id: string) => node(id, "loopNode", { items_expression: "[1]" });
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});

beforeEach(async () => {
  admin = await database.newAdmin();
  const nodes = [node("t", "triggerNode"), loop("outer"), loop("inner"), node("o", "outputNode"), loop("beside"), node("p", "outputNode")];
  const edges = [
    edge("t", "outer"),
    edge("outer", "inner", "body"),
    edge("inner", "o", "body"),
    edge("t", "beside"),
    edge("beside", "p", "body"),
  ];
  const workflow = await createWorkflow(admin, { name: "Loops", nodes, edges });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow.id } });
  const common = { project_id: admin.project.id, workflow_id: workflow.id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  ({ execution_id } = await startExecution({ ...common, trigger: "manual", input: "x", params: null }));
});

const row = (node_id: string, iteration: string, status: NodeStatus, fields: { handle?: string; items?: number } = {}) => ({
  execution_id,
  node_id,
  iteration,
  status,
  ...fields,
});
const item = (loop_id: string, iteration: string, status: NodeStatus) => row(loop_id, iteration, status, { handle: "item" });
const nothing = { complete: 0, failed: 0, skipped: 0, running: 0, waiting: 0, first_failed: null };

test("each item stands for itself; what another loop does with the same number does not count", async () => {
  await db().nodeRun.createMany({
    data: [
      row("outer", "", "running", { items: 5 }),
      item("outer", "0", "complete"),
      item("outer", "1", "failed"),
      row("inner", "2", "running", { items: 2 }),
      row("o", "2.0", "running"),
      row("o", "2.1", "complete"),
      item("inner", "2.1", "complete"),
      row("beside", "", "running", { items: 9 }),
      row("p", "4", "running"),
    ],
  });
  const outer = await getLoopItems(admin, { execution_id, node_id: "outer", iteration: "" });
  expect(outer).toEqual({
    total: 5,
    per_cell: 1,
    cells: [{ ...nothing, complete: 1 }, { ...nothing, failed: 1, first_failed: 1 }, { ...nothing, running: 1 }, nothing, nothing],
  });
  const inner = await getLoopItems(admin, { execution_id, node_id: "inner", iteration: "2" });
  expect(inner.cells).toEqual([
    { ...nothing, running: 1 },
    { ...nothing, complete: 1 },
  ]);
  await expect(getLoopItems(admin, { execution_id, node_id: "inner", iteration: "3" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const stranger = await database.newAdmin();
  await expect(getLoopItems(stranger, { execution_id, node_id: "outer", iteration: "" })).rejects.toMatchObject({ code: "NOT_FOUND" });

  const logs = async (filter: { node_id?: string; iteration?: string }) =>
    (await getExecutionLogs(admin, { execution_id, ...filter })).items.map(({ node_id, iteration }) =>
      `${node_id} ${iteration ?? ""}`.trim(),
    );
  expect((await logs({ iteration: "" })).sort()).toEqual(["beside", "outer"]);
  expect((await logs({ node_id: "o" })).sort()).toEqual(["o 2.0", "o 2.1"]);
  expect(await logs({ node_id: "o", iteration: "2.1" })).toEqual(["o 2.1"]);
});

test("a long loop has 200 cells, each of several items", async () => {
  await db().nodeRun.createMany({
    data: [
      row("outer", "", "complete", { items: 1001 }),
      ...Array.from({ length: 1001 }, (_, index) => item("outer", String(index), index === 13 || index === 14 ? "failed" : "complete")),
    ],
  });
  const { per_cell, cells } = await getLoopItems(admin, { execution_id, node_id: "outer", iteration: "" });
  expect([per_cell, cells.length]).toEqual([6, 167]);
  expect(cells[2]).toEqual({ ...nothing, complete: 4, failed: 2, first_failed: 13 });
  expect(cells.reduce((sum, cell) => sum + cell.complete + cell.failed, 0)).toBe(1001);
});

test("what a node inside loops took is told for all its items together, up to the last event", async () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 8, 0, second));
  const done = (node_id: string, iteration: string, second: number, fields = {}) => ({
    ...row(node_id, iteration, "complete"),
    ...{ duration_ms: 100, input_tokens: 3, output_tokens: 2, completed_at: at(second), ...fields },
  });
  await db().nodeRun.createMany({
    data: [
      done("t", "", 0),
      row("outer", "", "running", { items: 3 }),
      { ...item("outer", "0", "complete"), completed_at: at(1) },
      done("p", "0", 1, { status: "failed", attempt: 1, input_tokens: 1, output_tokens: 0 }),
      done("p", "0", 2, { attempt: 2 }),
      done("p", "1", 3),
      done("p", "2", 9),
      row("p", "3", "running"),
    ],
  });
  const timestamp = at(3).toISOString();
  await db().executionEvent.create({ data: { execution_id, seq: 5, type: "node_complete", node_id: "p", data: { timestamp } } });
  await db().execution.update({ where: { id: execution_id }, data: { status: "running", last_seq: 5 } });
  const sums = async () => (await getExecutionView(admin, { execution_id })).item_sums;
  expect(await sums()).toEqual({ p: { count: 2, duration_ms: 300, input_tokens: 7, output_tokens: 4 } });
  await db().execution.update({ where: { id: execution_id }, data: { status: "completed" } });
  expect(await sums()).toEqual({ p: { count: 3, duration_ms: 400, input_tokens: 10, output_tokens: 6 } });
  // Where the latest items went another way, the last that came there is told.
  await db().nodeRun.deleteMany({ where: { execution_id, node_id: "p", iteration: "3" } });
  await db().nodeRun.createMany({ data: [row("p", "10", "skipped"), done("p", "9", 10), done("p", "1", 9, { attempt: 2 })] });
  const last = { iteration: "9", status: "complete", attempt: 1, started_at: null, duration_ms: 100 };
  expect((await sums()).p).toMatchObject({ count: 4, last });
});

test("the timeline is told when items and the nodes in them worked, a hundred at a time, of that loop alone", async () => {
  const at = (second: number) => ({ started_at: new Date(Date.UTC(2026, 10, 1, 0, 0, second)), duration_ms: 500 });
  const items = Array.from({ length: 150 }, (_, index) => [
    { ...item("beside", String(index), "complete"), ...at(index % 60) },
    { ...row("p", String(index), "complete"), ...at(index % 60) },
  ]).flat();
  await db().nodeRun.createMany({
    data: [
      row("beside", "", "running", { items: 151 }),
      ...items,
      { ...row("p", "150", "running"), ...at(59), duration_ms: null },
      row("outer", "", "running", { items: 1 }),
      { ...row("inner", "0", "running", { items: 1 }), ...at(1) },
      { ...row("o", "0.0", "complete"), ...at(2) },
    ],
  });
  const times = (node_id: string, from = 0, iteration = "") => getLoopTimes(admin, { execution_id, node_id, iteration, from });
  const first = await times("beside");
  expect([first.total, first.items.length, first.next_from]).toEqual([151, 100, 100]);
  expect(first.items[3]).toMatchObject({
    ...{ index: 3, status: "complete", duration_ms: 500, started_at: "2026-11-01T00:00:03.000Z" },
    nodes: [{ node_id: "p", status: "complete" }],
  });
  const last = await times("beside", 100);
  expect([last.items.length, last.next_from]).toEqual([51, null]);
  expect(last.items.at(-1)).toMatchObject({ index: 150, status: "running", duration_ms: null, nodes: [{ node_id: "p" }] });
  expect((await times("outer")).items).toMatchObject([{ index: 0, status: "running", nodes: [{ node_id: "inner" }] }]);
  expect((await times("inner", 0, "0")).items).toMatchObject([{ index: 0, nodes: [{ node_id: "o" }] }]);
  const other = await database.newAdmin();
  await expect(getLoopTimes(other, { execution_id, node_id: "beside", iteration: "", from: 0 })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});
