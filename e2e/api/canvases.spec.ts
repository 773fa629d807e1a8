import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Canvas, CanvasData, CanvasPage, type Widget } from "#server/features/canvases/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const NEVER = "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10";

const shown = graphOf({ t: ["trigger"], o: ["output", { label: "Result" }] }, ["t>o"]);

type ChartWidget = Extract<Widget, { type: "chart" }>;

const place = (workflow_id: string, id: string) => ({
  id,
  title: `Widget ${id}`,
  workflow_id,
  output_label: "Result",
  layout: { x: 0, y: 0, w: 6, h: 4 },
});

const chart = (workflow_id: string, more: object = {}): ChartWidget => ({
  ...place(workflow_id, "chart"),
  type: "chart",
  options: { kind: "bar", x: "$[*].month", y: "$[*].revenue" },
  ...more,
});

/** One widget of each type. */
const ofEachType = (workflow_id: string): Widget[] => [
  { ...place(workflow_id, "text"), type: "text", output_label: null },
  { ...place(workflow_id, "markdown"), type: "markdown", options: { path: "$.report" } },
  { ...place(workflow_id, "number"), type: "number", options: { path: "$.total", unit: "€", decimals: 2 } },
  { ...place(workflow_id, "table"), type: "table", options: { path: "$.rows", columns: [{ label: "Who", path: "$.customer.name" }] } },
  chart(workflow_id),
];

const create = async (api: ApiClient, fields: object) => (await api.post("/canvases", fields, { schema: Canvas, status: 201 })).body;
const count = async (api: ApiClient) => (await api.get("/canvases", { schema: CanvasPage })).body.total;

test("a canvas is created, read, listed without its widgets, changed in part, and deleted", async ({ api, workflow }) => {
  const { id: flow } = await workflow(shown);
  const widgets = ofEachType(flow);
  const canvas = await create(api, { name: "Sales", widgets });
  expect(canvas).toMatchObject({ name: "Sales", widgets });
  expect((await api.get(`/canvases/${canvas.id}`, { schema: Canvas, status: 200 })).body).toEqual(canvas);
  const { widgets: _, ...summary } = canvas;
  const list = await api.get("/canvases", { schema: CanvasPage, status: 200 });
  const preview = widgets.map(({ type, layout }) => ({ type, layout, kind: type === "chart" ? "bar" : null }));
  expect(list.body).toEqual({ items: [{ ...summary, widget_count: 5, preview }], total: 1, page: 1, per_page: 50 });

  const renamed = (await api.put(`/canvases/${canvas.id}`, { name: "Revenue" }, { schema: Canvas, status: 200 })).body;
  expect(renamed).toEqual({ ...canvas, name: "Revenue", updated_at: renamed.updated_at });
  expect(renamed.updated_at > canvas.updated_at).toBe(true);
  const emptied = (await api.put(`/canvases/${canvas.id}`, { widgets: [] }, { schema: Canvas })).body;
  expect(emptied).toMatchObject({ name: "Revenue", widgets: [] });
  const gone = await api.del(`/canvases/${canvas.id}`);
  expect([gone.status, gone.body]).toEqual([204, undefined]);
  await api.get(`/canvases/${canvas.id}`, { schema: ErrorBody, status: 404 });
});

test("the list is searched by name, and tells where the first twelve widgets stand", async ({ api, workflow }) => {
  const { id: flow } = await workflow(shown);
  const widgets = Array.from({ length: 14 }, (_, index) => chart(flow, { id: `c${index}`, layout: { x: 0, y: 13 - index, w: 6, h: 1 } }));
  await create(api, { name: "100% Sales", widgets });
  await create(api, { name: "Support" });
  const { body } = await api.get("/canvases?q=0%25%20s", { schema: CanvasPage });
  expect(body).toMatchObject({ total: 1, items: [{ name: "100% Sales", widget_count: 14 }] });
  expect(body.items[0]?.preview?.map(({ layout }) => layout.y)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect((await api.get("/canvases?q=nothing", { schema: CanvasPage })).body).toMatchObject({ total: 0, items: [] });
  await api.get(`/canvases?q=${"x".repeat(201)}`, { schema: ErrorBody, status: 422 });
});

test("a canvas needs no widgets, and what a GET gave can be sent back", async ({ api, workflow }) => {
  const { id: flow } = await workflow(shown);
  const canvas = await create(api, { name: "Empty" });
  expect(canvas.widgets).toEqual([]);
  await api.put(`/canvases/${canvas.id}`, { widgets: ofEachType(flow) }, { status: 200 });
  const read = (await api.get(`/canvases/${canvas.id}`, { schema: Canvas })).body;
  const again = (await api.put(`/canvases/${canvas.id}`, read, { schema: Canvas, status: 200 })).body;
  expect(again).toEqual({ ...read, updated_at: again.updated_at });
});

for (const { what, more, path, says } of [
  { what: "an unknown type", more: { type: "gauge" }, path: "type", says: "text, markdown, number, table, chart" },
  { what: "an unknown field", more: { colour: "red" }, path: "colour", says: "no such field" },
  {
    what: "an option of another type",
    more: { options: { kind: "bar", x: "$", y: "$", columns: [] } },
    path: "options.columns",
    says: "no such",
  },
  { what: "an unknown kind of chart", more: { options: { kind: "donut", x: "$", y: "$" } }, path: "options.kind", says: "bar, line, area" },
  { what: "a chart without axes", more: { options: { kind: "bar" } }, path: "options.x", says: "required" },
  { what: "a path that is none", more: { options: { kind: "bar", x: "$[", y: "$" } }, path: "options.x", says: "JSONPath" },
  { what: "a place off the grid", more: { layout: { x: 8, y: 0, w: 6, h: 4 } }, path: "layout.w", says: "at most 12, not 14" },
  { what: "a place before the grid", more: { layout: { x: -1, y: 0, w: 6, h: 4 } }, path: "layout.x", says: "at least 0" },
  { what: "an id with spaces", more: { id: "a b" }, path: "id", says: "letters, digits" },
  { what: "a workflow that never was", more: { workflow_id: NEVER }, path: "workflow_id", says: "no such workflow" },
  { what: "an Output that the workflow does not have", more: { output_label: "Resultt" }, path: "output_label", says: 'mean "Result"' },
  {
    what: "a path that may take long",
    more: { options: { kind: "bar", x: "$..a..b", y: "$" } },
    path: "options.x",
    says: "once at most",
  },
  {
    what: "a chart of the latest run without names",
    more: { options: { kind: "bar", y: "$", over: "latest" } },
    path: "options.x",
    says: "required",
  },
  { what: "a workflow id that is none", more: { workflow_id: "no-uuid" }, path: "workflow_id", says: "no such workflow" },
])
  test(`${what} is refused at its place, at creation and change`, async ({ api, workflow }) => {
    const { id: flow } = await workflow(shown);
    const canvas = await create(api, { name: "Before", widgets: [chart(flow)] });
    const widgets = [{ ...place(flow, "first"), type: "text" }, chart(flow, more)];
    for (const { body } of [
      await api.post("/canvases", { name: "New", widgets }, { schema: ErrorBody, status: 422 }),
      await api.put(`/canvases/${canvas.id}`, { name: "After", widgets }, { schema: ErrorBody, status: 422 }),
    ]) {
      expect(body.error_code).toBe("VALIDATION_ERROR");
      expect(body.errors?.map((error) => error.path)).toContain(`widgets.1.${path}`);
      expect(body.errors?.find((error) => error.path === `widgets.1.${path}`)?.message).toContain(says);
    }
    expect((await api.get(`/canvases/${canvas.id}`, { schema: Canvas })).body).toEqual(canvas);
    expect(await count(api)).toBe(1);
  });

test("an unknown field, no name, ids that meet twice and a fifty-first widget are refused", async ({ api, workflow }) => {
  const { id: flow } = await workflow(shown);
  const many = (length: number) => Array.from({ length }, (_, index) => chart(flow, { id: `chart-${index}` }));
  for (const [fields, path] of [
    [{ name: "A", wigdets: [] }, "wigdets"],
    [{ widgets: [] }, "name"],
    [{ name: "A", widgets: [chart(flow), chart(flow)] }, "widgets.1.id"],
    [{ name: "A", widgets: many(51) }, "widgets"],
  ] as const) {
    const { body } = await api.post("/canvases", fields, { schema: ErrorBody, status: 422 });
    expect(body.errors?.map((error) => error.path)).toEqual([path]);
  }
  expect((await create(api, { name: "Full", widgets: many(50) })).widgets).toHaveLength(50);
});

test("widgets over another project's workflow are refused; a workflow that a canvas shows cannot be deleted", async ({
  api,
  newProject,
  workflow,
}) => {
  const other = await newProject();
  const { body: theirs } = await other.api.post("/workflows", { name: "Theirs" }, { status: 201 });
  const { body } = await api.post("/canvases", { name: "A", widgets: [chart(theirs.id)] }, { schema: ErrorBody, status: 422 });
  expect(body.errors?.map((error) => error.path)).toEqual(["widgets.0.workflow_id"]);

  const { id: flow } = await workflow(shown);
  const canvas = await create(api, { name: "Old", widgets: [chart(flow)] });
  const { body: refused } = await api.del(`/workflows/${flow}`, { schema: ErrorBody, status: 409 });
  expect(refused.detail).toBe('The workflow is shown on the canvas "Old". Take its widgets out there first.');
  await api.put(`/canvases/${canvas.id}`, { widgets: [] }, { status: 200 });
  await api.del(`/workflows/${flow}`, { status: 204 });
  await api.post("/canvases", { name: "New", widgets: canvas.widgets }, { schema: ErrorBody, status: 422 });
});

test("viewers read what the widgets show, which is the latest run's", async ({ api, newUser, newProject, workflow, executed }) => {
  const flow = await workflow(shown);
  const canvas = await create(api, { name: "Sales", widgets: ofEachType(flow.id) });
  const rows = [{ customer: { name: "Ann" } }];
  const report = { report: "# Good", total: 12.5, rows };
  const { id } = await executed(flow, { input: JSON.stringify(report) });
  const { api: viewer } = await newUser({ role: "viewer" });
  const { body } = await viewer.get(`/canvases/${canvas.id}/data`, { schema: CanvasData, status: 200 });
  expect(body).toMatchObject({
    canvas_id: canvas.id,
    range: null,
    widgets: [
      { widget_id: "text", status: "ok", text: JSON.stringify(report), execution_id: id },
      { widget_id: "markdown", status: "ok", text: "# Good" },
      { widget_id: "number", status: "ok", value: 12.5, unit: "€" },
      { widget_id: "table", status: "ok", columns: ["Who"], rows: [{ cells: ["Ann"], execution_id: id }] },
      { widget_id: "chart", status: "problem", problem: expect.stringContaining("$[*].month") },
    ],
  });
  expect((await viewer.get(`/canvases/${canvas.id}/data?range=24h`, { schema: CanvasData, status: 200 })).body.range).toBe("24h");
  await viewer.get(`/canvases/${canvas.id}/data?range=1h`, { schema: ErrorBody, status: 422 });
  const { api: other } = await newProject();
  await other.get(`/canvases/${canvas.id}/data`, { schema: ErrorBody, status: 404 });
});

test("viewers read canvases; editors write them", async ({ api, newUser, workflow }) => {
  const { id: flow } = await workflow(shown);
  const canvas = await create(api, { name: "Sales", widgets: [chart(flow)] });
  const { api: viewer } = await newUser({ role: "viewer" });
  expect((await viewer.get(`/canvases/${canvas.id}`, { schema: Canvas, status: 200 })).body).toEqual(canvas);
  expect(await count(viewer)).toBe(1);
  for (const { body } of [
    await viewer.post("/canvases", { name: "Mine" }, { schema: ErrorBody, status: 403 }),
    await viewer.put(`/canvases/${canvas.id}`, { name: "Mine" }, { schema: ErrorBody, status: 403 }),
    await viewer.del(`/canvases/${canvas.id}`, { schema: ErrorBody, status: 403 }),
  ])
    expect(body.error_code).toBe("PERMISSION_DENIED");
  const { api: editor } = await newUser({ role: "editor" });
  await editor.put(`/canvases/${canvas.id}`, { name: "Ours" }, { schema: Canvas, status: 200 });
  await editor.del(`/canvases/${canvas.id}`, { status: 204 });
});

test("a canvas of another project answers like one that never existed", async ({ api, newProject }) => {
  const canvas = await create(api, { name: "Ours" });
  const { api: other } = await newProject();
  for (const id of [canvas.id, NEVER, "no-uuid"]) {
    for (const { body } of [
      await other.get(`/canvases/${id}`, { schema: ErrorBody, status: 404 }),
      await other.put(`/canvases/${id}`, { name: "Mine" }, { schema: ErrorBody, status: 404 }),
      await other.del(`/canvases/${id}`, { schema: ErrorBody, status: 404 }),
    ])
      expect(body).toEqual({ detail: "There is no such canvas in this project.", error_code: "NOT_FOUND", status: 404 });
  }
  expect(await count(other)).toBe(0);
  expect(await count(api)).toBe(1);
});

test("the list is newest first, in pages", async ({ api }) => {
  for (const name of ["One", "Two", "Three"]) await create(api, { name });
  const names = async (query: string) => (await api.get(`/canvases?${query}`, { schema: CanvasPage })).body.items.map(({ name }) => name);
  expect(await names("per_page=2")).toEqual(["Three", "Two"]);
  expect(await names("per_page=2&page=2")).toEqual(["One"]);
});
