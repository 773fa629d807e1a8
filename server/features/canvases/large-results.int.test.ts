import { expect, test, vi } from "vitest";
import { readProposals } from "#server/features/canvases/building.ts";
import { fillPast, fillQueued } from "#server/features/canvases/fill.ts";
import { CanvasData } from "#server/features/canvases/schema.ts";
import { createCanvas, getCanvasData } from "#server/features/canvases/service.ts";
import { answerApi } from "#server/http/api.ts";
import { ChildPool } from "#server/platform/children/pool.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { bridgeOf, ORIGIN } from "#server/testing/bridge.ts";
import { shownWorkflow } from "#server/testing/shown-workflow.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

async function fillAll(): Promise<void> {
  while ((await fillQueued()) || (await fillPast()));
}

/** About 300 kB of JSON. */
const large = () => ({ total: 7, rows: Array.from({ length: 5000 }, (_, index) => ({ id: index, name: "x".repeat(30) })) });
const jobs = () => vi.spyOn(ChildPool.prototype, "run");

test("viewers at the same time share one child process job for a large result", async () => {
  const { admin, run, widget } = await shownWorkflow(database, "R");
  const paths = ["$..id", "$.rows[?@.id == 4999].id", "$.total", "$.total"];
  const widgets = paths.map((path, index) => widget({ id: `w${index}`, type: "table", options: { path } }));
  const { id: canvas_id } = await createCanvas(admin, { name: "Large", widgets });
  await run({ R: large() });
  const run_job = jobs();

  const seen = await Promise.all(Array.from({ length: 8 }, () => getCanvasData(admin, { canvas_id })));
  const later = await getCanvasData(admin, { canvas_id });

  expect(run_job).toHaveBeenCalledTimes(1);
  for (const { widgets } of [...seen, later]) {
    expect(widgets.map(({ rows }) => rows?.length)).toEqual([500, 1, 1, 1]);
    expect(widgets[2]?.rows?.[0]?.cells).toEqual([7]);
  }
});

test("values of a large result are read in a child process when its run ends", async () => {
  const { admin, workflow, run, widget } = await shownWorkflow(database, "R");
  const fields = { type: "number", options: { over: "runs", aggregate: "sum", range: "all" } };
  const widgets = ["$.total", "$.rows[4999].id"].map((path, index) =>
    widget({ ...fields, id: `w${index}`, options: { ...fields.options, path } }),
  );
  const { id: canvas_id } = await createCanvas(admin, { name: "Large", widgets });
  await fillAll();
  const run_job = jobs();

  const execution_id = await run({ R: large() });
  await db().readingQueue.create({ data: { execution_id, workflow_id: workflow.id } });
  await fillAll();

  expect(run_job).toHaveBeenCalledTimes(1);
  const data = await getCanvasData(admin, { canvas_id });
  expect(data.widgets.map(({ value }) => value)).toEqual([7, 4999]);
});

test("fifty charts of a canvas share the characters of one answer", async () => {
  const { admin, run, widget } = await shownWorkflow(database, "R");
  const options = { kind: "line", x: "$.rows[*].name", y: "$.rows[*].id" };
  const widgets = Array.from({ length: 50 }, (_, index) => widget({ id: `w${index}`, type: "chart", options }));
  const { id: canvas_id } = await createCanvas(admin, { name: "Fifty", widgets });
  await run({ R: large() });

  const data = await getCanvasData(admin, { canvas_id });

  const counts = data.widgets.map(({ series }) => series?.[0]?.points.length ?? 0);
  expect(JSON.stringify(data).length).toBeLessThan(1_700_000);
  expect(new Set(counts).size).toBe(1);
  expect(counts[0]).toBeGreaterThan(150);
  expect(data.widgets[0]?.problem).toBe(`Only the first ${counts[0]} of 5,000 points are shown.`);
});

test("twelve charts of a canvas show 1,000 points each", async () => {
  const { admin, run, widget } = await shownWorkflow(database, "R");
  const rows = Array.from({ length: 2000 }, (_, id) => ({ id }));
  const options = { kind: "line", x: "$[*].id", y: "$[*].id" };
  const widgets = Array.from({ length: 12 }, (_, index) => widget({ id: `w${index}`, type: "chart", options }));
  const { id: canvas_id } = await createCanvas(admin, { name: "Twelve", widgets });
  await run({ R: rows });

  const data = await getCanvasData(admin, { canvas_id });

  expect(data.widgets.map(({ series }) => series?.[0]?.points.length)).toEqual(widgets.map(() => 1000));
});

test("viewers at the same time get their data in turns of the event loop of their own", async () => {
  const { admin, run, widget } = await shownWorkflow(database, "R");
  const { id: canvas_id } = await createCanvas(admin, {
    name: "Turns",
    widgets: [widget({ type: "number", options: { path: "$.total" } })],
  });
  await run({ R: { total: 7 } });
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  count();

  const seen = await Promise.all(Array.from({ length: 8 }, () => getCanvasData(admin, { canvas_id }).then(() => turns)));
  isOver = true;

  expect(new Set(seen).size).toBe(8);
});

test("data of a canvas is answered without being validated again", async () => {
  setSettings({ APP_URL: ORIGIN });
  const { admin, run, widget } = await shownWorkflow(database, "R");
  const { id } = await createCanvas(admin, { name: "Seven", widgets: [widget({ type: "number", options: { path: "$.total" } })] });
  await run({ R: { total: 7 } });
  const { headers } = await bridgeOf(admin);
  const validate = vi.spyOn(CanvasData._zod, "run");

  const answer = await answerApi(new Request(`${ORIGIN}/api/v1/canvases/${id}/data`, { headers }));

  expect(await answer.json()).toMatchObject({ canvas_id: id, widgets: [{ widget_id: "w", status: "ok", value: 7 }] });
  expect(validate).not.toHaveBeenCalled();
});

test("texts over several runs read a large result in one child process job", async () => {
  const { admin, run, widget } = await shownWorkflow(database, "R");
  const options = { over: "runs", range: "24h", path: "$.rows[0].name" };
  const widgets = ["a", "b", "c"].map((id) => widget({ id, type: "text", options }));
  const { id: canvas_id } = await createCanvas(admin, { name: "Texts", widgets });
  await run({ R: large() }, { at: new Date() });
  const run_job = jobs();

  const data = await getCanvasData(admin, { canvas_id });

  expect(run_job).toHaveBeenCalledTimes(1);
  expect(data.widgets.map(({ text }) => text)).toEqual(widgets.map(() => "x".repeat(30)));
});

test("widgets are proposed for a large output in a child process", async () => {
  const { admin, workflow, run } = await shownWorkflow(database, "R");
  await run({ R: large() });
  const run_job = jobs();

  const proposals = await readProposals(admin, { workflow_id: workflow.id, output_label: "R" });

  expect(run_job.mock.calls.map(([job]) => Object.keys(job as object))).toContainEqual(["output", "label"]);
  expect(proposals.output?.parts.map(({ name }) => name)).toEqual(["total", "rows"]);
});

test("a small result is read without a child process", async () => {
  const { run, show } = await shownWorkflow(database, "R");
  await run({ R: { total: 7 } });
  const run_job = jobs();

  expect(await show({ type: "number", options: { path: "$.total" } })).toMatchObject({ status: "ok", value: 7 });
  expect(run_job).not.toHaveBeenCalled();
});

test("a reader adds the open hour up, which later runs change", async () => {
  const { admin, workflow, run, widget } = await shownWorkflow(database, "R");
  const sum = widget({ type: "number", options: { over: "runs", path: "$", aggregate: "sum", range: "24h" } });
  const { id: canvas_id } = await createCanvas(admin, { name: "Hour", widgets: [sum] });
  await fillAll();
  const end = async (value: number) => {
    const execution_id = await run({ R: value }, { at: new Date() });
    await db().readingQueue.create({ data: { execution_id, workflow_id: workflow.id } });
    await fillAll();
  };
  const read = async () => (await getCanvasData(admin, { canvas_id })).widgets[0]?.value;
  const countMarked = () => db().readingHour.count({ where: { is_fresh: false, reading: { workflow_id: workflow.id } } });

  await end(2);
  await end(3);

  expect(await countMarked()).toBeGreaterThan(0);
  expect(await read()).toBe(5);
  expect(await countMarked()).toBe(0);
  await end(4);
  expect(await read()).toBe(9);
});

test("widgets of a dashboard send each statement over values once", async () => {
  const { admin, run, widget } = await shownWorkflow(database, "R");
  const of = (id: string, options: object) =>
    widget({ id, type: "number", options: { over: "runs", path: "$", range: "24h", ...options } });
  const widgets = ["sum", "count", "avg", "last"].map((aggregate) => of(aggregate, { aggregate, bucket: "day" }));
  const { id: canvas_id } = await createCanvas(admin, { name: "Shared", widgets });
  await run({ R: 2 }, { at: new Date() });
  await fillAll();
  const query = vi.spyOn(pool(), "query");

  const data = await getCanvasData(admin, { canvas_id });

  const sent = query.mock.calls.map(([statement]) => JSON.stringify(statement)).filter((text) => text.includes("values-"));
  expect(data.widgets.map(({ value }) => value)).toEqual([2, 1, 2, 2]);
  expect(new Set(sent).size).toBe(sent.length);
  expect(sent).toHaveLength(3);
});
