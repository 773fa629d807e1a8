import { expect, test } from "vitest";
import { listSources, previewWidget, readProposals } from "#server/features/canvases/building.ts";
import { readCanvasData } from "#server/features/canvases/data.ts";
import type { OutputPart, Widget } from "#server/features/canvases/schema.ts";
import { createCanvas, getCanvas, updateCanvas } from "#server/features/canvases/service.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const layout = { x: 0, y: 0, w: 6, h: 4 };

const workflowOf = (admin: ProjectPrincipal, name: string, labels: readonly string[]) => {
  const nodes = Object.fromEntries(labels.map((label, index) => [`o${index}`, ["outputNode", { label }]]));
  const graph = graphOf({ nodes: { t: ["triggerNode"], ...nodes }, edges: labels.map((_, index) => `t>o${index}`) } as never); // cast: short for tests
  return createWorkflow(admin, { name, ...graph });
};

/** A run that has completed, in this minute. */
async function completed(
  { project }: ProjectPrincipal,
  workflow_id: string,
  outputs: Record<string, unknown>,
  minute = 0,
  at = new Date(Date.UTC(2026, 0, 1, 0, minute)),
) {
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const kept = Object.entries(outputs).map(([label, value]) => ({ node_id: label, label, format: "json", value: JSON.stringify(value) }));
  return db().execution.create({
    data: {
      ...{ project_id: project.id, workflow_id, snapshot_id, trigger: "manual", status: "completed", workflow_version: 1 },
      ...{ created_at: at, completed_at: at, values: { create: { output: kept[0]?.value ?? null, outputs: kept } } },
    },
  });
}

const paths = (part: OutputPart): string[] => [part.path, ...part.parts.flatMap(paths)];

test("the workflows with results come first, each Output with the beginning of its value, and those of others not at all", async () => {
  const [admin, stranger] = await Promise.all([database.newAdmin(), database.newAdmin()]);
  const idle = await workflowOf(admin, "Idle", ["Never"]);
  const bare = await workflowOf(admin, "Bare", []);
  const sales = await workflowOf(admin, "Sales", ["Total", "Report"]);
  await workflowOf(stranger, "Foreign", ["Total"]);
  await completed(admin, bare.id, { end: "x".repeat(5000) }, 1);
  await completed(admin, sales.id, { Total: 42 }, 2);
  const { items, has_more } = await listSources(admin, {});
  expect(items.map(({ name }) => name)).toEqual(["Sales", "Bare", "Idle"]);
  expect(items[0]?.outputs).toEqual([
    { label: "Total", glimpse: "42" },
    { label: "Report", glimpse: null },
  ]);
  expect(items[1]?.outputs).toEqual([{ label: null, glimpse: `"${"x".repeat(119)}` }]);
  expect(items[2]).toMatchObject({ workflow_id: idle.id, completed_at: null, outputs: [{ label: "Never", glimpse: null }] });
  expect(has_more).toBe(false);
  expect((await listSources(admin, { search: "ALE" })).items.map(({ name }) => name)).toEqual(["Sales"]);
});

test("what an Output gave last proposes widgets with what they show, a tree to pick from, and whole canvases", async () => {
  const admin = await database.newAdmin();
  const { id: workflow_id } = await workflowOf(admin, "Sales", ["Result"]);
  const reading = { workflow_id, output_label: "Result" };
  expect(await readProposals(admin, reading)).toMatchObject({ execution_id: null, output: null, widgets: [], canvases: [] });
  await completed(admin, workflow_id, { Result: { total: 1 } }, 1);
  const orders = [
    { customer: "Ada", amount: 5 },
    { customer: "Grace", amount: 7 },
  ];
  const { id } = await completed(admin, workflow_id, { Result: { total: 12, "it's": { orders } } }, 2);
  const { execution_id, output, widgets, canvases } = await readProposals(admin, reading);
  expect(execution_id).toBe(id);
  expect(widgets[0]).toMatchObject({ widget: { type: "chart", ...reading, options: { kind: "bar" } }, data: { status: "ok" } });
  expect(widgets[0]?.data.series?.[0]?.points.map(({ x, y }) => [x, y])).toEqual([
    ["Ada", 5],
    ["Grace", 7],
  ]);
  expect(widgets.find(({ widget }) => widget.type === "number")?.data).toMatchObject({ value: 12, previous: 1 });
  expect(paths(output as OutputPart)).toEqual(
    expect.arrayContaining(["$", "$.total", "$['it\\'s'].orders", "$['it\\'s'].orders[*].amount", "$['it\\'s'].orders[1].customer"]),
  );
  expect(canvases.map((canvas) => canvas.id)).toEqual(["glance", "days", "costs", "list"]);
  for (const canvas of canvases) {
    const made = await createCanvas(admin, { name: canvas.name, widgets: canvas.widgets });
    expect(made.widgets).toHaveLength(canvas.widgets.length);
  }
});

test("every proposal, and every widget of a whole canvas, shows something", async () => {
  const admin = await database.newAdmin();
  const { id: workflow_id } = await workflowOf(admin, "Support", ["Result"]);
  const result = {
    ...{ total: 12, score: 0.5, cost_usd: 1.25, topic: "tea", answer: "It steeps for three minutes. ".repeat(9) },
    orders: ["2026-01", "2026-02", "2026-03"].map((month, index) => ({ month, amount: index * 2.5 })),
  };
  const minutes = (count: number) => new Date(Date.now() - count * 60_000);
  for (const count of [3, 2, 1]) await completed(admin, workflow_id, { Result: { ...result, total: count } }, 0, minutes(count));
  const { widgets, canvases } = await readProposals(admin, { workflow_id, output_label: "Result" });
  const silent = (all: { widget_id: string; status: string; problem?: string | undefined }[]) =>
    all.flatMap(({ widget_id, status, problem }) => (status === "ok" ? [] : [`${widget_id}: ${status} ${problem ?? ""}`]));
  expect(widgets).toHaveLength(6);
  expect(silent(widgets.map(({ data }) => data))).toEqual([]);
  expect(canvases.map(({ id }) => id)).toEqual(["glance", "days", "quality", "costs", "report", "list"]);
  const project_id = admin.project.id;
  for (const canvas of canvases) {
    const { widgets: data } = await readCanvasData({ id: canvas.id, project_id, widgets: canvas.widgets });
    expect([canvas.id, silent(data)]).toEqual([canvas.id, []]);
  }
});

test("a workflow of another project gives nothing", async () => {
  const [admin, stranger] = await Promise.all([database.newAdmin(), database.newAdmin()]);
  const { id: workflow_id } = await workflowOf(stranger, "Foreign", ["Result"]);
  await completed(stranger, workflow_id, { Result: 7 });
  await expect(readProposals(admin, { workflow_id, output_label: "Result" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const widget: Widget = { id: "w", type: "number", title: "", workflow_id, output_label: "Result", layout };
  await expect(previewWidget(admin, { widget })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("a widget that is not saved shows what it would, and a path that is none says so", async () => {
  const admin = await database.newAdmin();
  const { id: workflow_id } = await workflowOf(admin, "Sales", ["Result"]);
  await completed(admin, workflow_id, { Result: { total: 3 } });
  const widget: Widget = { id: "w", type: "number", title: "", workflow_id, output_label: "Result", layout, options: { path: "$.total" } };
  expect(await previewWidget(admin, { widget })).toMatchObject({ widget_id: "w", status: "ok", value: 3 });
  await expect(previewWidget(admin, { widget: { ...widget, options: { path: "$[" } } })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
});

test("a save over what somebody else has saved meanwhile changes nothing", async () => {
  const admin = await database.newAdmin();
  const { id: workflow_id } = await workflowOf(admin, "Sales", ["Result"]);
  const widget = (id: string): Widget => ({ id, type: "text", title: id, workflow_id, output_label: null, layout });
  const { id: canvas_id, updated_at } = await createCanvas(admin, { name: "Two" });
  const theirs = await updateCanvas(admin, { canvas_id, widgets: [widget("theirs")], unchanged_since: updated_at });
  const late = updateCanvas(admin, { canvas_id, widgets: [widget("mine")], unchanged_since: updated_at });
  await expect(late).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await getCanvas(admin, { canvas_id })).toEqual(theirs);
  const both = [widget("theirs"), widget("mine")];
  expect((await updateCanvas(admin, { canvas_id, widgets: both, unchanged_since: theirs.updated_at })).widgets).toEqual(both);
});
