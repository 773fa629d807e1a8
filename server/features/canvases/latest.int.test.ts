import { expect, test } from "vitest";
import type { WidgetData } from "#server/features/canvases/schema.ts";
import { createCanvas, updateCanvas } from "#server/features/canvases/service.ts";
import { updateWorkflow } from "#server/features/workflows/service.ts";
import { db } from "#server/platform/db/client.ts";
import { shownWorkflow, withOutputs } from "#server/testing/shown-workflow.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const world = (...labels: string[]) => shownWorkflow(database, ...labels);

test("each kind shows the latest completed run, and says which one that is", async () => {
  const { run, show } = await world("Report");
  expect(await show({ type: "number", options: { path: "$.total" } })).toEqual({ widget_id: "w", status: "empty" });
  await run({ Report: { total: 3 } });
  const report = {
    total: 7.5,
    text: "# Hi",
    rows: [
      { who: { name: "Ann" }, n: 1 },
      { who: { name: "Bob" }, n: null, is_new: true },
    ],
  };
  const execution_id = await run({ Report: report });
  await run({ Report: { total: 99 } }, { status: "cancelled" });
  await run({ Report: { total: 100 } }, { version: null });
  const from = { execution_id, completed_at: "2026-01-01T00:02:00.000Z" };
  const ok = { widget_id: "w", status: "ok", ...from };

  expect(await show({ type: "number", options: { path: "$.total", unit: "€" } })).toEqual({ ...ok, value: 7.5, previous: 3, unit: "€" });
  expect(await show({ type: "markdown", options: { path: "$.text" } })).toEqual({ ...ok, text: "# Hi" });
  expect(await show({ type: "text", output_label: null })).toEqual({ ...ok, text: JSON.stringify(report) });
  expect(await show({ type: "table", options: { path: "$.rows" } })).toEqual({
    ...ok,
    columns: ["who", "n"],
    rows: [
      { cells: ['{"name":"Ann"}', 1], ...from },
      { cells: ['{"name":"Bob"}', null], ...from },
    ],
  });
  const columns = [
    { label: "Name", path: "$.who.name" },
    { label: "New", path: "$.is_new" },
  ];
  expect((await show({ type: "table", options: { path: "$.rows", columns } })).rows?.map(({ cells }) => cells)).toEqual([
    ["Ann", null],
    ["Bob", true],
  ]);
  const chart = await show({ type: "chart", options: { kind: "bar", x: "$.rows[*].who.name", y: "$.rows[*].n" } });
  expect(chart).toEqual({
    ...ok,
    series: [
      {
        name: "n",
        points: [
          { x: "Ann", y: 1, ...from },
          { x: "Bob", y: null, ...from },
        ],
      },
    ],
  });
});

test("a chart keeps names and numbers of one object together, and else goes by their order", async () => {
  const { run, show } = await world("R");
  const rows = [{ m: "a", v: 1 }, { m: "b" }, { m: "c", v: "3" }, { m: "d", v: 4 }, { v: 5 }];
  await run({ R: { rows, names: ["x", "y", "z"], values: [1, 2], big: 9007199254740993n.toString() } });
  const points = (data: WidgetData) => data.series?.[0]?.points.map(({ x, y }) => [x, y]);
  const together = await show({ type: "chart", options: { kind: "line", x: "$.rows[*].m", y: "$.rows[*].v" } });
  expect(points(together)).toEqual([
    ["a", 1],
    ["b", null],
    ["d", 4],
  ]);
  expect(together.problem).toBe("1 value is no number and left out. 1 of the names and numbers have no partner and are left out.");
  const byOrder = await show({ type: "chart", options: { kind: "line", x: "$.names", y: "$.values" } });
  expect(points(byOrder)).toEqual([
    ["x", 1],
    ["y", 2],
  ]);
});

test("what cannot be shown says why", async () => {
  const { run, show } = await world("R");
  await run({ R: { total: "12", list: [1, 2], one: [8], deep: { total: 3 } } });
  const says = async (fields: object) => {
    const { status, problem } = await show(fields);
    return `${status}: ${problem}`;
  };
  const number = (path?: string) => ({ type: "number", options: path === undefined ? {} : { path } });
  expect(await says(number("$.total"))).toContain('problem: $.total gives the text "12", which is no number');
  expect(await says(number("$.totl"))).toContain("Did you mean total?");
  expect(await says(number("$.nothing"))).toContain("It has total, list, one, deep.");
  expect(await says(number("$.list"))).toContain("a list of 2");
  expect(await show(number("$.one[*]"))).toMatchObject({ status: "ok", value: 8 });
  expect(await says(number("$..total..total"))).toContain("takes too long");
  expect(await says({ type: "chart", options: { kind: "bar", y: "$.list" } })).toContain("no path for its names");
  expect(await says({ type: "chart", options: { kind: "bar", x: "$.list", y: "$.total" } })).toContain("no numbers");
  await run({ R: "Just words" });
  expect(await says(number("$.total"))).toContain("The output is no JSON");
  expect(await show({ type: "text" })).toMatchObject({ status: "ok", text: "Just words" });
  await run({ R: "42" });
  expect(await show(number())).toMatchObject({ status: "ok", value: 42 });
});

test("what is long is cut, and says so", async () => {
  const { run, show } = await world("R");
  await run({ R: Array.from({ length: 1200 }, (_, n) => ({ n, text: "x".repeat(600) })) });
  const table = await show({ type: "table" });
  expect(table.rows).toHaveLength(500);
  expect(table.rows?.[0]?.cells).toEqual([0, `${"x".repeat(499)}…`]);
  expect(table.problem).toBe("Only the first 500 of 1,200 rows are shown.");
  const chart = await show({ type: "chart", options: { kind: "bar", x: "$[*].n", y: "$[*].n" } });
  expect(chart.series?.[0]?.points).toHaveLength(1000);
  expect((await show({ type: "text" })).text).toHaveLength(50_000);
  await run({ R: JSON.stringify({ a: "y".repeat(2_200_000) }) });
  expect((await show({ type: "number", options: { path: "$.a" } })).problem).toContain("more than the 2,097,152 that a widget reads");
});

test("a run that went another way gave no value to an Output that it did not reach", async () => {
  const { run, show } = await world("A", "B");
  const first = await run({ A: 1 });
  await run({ B: 2 });
  expect(await show({ type: "number" })).toMatchObject({ status: "ok", value: 1, execution_id: first });
  // The one that ended last counts, though it began first.
  const last = await run({ A: 5 }, { at: 60 });
  await run({ A: 4 }, { at: 50 });
  expect(await show({ type: "number" })).toMatchObject({ value: 5, execution_id: last });
});

test("an Output that is gone offers the nearest; data that is old says why", async () => {
  const { admin, workflow, run, show } = await world("Result");
  await run({ Result: 1 });
  expect((await show({ type: "number" })).old).toBeUndefined();
  const failed = await run({}, { status: "failed" });
  const again = await run({}, { status: "failed" });
  expect(failed).not.toBe(again);
  expect(await show({ type: "number" })).toMatchObject({
    value: 1,
    old: { reason: "failing", since: "2026-01-01T00:02:00.000Z", execution_id: again },
  });
  await updateWorkflow(admin, { workflow_id: workflow.id, ...withOutputs("Results"), enabled: false });
  expect(await show({ type: "number" })).toMatchObject({ status: "problem", suggestion: "Results" });
  expect(await show({ type: "number", output_label: null })).toMatchObject({ value: 1, old: { reason: "disabled" } });
  await db().workflow.update({ where: { id: workflow.id }, data: { deleted_at: new Date() } });
  expect(await show({ type: "number" })).toMatchObject({ value: 1, old: { reason: "deleted" } });
});

test("a shared page is not told which runs it shows", async () => {
  const { run, show } = await world("R");
  const id = await run({ R: [{ n: 1 }] });
  await run({}, { status: "failed" });
  for (const fields of [{ type: "table" }, { type: "chart", options: { kind: "pie", x: "$[*].n", y: "$[*].n" } }, { type: "text" }]) {
    const data = JSON.stringify(await show(fields, { isShared: true }));
    expect(data).not.toContain(id);
    expect(data).not.toMatch(/execution_id":"/);
  }
});

test("a widget may stay as it is when its workflow has lost its Output, or is gone; and be moved", async () => {
  const { admin, workflow, widget } = await world("Result");
  const canvas = await createCanvas(admin, { name: "Old", widgets: [widget({ type: "text" })] });
  const moved = { canvas_id: canvas.id, widgets: [widget({ type: "text", title: "Moved" })] };
  await updateWorkflow(admin, { workflow_id: workflow.id, ...withOutputs() });
  expect((await updateCanvas(admin, moved)).widgets).toMatchObject([{ title: "Moved", output_label: "Result" }]);
  await expect(createCanvas(admin, { name: "New", widgets: moved.widgets })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await db().workflow.update({ where: { id: workflow.id }, data: { deleted_at: new Date() } });
  expect((await updateCanvas(admin, moved)).widgets).toHaveLength(1);
  await expect(createCanvas(admin, { name: "New", widgets: moved.widgets })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("a workflow of another project shows nothing", async () => {
  const { run, workflow } = await world("R");
  await run({ R: 1 });
  const other = await world("R");
  expect(await other.show({ type: "number", workflow_id: workflow.id })).toMatchObject({ status: "problem" });
});
