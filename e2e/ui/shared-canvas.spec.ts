import { expect, test } from "#e2e/fixtures.ts";
import { echo, total } from "#e2e/shown-echo.ts";
import { Canvas, SharedLink } from "#server/features/canvases/schema.ts";

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
