import type { CDPSession, Request } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { lengthOf } from "#e2e/length.ts";
import { canvasLine } from "#e2e/ui/canvas-line.ts";
import { Canvas, type Widget, type WidgetData } from "#server/features/canvases/schema.ts";

// A canvas hangs on a wall for a week: what it is told of must not stay.

const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug"];
const overRuns = { over: "runs", y: "$.total" } as const;
const overNames = { x: "$.months[*].name", y: "$.months[*].sum" } as const;

/** Three of each number, chart, table and text; the first says how many updates there were. */
function widgetsOf(workflow_id: string): Widget[] {
  const kinds = [
    { type: "number" },
    { type: "chart", options: { kind: "line", ...overRuns } },
    { type: "chart", options: { kind: "bar", ...overNames } },
    { type: "table" },
    { type: "number", options: { over: "runs" } },
    { type: "chart", options: { kind: "area", ...overRuns } },
    { type: "chart", options: { kind: "pie", ...overNames } },
    { type: "markdown" },
    { type: "number" },
    { type: "chart", options: { kind: "line", ...overRuns } },
    { type: "chart", options: { kind: "bar", ...overNames } },
    { type: "text" },
  ] as const;
  return kinds.map((kind, index) => ({
    ...kind,
    id: `w${index}`,
    title: `Widget ${index}`,
    workflow_id,
    output_label: null,
    layout: { x: (index % 4) * 3, y: Math.floor(index / 4) * 4, w: 3, h: 4 },
  }));
}

/** What a widget shows after so many updates: as much each time, and nothing of it as before. */
function dataOf({ id, type, ...rest }: Widget, count: number): WidgetData {
  const from = { execution_id: crypto.randomUUID(), completed_at: new Date(Date.UTC(2026, 0, 1, 0, count)).toISOString() };
  const options = "options" in rest ? rest.options : undefined;
  const isOverRuns = options !== undefined && "over" in options && options.over === "runs";
  const points = isOverRuns
    ? Array.from({ length: 60 }, (_, index) => ({
        ...from,
        x: new Date(Date.UTC(2026, 0, 1, 0, count + index)).toISOString(),
        y: 50 + ((count * 7 + index * 13) % 40),
      }))
    : NAMES.map((x, index) => ({ ...from, x, y: 1 + ((count + index * 5) % 30) }));
  const rows = NAMES.map((name, index) => ({
    execution_id: from.execution_id,
    completed_at: from.completed_at,
    cells: [name, count + index],
  }));
  return {
    ...{ widget_id: id, status: "ok", ...from },
    ...(type === "number" && { value: count, previous: count - 1 }),
    ...((type === "chart" || isOverRuns) && { series: [{ name: "y", points }] }),
    ...(type === "table" && { columns: ["Month", "Sum"], rows }),
    ...((type === "markdown" || type === "text") && {
      text: `## After ${count}\n\n- one **more**\n- and another\n\n${"word ".repeat(80)}`,
    }),
  };
}

/** What the page holds once all that nobody needs is gone. */
async function held(browser: CDPSession): Promise<{ nodes: number; listeners: number; heap: number }> {
  for (let round = 0; round < 2; round++) await browser.send("HeapProfiler.collectGarbage");
  const { metrics } = await browser.send("Performance.getMetrics");
  const of = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return { nodes: of("Nodes"), listeners: of("JSEventListeners"), heap: of("JSHeapUsedSize") };
}

test("a page that has been told of many changes holds no more than after a few", async ({ signedInPage: page, api, workflow }) => {
  const flow = await workflow(graphOf({ Start: ["trigger", { kind: "manual" }] }, []));
  const { body: canvas } = await api.post("/canvases", { name: "Wall", widgets: widgetsOf(flow.id) }, { schema: Canvas, status: 201 });
  const underWay = new Set<Request>();
  page.on("request", (request) => underWay.add(request));
  page.on("requestfinished", (request) => underWay.delete(request));
  page.on("requestfailed", (request) => underWay.delete(request));
  const line = await canvasLine(page, () => page.goto(`/canvases/${canvas.id}`));
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const updateTo = async (first: number, last: number) => {
    for (let count = first; count <= last; count++) {
      line.tell({ type: "canvas_data", canvas_id: canvas.id, widgets: canvas.widgets.map((widget) => dataOf(widget, count)) });
      // Each few are drawn before the next come.
      if (count % 4 === 0) await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    for (const number of [0, 8])
      await expect(
        page.getByRole("region", { name: `Widget ${number}`, exact: true }).getByRole("button", { name: String(last), exact: true }),
      ).toBeVisible();
    await expect(page.getByRole("region", { name: "Widget 7", exact: true })).toContainText(`After ${last}`);
  };
  const { FEW, MANY } = lengthOf({ short: { FEW: 20, MANY: 60 }, long: { FEW: 40, MANY: 240 } });
  await updateTo(1, FEW);
  // Everything has come that a page has once: only the stream is still open.
  await expect.poll(() => [...underWay].map((request) => request.resourceType())).toEqual(["eventsource"]);
  const before = await held(session);
  await updateTo(FEW + 1, MANY);
  const after = await held(session);
  expect(after.nodes - before.nodes).toBeLessThan(150);
  expect(after.listeners - before.listeners).toBeLessThan(20);
  // One update is some 100 kB: 40 of them that stay would be 4 MB.
  expect(after.heap - before.heap).toBeLessThan(1_500_000);
  await session.detach();
  await line.close();
});
