import { expect, test } from "vitest";
import { draftOf, widgetOf } from "#components/canvases/editing/widget-draft.ts";
import type { Widget } from "#server/features/canvases/schema.ts";

const place = { id: "w", title: "Revenue", workflow_id: "f", output_label: "Total", layout: { x: 0, y: 0, w: 4, h: 3 } };
const columns = [{ label: "Who", path: "$.who" }];
const widgets: Widget[] = [
  { ...place, type: "number", options: { path: "$.total", unit: "€", decimals: 2 } },
  { ...place, type: "number", options: { path: "$.total", over: "runs", range: "7d", bucket: "day", aggregate: "sum" } },
  { ...place, type: "chart", options: { kind: "pie", x: "$[*].a", y: "$[*].b", unit: "%" } },
  { ...place, type: "chart", options: { kind: "bar", y: "$.total", over: "runs", range: "90d", bucket: "week", aggregate: "p95" } },
  { ...place, type: "chart", options: { kind: "line", y: "$", over: "runs", range: "30d", bucket: "run" } },
  { ...place, type: "table", options: { path: "$.rows", columns } },
  { ...place, type: "table", options: { columns, over: "runs", range: "all", bucket: "month", aggregate: "avg" } },
  { ...place, type: "markdown", options: { path: "$.report" } },
  { ...place, type: "text", options: { over: "runs", range: "24h" } },
];

for (const widget of widgets)
  test(`a form that is opened and closed leaves a ${widget.type} as it was: ${JSON.stringify(widget.options)}`, () => {
    expect(widgetOf(draftOf(widget), widget)).toEqual({ widget });
  });

test("another kind takes over what it can use, and what it cannot is there again on the way back", () => {
  const [number] = widgets as [Widget];
  const draft = { ...draftOf(number), kind: "bar" as const, x: "$[*].name" };
  expect(widgetOf(draft, number)).toEqual({
    widget: { ...place, type: "chart", options: { kind: "bar", x: "$[*].name", y: "$.total", unit: "€", decimals: 2 } },
  });
  expect(widgetOf({ ...draft, kind: "text" }, number)).toEqual({ widget: { ...place, type: "text", options: { path: "$.total" } } });
  expect(widgetOf({ ...draft, kind: "number" }, number)).toEqual({ widget: number });
});

test("what is missing is said at its field", () => {
  const [number] = widgets as [Widget];
  expect(widgetOf({ ...draftOf(number), kind: "table", columns: [{ label: "", path: "$.a" }] }, number)).toMatchObject({
    errors: { columns: expect.any(String) },
  });
  expect(widgetOf({ ...draftOf(number), kind: "line" }, number)).toMatchObject({ errors: { x: expect.any(String) } });
  expect(widgetOf({ ...draftOf(number), decimals: 9 }, number)).toMatchObject({ errors: { decimals: expect.any(String) } });
});
