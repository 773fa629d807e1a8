import type { Locator, Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { chooseOf, node } from "#e2e/ui/locators.ts";
import { Canvas, type Widget } from "#server/features/canvases/schema.ts";

const SALES = {
  total: 1204.5,
  orders: [
    { customer: "Ada", amount: 12.5 },
    { customer: "Grace", amount: 7 },
    { customer: "Edsger", amount: 30 },
  ],
};

/** A graph whose Output "Result" gives this. */
const giving = (value: unknown) =>
  graphOf({ Start: ["trigger", { kind: "manual" }], Result: ["output", { value: JSON.stringify(value), format: "json" }] }, [
    "Start>Result",
  ]);

const widget = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const saved = (page: Page) => expect(page.getByRole("toolbar", { name: "Editing" })).toContainText("Saved");

const layout = { x: 0, y: 0, w: 6, h: 4 };

test("canvases are listed; a widget of what an Output really gave is three clicks from an empty one, and its part is picked in a form", async ({
  signedInPage: page,
  api,
  workflow,
  executed,
}) => {
  test.setTimeout(120_000); // three states are examined
  const flow = await workflow({ name: "Sales of the day", ...giving(SALES) });
  await executed(flow, {});
  const neverRun = await workflow({ name: "Never run" });
  await test.step("canvases are listed with what stands on them, found, renamed and deleted", () => listIsKept(page, api, neverRun.id));
  await test.step("from an empty canvas to a widget in three clicks, of what the Output really gave", () => widgetsAreAdded(page, api));
  await test.step("in the form a part is picked in the tree, by keys too, or typed, and is shown before it is taken", () =>
    partIsPicked(page, api));
});

async function listIsKept(page: Page, api: ApiClient, workflow_id: string): Promise<void> {
  await page.goto("/");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Canvases" }).click();
  await expect(page.getByRole("heading", { name: "See what your runs add up to" })).toBeVisible();
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
  await expect(page.getByText("Nothing here matches “nothing”.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(cards).toHaveCount(2);

  await chooseOf(page, "Sales", "Rename");
  await page.getByRole("dialog").getByLabel("Name").fill("Revenue");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("link", { name: "Revenue" })).toBeVisible();
  await chooseOf(page, "Revenue", "Delete");
  await page.getByRole("alertdialog", { name: "Delete canvas “Revenue”?" }).getByRole("button", { name: "Delete canvas" }).click();
  await expect(cards).toHaveText([/Support/]);
}

async function widgetsAreAdded(page: Page, api: ApiClient): Promise<void> {
  await page.getByRole("button", { name: "New canvas" }).click();
  await expect(page).toHaveURL(/\/canvases\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { name: "What do you want to see?" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Never run" })).toBeVisible();

  await page
    .getByRole("list", { name: "Outputs of Sales of the day" })
    .getByRole("button", { name: /Result/ })
    .click();
  const dialog = page.getByRole("dialog", { name: "How to show “Result”" });
  await expect(dialog.getByRole("button", { name: /^Add / })).toHaveCount(6);
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "Add Number: Total", exact: true }).click();
  await expect(dialog).toBeHidden();
  await expect(widget(page, "Total")).toContainText("1,204.5");
  await saved(page);

  await page.getByRole("button", { name: "Add widget" }).click();
  await page
    .getByRole("dialog", { name: "What to show" })
    .getByRole("button", { name: /Result/ })
    .click();
  await dialog.getByRole("button", { name: "Add Bar chart: Amount by customer" }).click();
  await saved(page);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("toolbar", { name: "Editing" })).toBeHidden();
  await page.reload();
  await expect(widget(page, "Total")).toContainText("1,204.5");
  await expect(widget(page, "Amount by customer")).toBeVisible();
  const { body } = await api.get(`/canvases/${page.url().split("/").at(-1)}`, { schema: Canvas });
  expect(body.widgets.map(({ title, layout: { x, y, w, h } }) => [title, x, y, w, h])).toEqual([
    ["Total", 0, 0, 3, 3],
    ["Amount by customer", 3, 0, 6, 5],
  ]);
}

async function partIsPicked(page: Page, api: ApiClient): Promise<void> {
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Add widget" }).click();
  await dialog.getByRole("button", { name: /Result/ }).click();
  await dialog.getByRole("button", { name: "Change it: Total", exact: true }).click();
  const preview = widget(page, "Total").last();
  await expect(preview).toContainText("1,204.5");
  const tree = dialog.getByRole("tree", { name: "Pick: Part to show" });
  await tree.getByRole("treeitem", { name: /^orders: 3 items/ }).click();
  await expect(dialog.getByRole("textbox", { name: "Part to show" })).toHaveValue("$.orders");
  await expect(preview).toContainText("A number shows one value.");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("textbox", { name: "Part to show" })).toHaveValue("$.orders[0].amount");
  await expect(preview).toContainText("12.5");
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);

  await dialog.getByRole("textbox", { name: "Part to show" }).fill("$[");
  await expect(dialog.getByRole("alert")).toContainText("JSONPath");
  await expect(dialog.getByRole("button", { name: "Add to the canvas" })).toBeDisabled();
  await dialog.getByRole("textbox", { name: "Part to show" }).fill("$.total");
  await dialog.getByLabel("Title").fill("Turnover");
  await dialog.getByLabel("Unit").fill("€");
  await dialog.getByRole("button", { name: "Add to the canvas" }).click();
  await expect(widget(page, "Turnover")).toContainText("€");

  await page.getByRole("button", { name: "Actions of Turnover" }).click();
  await page.getByRole("menuitem", { name: "Change" }).click();
  await dialog.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "Text" }).click();
  await dialog.getByRole("button", { name: "Done" }).click();
  await saved(page);
  const { body } = await api.get(`/canvases/${page.url().split("/").at(-1)}`, { schema: Canvas });
  expect(body.widgets[2]).toMatchObject({ type: "text", title: "Turnover", options: { path: "$.total" } });
}

/** Text widgets beside each other, saved. */
async function canvasOf(api: ApiClient, workflow_id: string, titles: readonly string[]): Promise<Canvas> {
  const widgets = titles.map((title, index) => ({
    ...{ id: title.toLowerCase(), type: "text", title, workflow_id, output_label: null },
    layout: { x: (index % 2) * 6, y: Math.floor(index / 2) * 4, w: 6, h: 4 },
  }));
  return (await api.post("/canvases", { name: "Board", widgets }, { schema: Canvas, status: 201 })).body;
}

/** Places on the server in a few characters: `a 0,0 6x4`. */
const places = async (api: ApiClient, id: string) =>
  (await api.get(`/canvases/${id}`, { schema: Canvas })).body.widgets.map(
    ({ title, layout: { x, y, w, h } }) => `${title} ${x},${y} ${w}x${h}`,
  );

async function dragBy(page: Page, what: Locator, x: number, y: number): Promise<void> {
  const box = await what.boundingBox();
  if (!box) throw new Error("nothing to drag");
  const from = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + x / 2, from.y + y / 2, { steps: 3 });
  await page.mouse.move(from.x + x, from.y + y, { steps: 3 });
  await page.mouse.up();
}

test("widgets are arranged by pointer and keys, and what somebody else does meanwhile, or an absent service, loses none of it", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const { id: flow } = await workflow({});
  const { id } = await canvasOf(api, flow, ["A", "B"]);
  await page.goto(`/canvases/${id}`);
  await expect(page.getByRole("button", { name: "Move" })).toHaveCount(0);
  await page.getByRole("button", { name: "Edit" }).click();

  await test.step("widgets are dragged and resized, by keys as well, duplicated, deleted, and all of it taken back", async () => {
    const [a, b] = [widget(page, "A"), widget(page, "B")];
    const width = (await b.boundingBox())?.width ?? 0;
    await dragBy(page, a.getByRole("button", { name: "Move" }), width + 16, 0);
    await saved(page);
    await expect.poll(() => places(api, id)).toEqual(["A 6,0 6x4", "B 0,0 6x4"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await dragBy(page, b.getByRole("button", { name: "Resize" }), -width / 2, 128);
    await saved(page);
    await expect.poll(() => places(api, id)).toEqual(["A 0,0 6x4", "B 6,0 3x6"]);

    await a.getByRole("button", { name: "Move" }).focus();
    for (let step = 0; step < 6; step++) await page.keyboard.press("ArrowDown");
    await expect(page.getByRole("status").filter({ hasText: "A: column 1, row 7, 6 wide, 4 high" })).toBeAttached();
    await expect(a.getByRole("button", { name: "Move" })).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(a.getByRole("button", { name: "Resize" })).toBeFocused();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowUp");
    await saved(page);
    await expect.poll(() => places(api, id)).toEqual(["A 0,6 7x3", "B 6,0 3x6"]);
    await page.keyboard.press("Escape");
    await saved(page);
    await expect.poll(() => places(api, id)).toEqual(["A 0,6 6x4", "B 6,0 3x6"]);

    await page.getByRole("button", { name: "Actions of B" }).click();
    await page.getByRole("menuitem", { name: "Duplicate" }).click();
    await expect(b).toHaveCount(2);
    await page.keyboard.press("ControlOrMeta+z");
    await expect(b).toHaveCount(1);
    await page.keyboard.press("ControlOrMeta+Shift+z");
    await expect(b).toHaveCount(2);
    await page.getByRole("button", { name: "Actions of A" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await expect(a).toHaveCount(0);
    await saved(page);
    expect((await places(api, id)).map((place) => place.slice(0, 1))).toEqual(["B", "B"]);
    await page.keyboard.press("ControlOrMeta+z");
    await expect(a).toHaveCount(1);
    await saved(page);
  });

  await test.step("what two people do on one canvas is all there, and both are told", async () => {
    const { widgets } = (await api.get(`/canvases/${id}`, { schema: Canvas })).body;
    const third = { ...widgets[0], id: "c", title: "C", layout: { x: 0, y: 4, w: 6, h: 4 } };
    await api.put(`/canvases/${id}`, { widgets: [...widgets, third] }, { status: 200 });
    await page.getByRole("button", { name: "Actions of A" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await expect(page.getByText("Someone else changed this dashboard too. Both changes are shown.")).toBeVisible();
    await expect(widget(page, "C")).toBeVisible();
    await saved(page);
    expect((await places(api, id)).map((place) => place.slice(0, 1)).toSorted()).toEqual(["B", "B", "C"]);
  });

  await test.step("while the service is away nothing is lost, and the state says so in words", async () => {
    const others = (await places(api, id)).filter((place) => !place.startsWith("C"));
    await page.route("**/api/trpc/canvases.update*", (route) => route.abort());
    await page.getByRole("button", { name: "Actions of C" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await expect(page.getByText(/Autosave failed, retrying in \d+ s/)).toBeVisible();
    await page.unroute("**/api/trpc/canvases.update*");
    await saved(page);
    await expect.poll(() => places(api, id)).toEqual(others);
  });
});

test("a whole canvas is taken in one click", { tag: "@main" }, async ({ signedInPage: page, api, workflow, executed }) => {
  const flow = await workflow({
    name: "Answers",
    ...giving({ score: 0.8, topic: "tea", answer: `A long answer. ${"It goes on. ".repeat(12)}` }),
  });
  await executed(flow, {});
  const { body } = await api.post("/canvases", { name: "Quality" }, { schema: Canvas, status: 201 });
  await page.goto(`/canvases/${body.id}`);
  await page.getByRole("button", { name: /Result/ }).click();
  await page
    .getByRole("region", { name: "Or a whole canvas of it" })
    .getByRole("button", { name: /Quality of answers/ })
    .click();
  await saved(page);
  expect(await places(api, body.id)).toEqual([
    "Score, average of 30 days 0,0 4x3",
    "Score, lowest of 30 days 4,0 4x3",
    "Score, count of 30 days 8,0 4x3",
    "Score by day, average 0,3 12x5",
    "Result of each run 0,8 6x6",
    "Answer 6,8 6x6",
  ]);
});

test("what a run gave goes on a canvas from elsewhere, and on a phone", async ({ signedInPage: page, api, workflow, executed }) => {
  const flow = await workflow({ name: "Sales", ...giving(SALES) });
  const { id: run } = await executed(flow, {});

  await test.step("from a run's result, and from an Output node, one goes on a canvas", async () => {
    await page.goto(`/runs/${run}`);
    await page.getByRole("button", { name: "Add to a canvas" }).click();
    const dialog = page.getByRole("dialog", { name: "Add to a canvas" });
    await expect(dialog.getByRole("combobox", { name: "Canvas" })).toHaveText("A new canvas");
    await dialog.getByRole("button", { name: "Add Number: Total", exact: true }).click();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await expect(page).toHaveURL(/\/canvases\//);
    await expect(widget(page, "Total")).toContainText("1,204.5");
    const canvasId = page.url().split("/").at(-1) ?? "";

    await page.goto(`/workflows/${flow.id}`);
    await node(page, "Output Result").click();
    await page.getByRole("button", { name: "Add to a canvas" }).click();
    await expect(dialog.getByRole("combobox", { name: "Canvas" })).toHaveText("Result");
    await dialog.getByRole("button", { name: "Add Bar chart: Amount by customer" }).click();
    await expect(dialog).toBeHidden();
    expect(await places(api, canvasId)).toEqual(["Total 0,0 3x3", "Amount by customer 3,0 6x5"]);
  });

  await test.step("on a phone widgets stand in reading order, and are added and changed, not dragged", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    // What an empty one proposes is not cut off at its edge.
    const { body: empty } = await api.post("/canvases", { name: "Empty" }, { schema: Canvas, status: 201 });
    await page.goto(`/canvases/${empty.id}`);
    await expect(page.getByRole("button", { name: /Result/ })).toBeInViewport({ ratio: 1 });
    const { id } = await canvasOf(api, flow.id, ["A", "B"]);
    await page.goto(`/canvases/${id}`);
    await page.getByRole("button", { name: "Add widget" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Result/ })
      .click();
    await page.getByRole("button", { name: "Add Number: Total", exact: true }).click();
    await saved(page);
    const [a, b, total] = await Promise.all(["A", "B", "Total"].map(async (name) => (await widget(page, name).boundingBox())?.y ?? 0));
    expect([a, b, total]).toEqual([a, b, total].toSorted((one, other) => (one ?? 0) - (other ?? 0)));
    await expect(page.getByRole("button", { name: "Move" })).toHaveCount(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await axeFaultsInBothThemes(page)).toEqual([]);
  });
});
