import { expect, test } from "#e2e/fixtures.ts";
import { Canvas, SharedLink } from "#server/features/canvases/schema.ts";

const position = { x: 0, y: 0 };
/** Its Output shows what it was given. */
const echo = {
  nodes: [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "o", type: "outputNode", position, data: { label: "Result", format: "json", value: "{{trigger.output}}" } },
  ],
  edges: [{ id: "e", source: "t", target: "o" }],
};
const total = (workflow_id: string) => ({
  ...{ id: "total", type: "number", title: "Total", workflow_id, output_label: "Result" },
  ...{ layout: { x: 0, y: 0, w: 3, h: 2 }, options: { path: "$.n" } },
});
test("the page of a link is there without sign-in while the link is good, in no search engine and told to no other site", async ({
  api,
  workflow,
  execute,
  finished,
  browser,
}) => {
  const flow = await workflow(echo);
  await finished(await execute(flow, { input: '{"n": 7}' }));
  const { id } = (await api.post("/canvases", { name: "Wall", widgets: [total(flow.id)] }, { schema: Canvas, status: 201 })).body;
  const { url } = (await api.post(`/canvases/${id}/share`, {}, { schema: SharedLink, status: 201 })).body;
  const path = new URL(url).pathname;
  const page = await (await browser.newContext()).newPage();
  expect((await page.goto(path))?.status()).toBe(200);
  await expect(page.getByRole("heading", { name: "Wall" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Total" })).toContainText("7");
  await expect(page.locator('meta[name="robots"]')).toHaveAttribute("content", /noindex/);
  await expect(page.locator('meta[name="referrer"]')).toHaveAttribute("content", "no-referrer");
  const html = await page.content();
  for (const hidden of [id, flow.id, flow.name, api.projectId ?? id]) expect(html).not.toContain(hidden);
  await api.del(`/canvases/${id}/share`, { status: 204 });
  expect((await page.goto(path))?.status()).toBe(404);
  await expect(page.getByRole("heading", { name: "This link cannot be used" })).toBeVisible();
  await page.context().close();
});

test("an editor makes a link, sees it once, and ends it", async ({ signedInPage: page, api }) => {
  const { id } = (await api.post("/canvases", { name: "Wall" }, { schema: Canvas, status: 201 })).body;
  await page.goto(`/canvases/${id}`);
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await expect(dialog.getByRole("textbox", { name: "Link" })).toHaveValue(/\/shared\/[\w-]{43}$/);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Share" }).click();
  await expect(dialog.getByRole("button", { name: "Replace the link" })).toBeVisible();
  await dialog.getByRole("button", { name: "End the link" }).click();
  await expect(dialog).toHaveCount(0);
  expect((await api.get(`/canvases/${id}`, { schema: Canvas })).body.share).toBeNull();
});
