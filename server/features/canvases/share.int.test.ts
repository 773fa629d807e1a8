import { expect, test, vi } from "vitest";
import { fillPast } from "#server/features/canvases/fill.ts";
import { SharedCanvas, type Widget } from "#server/features/canvases/schema.ts";
import { createCanvas, deleteCanvas, getCanvas, updateCanvas } from "#server/features/canvases/service.ts";
import { readSharedCanvas, shareCanvas, unshareCanvas } from "#server/features/canvases/share.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

/** How often data of canvases were read. */
const reads = vi.hoisted(() => ({ count: 0 }));
vi.mock("#server/features/canvases/data.ts", async (original) => {
  const actual = await original<typeof import("#server/features/canvases/data.ts")>();
  const readCanvasData: typeof actual.readCanvasData = (...asked) => {
    reads.count += 1;
    return actual.readCanvasData(...asked);
  };
  return { ...actual, readCanvasData };
});

const database = testDatabase();
const DAY_MS = 24 * 60 * 60 * 1000;

test("a canvas has one link, of which only a hash is kept, until somebody ends it", async () => {
  const admin = await database.newAdmin();
  const { id: canvas_id, share } = await createCanvas(admin, { name: "Wall" });
  expect(share).toBeNull();
  const first = await shareCanvas(admin, { canvas_id, expires_in_days: 1 });
  const second = await shareCanvas(admin, { canvas_id, expires_in_days: 7 });
  const token = second.url.split("/shared/")[1] ?? "";
  expect([token.length, second.url === first.url]).toEqual([43, false]);
  const shared = (await getCanvas(admin, { canvas_id })).share;
  expect(shared?.expires_at).toBe(second.expires_at);
  expect(Date.parse(second.expires_at) - Date.parse(shared?.created_at ?? "")).toBe(7 * DAY_MS);
  const row = await db().canvas.findUniqueOrThrow({ where: { id: canvas_id } });
  const audit = await db().auditEntry.findMany({ where: { project_id: admin.project.id } });
  expect(JSON.stringify([row, audit])).not.toContain(token);

  await unshareCanvas(admin, { canvas_id });
  expect((await getCanvas(admin, { canvas_id })).share).toBeNull();
  await expect(unshareCanvas(admin, { canvas_id })).rejects.toMatchObject({ code: "NOT_FOUND", message: "This canvas is not shared." });
  const actions = await db().auditEntry.findMany({ where: { project_id: admin.project.id }, orderBy: { id: "asc" } });
  expect(actions.map(({ action }) => action)).toEqual(["canvas.create", "canvas.share", "canvas.share", "canvas.unshare"]);
});

test("a link that has ended is told as none, and no other project shares or ends it", async () => {
  const [admin, other] = [await database.newAdmin(), await database.newAdmin()];
  const { id: canvas_id } = await createCanvas(admin, { name: "Wall" });
  const asked = { canvas_id, expires_in_days: 1 };
  await shareCanvas(admin, asked);
  for (const call of [shareCanvas(other, asked), unshareCanvas(other, asked)])
    await expect(call).rejects.toMatchObject({ code: "NOT_FOUND" });
  await db().canvas.update({ where: { id: canvas_id }, data: { share_expires_at: new Date() } });
  expect((await getCanvas(admin, { canvas_id })).share).toBeNull();
});

const tokenOf = ({ url }: { url: string }) => url.split("/shared/")[1] ?? "";

/** A shared canvas of one widget of each kind, over a run. */
async function sharedCanvas(admin: ProjectPrincipal) {
  const outputs = { "Inner label": { inner_total: 7, rows: [{ who: "Ann", n: 1 }], months: [{ m: "May", n: 2 }] } };
  const graph = graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode", { label: "Inner label" }] }, edges: ["t>o"] });
  const { id: workflow_id } = await createWorkflow(admin, { name: "Inner name", ...graph });
  const execution_id = await endedRun(admin, workflow_id, outputs);
  const place = (id: string, label = "Inner label") => ({
    ...{ id, title: `About ${id}`, workflow_id, output_label: label, layout: { x: 0, y: 0, w: 1, h: 1 } },
  });
  const widgets = [
    { ...place("number"), type: "number" as const, options: { path: "$.inner_total", unit: "€" } },
    { ...place("table"), type: "table" as const, options: { path: "$.rows", columns: [{ label: "Who", path: "$.who" }] } },
    { ...place("chart"), type: "chart" as const, options: { kind: "bar" as const, x: "$.months[*].m", y: "$.months[*].n" } },
    { ...place("text"), type: "text" as const, output_label: null },
  ];
  const canvas = await createCanvas(admin, { name: "Wall", widgets });
  const link = await shareCanvas(admin, { canvas_id: canvas.id, expires_in_days: 1 });
  return { canvas, token: tokenOf(link), hidden: [canvas.id, workflow_id, execution_id, admin.project.id, "Inner name", "Inner label"] };
}

test("a link shows what the widgets show, and nothing else of the project", async () => {
  const admin = await database.newAdmin();
  const { token, hidden } = await sharedCanvas(admin);
  const shown = await readSharedCanvas({ token });
  expect(shown.name).toBe("Wall");
  expect(shown.data.widgets).toMatchObject([
    { widget_id: "number", status: "ok", value: 7, unit: "€", execution_id: null },
    { widget_id: "table", columns: ["Who"], rows: [{ cells: ["Ann"], execution_id: null }] },
    { widget_id: "chart", series: [{ points: [{ x: "May", y: 2, execution_id: null }] }] },
    { widget_id: "text", status: "ok" },
  ]);
  expect(shown.widgets.map(({ type, title }) => [type, title])).toEqual(
    ["number", "table", "chart", "text"].map((id) => [id, `About ${id}`]),
  );
  const told = JSON.stringify(shown);
  for (const word of [...hidden, "$.inner_total", "$.rows", "$.months"]) expect(told).not.toContain(word);
});

test("each kind of widget is drawn without what it reads, a chart of the latest run and one over several too", async () => {
  const admin = await database.newAdmin();
  const { canvas, hidden } = await sharedCanvas(admin);
  const [, , chart, text] = canvas.widgets;
  const overRuns = { ...chart, id: "over", options: { kind: "line", y: "$.inner_total", over: "runs", range: "7d" } } as Widget;
  const markdown = { ...text, id: "markdown", type: "markdown" } as Widget;
  await updateCanvas(admin, { canvas_id: canvas.id, widgets: [...canvas.widgets, overRuns, markdown] });
  const { url } = await shareCanvas(admin, { canvas_id: canvas.id, expires_in_days: 1 });
  const shown = SharedCanvas.parse(await readSharedCanvas({ token: tokenOf({ url }) }));
  expect(shown.widgets.map(({ type, options }) => [type, options])).toEqual([
    ["number", { unit: "€" }],
    ["table", {}],
    ["chart", { kind: "bar", x: "$", y: "$" }],
    ["text", {}],
    ["chart", { kind: "line", y: "$", over: "runs", range: "7d" }],
    ["markdown", {}],
  ]);
  // What is read over several runs says no more of them than that.
  while (await fillPast());
  await updateCanvas(admin, { canvas_id: canvas.id, name: "Filled" });
  const filled = await readSharedCanvas({ token: tokenOf({ url }) });
  expect(filled.data.widgets[4]?.series?.[0]?.points).toMatchObject([{ y: 7, execution_id: null }]);
  for (const word of hidden) expect(JSON.stringify(filled)).not.toContain(word);
});

test("why a widget shows nothing is told to members, not to whoever has the link", async () => {
  const admin = await database.newAdmin();
  const { canvas, token } = await sharedCanvas(admin);
  const widgets = canvas.widgets.map((widget) => ({ ...widget, output_label: "Gone" }));
  await db().canvas.update({ where: { id: canvas.id }, data: { widgets } });
  const { data } = await readSharedCanvas({ token });
  expect(data.widgets[0]).toMatchObject({ status: "problem", problem: "This cannot be shown at the moment." });
  expect(JSON.stringify(data)).not.toContain("Inner label");
});

test.each<{ what: string; end: (admin: ProjectPrincipal, canvas_id: string) => Promise<unknown> }>([
  { what: "was ended", end: (admin, canvas_id) => unshareCanvas(admin, { canvas_id }) },
  { what: "was replaced", end: (admin, canvas_id) => shareCanvas(admin, { canvas_id, expires_in_days: 1 }) },
  { what: "has come to its end", end: (_, id) => db().canvas.update({ where: { id }, data: { share_expires_at: new Date() } }) },
  { what: "led to a canvas that is deleted", end: (admin, canvas_id) => deleteCanvas(admin, { canvas_id }) },
  {
    what: "led into a project that is deleted",
    end: (admin) => db().project.update({ where: { id: admin.project.id }, data: { deleted_at: new Date() } }),
  },
])("a link that $what shows nothing from then on, also to whoever has just looked", async ({ end }) => {
  const admin = await database.newAdmin();
  const { canvas, token } = await sharedCanvas(admin);
  await readSharedCanvas({ token });
  await end(admin, canvas.id);
  await expect(readSharedCanvas({ token })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("what a link shows is worked out once for all who ask at a time", async () => {
  const { token } = await sharedCanvas(await database.newAdmin());
  const before = reads.count;
  const shown = await Promise.all(Array.from({ length: 20 }, () => readSharedCanvas({ token })));
  expect([new Set(shown).size, reads.count - before]).toEqual([1, 1]);
});

test("a link that never was shows nothing", async () => {
  for (const token of ["never", "x".repeat(43)]) await expect(readSharedCanvas({ token })).rejects.toMatchObject({ code: "NOT_FOUND" });
});
