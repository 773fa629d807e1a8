import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import type { Widget } from "#server/features/canvases/schema.ts";

const layout = { x: 0, y: 0, w: 6, h: 4 };

test("canvases are listed with what stands on them, found, renamed and deleted", async ({ signedInPage: page, api, workflow }) => {
  await page.goto("/");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Canvases" }).click();
  await expect(page.getByRole("heading", { name: "See what your runs add up to" })).toBeVisible();
  const { id: workflow_id } = await workflow({});
  const place = { title: "", workflow_id, output_label: null };
  const widgets: Widget[] = [
    { ...place, id: "a", type: "number", layout: { x: 0, y: 0, w: 3, h: 2 } },
    { ...place, id: "b", type: "chart", layout: { x: 3, y: 0, w: 9, h: 4 }, options: { kind: "area", over: "runs", y: "$" } },
    { ...place, id: "c", type: "table", layout: { ...layout, y: 4 } },
  ];
  await api.post("/canvases", { name: "Support", widgets }, { status: 201 });
  await api.post("/canvases", { name: "Sales" }, { status: 201 });
  await page.reload();
  const cards = page.getByRole("list", { name: "Canvases" }).getByRole("listitem");
  await expect(cards).toHaveText([/Sales.*Empty/, /Support.*3 widgets/]);
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  await page.getByRole("searchbox", { name: "Search canvases" }).fill("supp");
  await expect(cards).toHaveText([/Support/]);
  await page.getByRole("searchbox", { name: "Search canvases" }).fill("nothing");
  await expect(page.getByText("No canvas has “nothing” in its name.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(cards).toHaveCount(2);

  await page.getByRole("button", { name: "Actions of Sales" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Revenue");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("link", { name: "Revenue" })).toBeVisible();
  await page.getByRole("button", { name: "Actions of Revenue" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog", { name: "Delete canvas “Revenue”?" }).getByRole("button", { name: "Delete canvas" }).click();
  await expect(cards).toHaveText([/Support/]);
});

test("a viewer sees the canvases and is offered no change", async ({ newUser, person, pageOf }) => {
  await person.api.post("/canvases", { name: "Support" }, { status: 201 });
  const page = await pageOf(await newUser({ role: "viewer" }));
  await page.goto("/canvases");
  await expect(page.getByRole("link", { name: "Support" })).toBeVisible();
  await expect(page.getByRole("button", { name: "New canvas" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Actions of Support" })).toHaveCount(0);
});
