import { expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { listSources } from "#server/features/canvases/building.ts";
import { fillPast, fillQueued } from "#server/features/canvases/fill.ts";
import { CanvasSources, SharedCanvas } from "#server/features/canvases/schema.ts";
import { createCanvas, getCanvasData, updateCanvas } from "#server/features/canvases/service.ts";
import { readSharedCanvas, shareCanvas } from "#server/features/canvases/share.ts";
import { db, inTransaction } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { shownWorkflow } from "#server/testing/shown-workflow.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Whoever writes workflows decides what they give, what their Outputs are called and which paths widgets follow. None of it may take
// a canvas from others, hold up the process or fill its memory.

const database = testDatabase();
const world = (...labels: string[]) => shownWorkflow(database, ...labels);

async function fillAll(): Promise<void> {
  while ((await fillQueued()) || (await fillPast()));
}
const HOUR = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);
const zeros = (count: number) => Array.from({ length: count }, () => 0);

test("an Output may be called as objects of the language have their own parts", async () => {
  for (const label of ["constructor", "__proto__", "toString"]) {
    const { admin, run } = await world(label);
    expect(CanvasSources.parse(await listSources(admin, {})).items).toMatchObject([{ outputs: [{ label, glimpse: null }] }]);
    await run({ Other: 1 });
    expect(CanvasSources.parse(await listSources(admin, {})).items).toMatchObject([{ outputs: [{ label, glimpse: null }] }]);
    await run(Object.fromEntries([[label, 7]]));
    expect(CanvasSources.parse(await listSources(admin, {})).items).toMatchObject([{ outputs: [{ label, glimpse: "7" }] }]);
  }
});

test.each([
  ["NUL", '{"a":"x\\u0000"}'],
  ["half of a character", '{"a":"\\ud800","\\udc00":1}'],
  ["numbers that are too large", '{"a":1e400,"b":[12345678901234567890123,-1e308,1e308]}'],
  ["no JSON", '{"a":NaN}'],
  ["names of the language", '{"__proto__":{"a":1},"constructor":{"a":2},"a":{"__proto__":3}}'],
  ["lists in lists", `{"a":${"[".repeat(5000)}1${"]".repeat(5000)}}`],
  ["lists in lists without end", "[".repeat(50_000) + "]".repeat(50_000)],
])("an output with %s leaves the other widgets of a canvas, its filling and its link alone", async (_, output) => {
  const { admin, workflow, run, widget } = await world("R");
  await run({ R: output }, { at: ago(5000) });
  const paths = ["$", "$.a", "$.__proto__.a", "$..a", "$[?@ == 1]"];
  const both = ["latest", "runs"].flatMap((over) => paths.map((path) => ({ over, path })));
  const fields = both.flatMap((options) => [
    { type: "number", options },
    { type: "table", options },
  ]);
  const widgets = [
    ...fields.map((one, index) => widget({ ...one, id: `w${index}` })),
    widget({ id: "good", type: "number", options: { over: "runs", aggregate: "count" } }),
  ];
  const { id: canvas_id } = await createCanvas(admin, { name: "Hostile", widgets });
  await fillAll();
  const execution_id = await run({ R: output }, { at: ago(1000) });
  await db().readingQueue.create({ data: { execution_id, workflow_id: workflow.id } });
  await fillAll();
  const data = await getCanvasData(admin, { canvas_id });
  expect(data.widgets.at(-1)).toMatchObject({ widget_id: "good", status: "ok", value: 2 });
  const { url } = await shareCanvas(admin, { canvas_id, expires_in_days: 1 });
  const shared = SharedCanvas.parse(await readSharedCanvas({ token: url.split("/shared/")[1] ?? "" }));
  expect(shared.data.widgets).toHaveLength(widgets.length);
});

/** Looks at each thing ten times. */
const HEAVY = `$[?${Array.from({ length: 10 }, (_, index) => `@ == ${index + 1}`).join(" || ")}]`;

test("a table whose cells take long together says so", async () => {
  const { run, show } = await world("R");
  await run({ R: Array.from({ length: 200 }, () => zeros(5000)) });
  const columns = Array.from({ length: 20 }, (_, index) => ({ label: `c${index}`, path: HEAVY }));
  expect((await show({ type: "table", options: { columns } })).problem).toMatch(/takes? too long/);
});

test("a table shows as many of its long rows as fit", async () => {
  const { admin, run, widget, show } = await world("R");
  const options = { columns: Array.from({ length: 20 }, (_, index) => ({ label: `c${index}`, path: "$.text" })) };
  await run({ R: Array.from({ length: 60 }, () => ({ text: "x".repeat(900) })) }, { at: ago(HOUR) });
  const latest = await show({ type: "table", options });
  expect([latest.rows?.length, latest.problem]).toEqual([49, "Only the first 49 of 60 rows are shown."]);
  for (let n = 1; n <= 60; n++) await run({ R: { text: "x".repeat(3900) } }, { at: ago(HOUR - n) });
  const newest = await run({ R: { text: 1 } }, { at: ago(1000) });
  await createCanvas(admin, { name: "Long", widgets: [widget({ type: "table", options: { ...options, over: "runs" } })] });
  await fillAll();
  const over = await show({ type: "table", options: { ...options, over: "runs" } });
  expect([over.rows?.length, over.problem]).toEqual([50, "Only the newest 50 runs are shown."]);
  expect(over.rows?.[0]).toMatchObject({ cells: Array.from({ length: 20 }, () => 1), execution_id: newest });
});

test("processes that keep values side by side never wait for each other in a circle, and keep each once", async () => {
  const worlds = await Promise.all([world("R"), world("R")]);
  const widgetOf = ({ widget }: (typeof worlds)[0]) => widget({ type: "table", options: { over: "runs" } });
  const canvases = await Promise.all(worlds.map((one) => createCanvas(one.admin, { name: "C", widgets: [widgetOf(one)] })));
  await fillAll();
  for (let n = 0; n < 15; n++)
    await Promise.all(
      worlds.flatMap(({ run, workflow }, index) =>
        Array.from({ length: 14 }, async (_, hours) => {
          const execution_id = await run({ R: "text" }, { at: ago(hours * HOUR) });
          // From the queue in different orders.
          const ended_at = new Date(Math.random() * 1e12 * (index + 1));
          await db().readingQueue.create({ data: { execution_id, workflow_id: workflow.id, ended_at } });
        }),
      ),
    );
  const ids = canvases.map(({ id }) => id);
  await db().reading.updateMany({ where: { canvases: { some: { canvas_id: { in: ids } } } }, data: { filled_at: null } });
  await Promise.all([fillAll(), fillAll(), fillAll(), fillAll()]);
  for (const [index, { admin, workflow }] of worlds.entries()) {
    const canvas_id = ids[index] ?? "";
    expect((await getCanvasData(admin, { canvas_id })).widgets[0]?.rows).toHaveLength(210);
    const { _sum } = await db().execution.aggregate({ where: { workflow_id: workflow.id }, _sum: { bytes: true } });
    expect(_sum.bytes).toBe(BigInt(210 * '"text"'.length));
  }
});

test("a canvas is saved while values are kept of what it reads", async () => {
  const { admin, widget } = await world("R");
  const widgets = [widget({ type: "number", options: { over: "runs", path: "$.n" } })];
  const { id: canvas_id } = await createCanvas(admin, { name: "Saved", widgets });
  await fillAll();
  await inTransaction(async (client) => {
    await client.query("SELECT FROM readings FOR KEY SHARE");
    const isSaved = async () => (await updateCanvas(admin, { canvas_id, widgets })).widgets.length === 1;
    await asOtherCaller(() => until(isSaved, 5000));
  });
});
