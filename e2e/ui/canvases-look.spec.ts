import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Canvas, SharedLink, type Widget } from "#server/features/canvases/schema.ts";

// What a canvas looks like to whoever reads it: every kind of widget, its trail, how it moves, and the link.

const JSON_OUTPUT = `{"total": {{Start.output}}, "months": [{"name": "Jan", "sum": 12}, {"name": "Feb", "sum": 30}, {"name": "Mar", "sum": 18}], "report": "**Good** month"}`;
const position = { x: 0, y: 0 };
const nodes = [
  { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
  { id: "o", type: "outputNode", position, data: { label: "Sales", value: JSON_OUTPUT, format: "json" } },
];
const edges = [{ id: "e", source: "t", target: "o" }];

/** One of each kind, over one workflow. */
function widgetsOf(workflow_id: string): Widget[] {
  const of = (id: string, title: string, x: number, y: number, w: number, h: number) => ({
    id,
    title,
    workflow_id,
    output_label: "Sales",
    layout: { x, y, w, h },
  });
  return [
    { ...of("total", "Revenue", 0, 0, 3, 3), type: "number", options: { path: "$.total", unit: "€" } },
    { ...of("bars", "By month", 3, 0, 5, 6), type: "chart", options: { kind: "bar", x: "$.months[*].name", y: "$.months[*].sum" } },
    { ...of("shares", "Shares", 8, 0, 4, 6), type: "chart", options: { kind: "pie", x: "$.months[*].name", y: "$.months[*].sum" } },
    { ...of("runs", "Run by run", 0, 3, 3, 3), type: "chart", options: { kind: "line", over: "runs", range: "24h", y: "$.total" } },
    { ...of("rows", "Months", 0, 6, 6, 5), type: "table", options: { path: "$.months" } },
    { ...of("report", "Report", 6, 6, 6, 5), type: "markdown", options: { path: "$.report" } },
  ];
}

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

/** Nothing is wider than the window. */
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** How much of what was on the screen has moved by itself since the page began, as Chromium counts it (web.dev/articles/cls). */
const jumped = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const add = (list: PerformanceObserverEntryList) =>
          resolve(list.getEntries().reduce((sum, entry) => sum + (entry as PerformanceEntry & { value: number }).value, 0));
        new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
        // It is not called when nothing has.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
      }),
  );

test("a canvas shows each kind of widget, moves when a run ends, leads from each value to where it comes from, and is shared by a link", {
  tag: "@main",
}, async ({ signedInPage: page, person, api, workflow, executed, pageOf }) => {
  test.setTimeout(120_000);
  const flow = await workflow({ name: "Sales of the north", nodes, edges });
  const { body: canvas } = await api.post("/canvases", { name: "Shop", widgets: widgetsOf(flow.id) }, { schema: Canvas, status: 201 });
  await page.goto(`/canvases/${canvas.id}`);
  // Widgets say in their own place why they show nothing.
  await expect(region(page, "Revenue").getByText("No run has given a value yet.")).toBeVisible();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  for (const input of ["100", "120"]) await executed(flow, { input });
  await page.reload();
  await expect(region(page, "Revenue").getByRole("button", { name: "120 €" })).toBeVisible();
  await expect(region(page, "Report").getByText("Good")).toBeVisible();
  await expect(region(page, "Months").getByRole("row", { name: /Feb 30/ })).toBeVisible();
  await expect(region(page, "Shares").getByRole("button", { name: /Feb 30 50%/ })).toBeVisible();
  expect(await jumped(page)).toBeLessThan(0.02);
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  // By keyboard along the bars, whose values are read out; Enter opens.
  const bars = region(page, "By month").getByRole("slider", { name: "Points of By month" });
  // Drawn by the service, they take keys once the page's scripts have come.
  await expect(async () => {
    await bars.press("Home");
    await expect(bars).toHaveAttribute("aria-valuetext", "Jan: 12", { timeout: 1000 });
  }).toPass();
  await page.keyboard.press("ArrowRight");
  await expect(bars).toHaveAttribute("aria-valuetext", "Feb: 30");
  await page.keyboard.press("Enter");
  const trail = page.getByRole("dialog", { name: "Feb: 30" });
  const steps = trail.getByRole("list", { name: "Where it comes from" }).locator(":scope > li");
  await expect(steps).toContainText([/^Sales.*total/, /^Start/]);
  await expect(steps.getByRole("link", { name: "Start" })).toBeVisible();
  await trail.getByRole("button", { name: "Compare with the one before" }).click();
  await expect(trail.getByRole("row", { name: /Input \(changed\) 100 120/ })).toBeVisible();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(trail).toBeHidden();
  await expect(bars).toBeFocused();

  // A chart is a table as well.
  await region(page, "By month").getByRole("button", { name: "Show table" }).click();
  await expect(region(page, "By month").getByRole("row", { name: "Mar 18" })).toBeVisible();

  await executed(flow, { input: "150" });
  await expect(region(page, "Revenue").getByRole("button", { name: "150 €" })).toBeVisible();
  await expect(region(page, "Revenue")).toContainText("+25%");

  const file = page.waitForEvent("download");
  await region(page, "Months").getByRole("button", { name: "Actions of Months" }).click();
  await page.getByRole("menuitem", { name: "Download as CSV" }).click();
  expect((await file).suggestedFilename()).toBe("months.csv");

  // The whole page over another time stands in its address.
  await page.getByRole("combobox", { name: "Time" }).click();
  await page.getByRole("option", { name: "Last 7 days" }).click();
  await expect(page).toHaveURL(/range=7d/);
  await page.getByRole("button", { name: "Full screen" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeHidden();
  await page.getByRole("button", { name: "Leave full screen" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();

  await page.setViewportSize({ width: 390, height: 844 });
  expect(await overflow(page)).toBe(0);
  await expect(region(page, "Revenue")).toBeVisible();

  await test.step("whoever has the link sees it without sign-in, and nothing in it leads further; no search engine and no other site is told", async () => {
    const { url } = (await api.post(`/canvases/${canvas.id}/share`, {}, { schema: SharedLink, status: 201 })).body;
    const path = new URL(url).pathname;
    const theirs = await pageOf();
    expect((await theirs.goto(path))?.status()).toBe(200);
    await expect(theirs.getByRole("heading", { level: 1, name: "Shop" })).toBeVisible();
    await expect(region(theirs, "Revenue").getByText("150")).toBeVisible();
    expect(await theirs.getByRole("link").count()).toBe(0);
    await expect(theirs.locator('meta[name="robots"]')).toHaveAttribute("content", /noindex/);
    await expect(theirs.locator('meta[name="referrer"]')).toHaveAttribute("content", "no-referrer");
    const html = await theirs.content();
    for (const hidden of [canvas.id, flow.id, flow.name, person.project.id]) expect(html).not.toContain(hidden);
    expect(await axeFaultsInBothThemes(theirs)).toEqual([]);
    await theirs.setViewportSize({ width: 390, height: 844 });
    expect(await overflow(theirs)).toBe(0);
    await api.del(`/canvases/${canvas.id}/share`, { status: 204 });
    expect((await theirs.goto(path))?.status()).toBe(404);
    await expect(theirs.getByRole("heading", { level: 1, name: "This link cannot be used" })).toBeVisible();
  });
});

test("the trail of an agent's answer leads to the passages that it cites, with their age", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  executed,
}) => {
  const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { status: 201 });
  const text = `# Mill\n\n${"A mill has many rooms.\n\n".repeat(200)}## Cellar\n\nThe looms stand in the cellar.`;
  await api.post(`/rags/${rag.id}/documents`, { title: "House rules", text }, { status: 201 });
  await expect.poll(async () => (await api.get(`/rags/${rag.id}`)).body.documents.ready).toBe(1);
  const scout = await agent({ name: "Scout", model: "tool-search_knowledge", rag_ids: [rag.id] });
  const asking = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Ask: ["agent", { agent_id: scout.id, input: "Where are the looms?" }],
      Answer: ["output", { value: "{{Ask.output}}" }],
    },
    ["Start>Ask", "Ask>Answer"],
  );
  const flow = await workflow({ name: "Rooms", ...asking });
  const run = await executed(flow, {});
  const widget = { id: "a", type: "text", title: "Answer", workflow_id: flow.id, output_label: "Answer" };
  const widgets = [{ ...widget, layout: { x: 0, y: 0, w: 6, h: 4 } }];
  const { body: canvas } = await api.post("/canvases", { name: "Rooms", widgets }, { schema: Canvas, status: 201 });
  await page.goto(`/canvases/${canvas.id}`);
  await region(page, "Answer")
    .getByRole("button", { name: /Where this comes from/ })
    .click();
  const source = page.getByRole("dialog").getByRole("list", { name: "Sources" }).getByRole("listitem").first();
  await expect(source).toContainText(/\[1\] *House rules *Mill › Cellar *read .*The looms stand in the cellar\./);
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  const beside = page.waitForEvent("popup");
  await source.getByRole("link", { name: "House rules" }).click();
  const document = await beside;
  await expect(document.locator("mark")).toHaveText("The looms stand in the cellar.");
  await expect(document.locator("mark")).toBeInViewport();
  await document.close();

  await page.goto(`/runs/${run.id}?node=Ask`);
  await page.getByRole("tab", { name: "Tool calls 1" }).click();
  await page.getByRole("tabpanel", { name: "Tool calls" }).getByText("search_knowledge", { exact: true }).click();
  await expect(page.getByRole("list", { name: "What it read" })).toContainText("House rules");
});

test("a chart marks where a new version began, and a run is compared by version and model with the one before", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  executed,
}) => {
  const scout = await agent({ name: "Scout", model: "echo" });
  const counting = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Ask: ["agent", { agent_id: scout.id }],
      Sum: ["output", { value: '{"n": 7}', format: "json" }],
    },
    ["Start>Ask", "Ask>Sum"],
  );
  const flow = await workflow({ name: "Counting", ...counting });
  await executed(flow, { input: "one" });
  await api.put(`/agents/${scout.id}`, { model: "slow-1-20" });
  await api.put(`/workflows/${flow.id}`, { name: "Counting on", version: 1 });
  await executed(flow, { input: "two" });
  const chart = { kind: "line", over: "runs", bucket: "run", range: "24h", y: "$.n" };
  const widget = { id: "n", type: "chart", title: "Counts", workflow_id: flow.id, output_label: "Sum", options: chart };
  const widgets = [{ ...widget, layout: { x: 0, y: 0, w: 8, h: 6 } }];
  const { body: canvas } = await api.post("/canvases", { name: "Counts", widgets }, { schema: Canvas, status: 201 });
  await page.goto(`/canvases/${canvas.id}`);
  await expect(region(page, "Counts").getByTitle(/^Version 2, /)).toBeVisible();
  await region(page, "Counts").getByRole("slider", { name: "Points of Counts" }).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const trail = page.getByRole("dialog");
  await trail.getByRole("button", { name: "Compare with the one before" }).click();
  for (const row of [/^Version \(changed\) Version 1 Version 2$/, /^Model \(changed\) echo slow-1-20$/, /^Input \(changed\) one two$/])
    await expect(trail.getByRole("row", { name: row })).toBeVisible();
});
