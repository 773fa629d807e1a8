import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { fillPast, fillQueued } from "#server/features/canvases/fill.ts";
import { followCanvas } from "#server/features/canvases/live.ts";
import type { Widget } from "#server/features/canvases/schema.ts";
import { createCanvas, getCanvas, getCanvasData, updateCanvas } from "#server/features/canvases/service.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { db } from "#server/platform/db/client.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

/** A graph with two Output nodes, whose ids are `A` and `B`. */
const labelled = (a: string, b = "B") =>
  graphOf({ nodes: { t: ["triggerNode"], A: ["outputNode", { label: a }], B: ["outputNode", { label: b }] }, edges: ["t>A", "t>B"] });

async function fillAll(): Promise<void> {
  while ((await fillQueued()) || (await fillPast()));
}

/** A workflow whose Output nodes are labelled A and B, and a canvas with the latest value and the sum of each. */
async function world() {
  const admin = await database.newAdmin();
  const { id: workflow_id } = await createWorkflow(admin, { name: randomUUID(), ...labelled("A") });
  const widgetOf = (label: string, over: "latest" | "runs"): Widget => ({
    ...{ id: `${label}-${over}`, title: label, type: "number", workflow_id, output_label: label },
    layout: { x: 0, y: 0, w: 1, h: 1 },
    options: over === "latest" ? { path: "$" } : { over, path: "$", aggregate: "sum", range: "all" },
  });
  const widgets = ["A", "B"].flatMap((label) => [widgetOf(label, "latest"), widgetOf(label, "runs")]);
  const { id: canvas_id, name } = await createCanvas(admin, { name: "Sales", widgets });
  const run = async (values: Record<string, number>) => {
    const execution_id = await endedRun(admin, workflow_id, values);
    await db().readingQueue.create({ data: { execution_id, workflow_id } });
    await fillAll();
  };
  const save = (graph: ReturnType<typeof labelled>) => updateWorkflow(admin, { workflow_id, ...graph });
  const labels = async () => (await getCanvas(admin, { canvas_id })).widgets.map(({ output_label }) => output_label);
  const values = async () => (await getCanvasData(admin, { canvas_id })).widgets.map(({ value }) => value);
  await fillAll();
  return { admin, workflow_id, canvas_id, name, widgets, run, save, labels, values };
}

test("widgets follow an Output node whose label a save changes", async () => {
  const { canvas_id, name, save, labels } = await world();

  const { canvases_changed } = await save(labelled("Revenue"));

  expect(canvases_changed).toEqual({ items: [{ id: canvas_id, name }], total: 1 });
  expect(await labels()).toEqual(["Revenue", "Revenue", "B", "B"]);
  expect((await save(labelled("Revenue"))).canvases_changed).toEqual({ items: [], total: 0 });
});

test("a widget shows the runs before a rename of its Output node", async () => {
  const { run, save, values } = await world();
  await run({ A: 3, B: 10 });
  await run({ A: 4, B: 20 });

  await save(labelled("Revenue"));

  expect(await values()).toEqual([4, 7, 20, 30]);
});

test("a run that ends with the label from before a rename counts for the node", async () => {
  const { run, save, values } = await world();
  await run({ A: 3, B: 10 });
  await save(labelled("Revenue"));

  await run({ A: 4, B: 20 });

  expect(await values()).toEqual([4, 7, 20, 30]);
});

test("widgets of Output nodes that exchange their labels stay with their nodes", async () => {
  const { run, save, labels, values } = await world();
  await run({ A: 3, B: 10 });

  await save(labelled("B", "A"));

  expect(await labels()).toEqual(["B", "B", "A", "A"]);
  expect(await values()).toEqual([3, 3, 10, 10]);
});

test("a widget keeps its values when its node takes the label of a removed one", async () => {
  const { run, save, labels, values } = await world();
  await run({ A: 3, B: 10 });
  const graph = labelled("B");

  await save({ nodes: graph.nodes.filter(({ id }) => id !== "B"), edges: graph.edges.filter(({ target }) => target !== "B") });
  await fillAll();

  expect(await labels()).toEqual(["B", "B", "B", "B"]);
  expect((await values()).slice(0, 2)).toEqual([3, expect.any(Number)]);
});

test("a canvas that is saved with a former label gets the current one", async () => {
  const { admin, canvas_id, widgets, save, labels } = await world();
  await save(labelled("Revenue"));

  await updateCanvas(admin, { canvas_id, widgets });
  const copy = await createCanvas(admin, { name: "Copy", widgets });

  expect(await labels()).toEqual(["Revenue", "Revenue", "B", "B"]);
  expect(copy.widgets.map(({ output_label }) => output_label)).toEqual(["Revenue", "Revenue", "B", "B"]);
});

test("an open canvas receives a rename of an Output node", async () => {
  const { canvas_id, save } = await world();
  const end = new AbortController();
  const events = await followCanvas({ canvas_id }, undefined, end.signal, 60_000);
  const first = events.next();

  await save(labelled("Revenue"));

  expect((await first).value).toMatchObject({ type: "canvas_changed", data: { canvas_id } });
  end.abort();
});
