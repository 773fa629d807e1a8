import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { smallTargets } from "#e2e/ui/small-targets.ts";

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const zoom = async (page: Page) => Number.parseInt((await page.getByRole("button", { name: /^Zoom \d+ %/ }).textContent()) ?? "", 10);

/** Where something is on the screen, once it has stopped moving. */
async function boxOf(what: Locator) {
  let before = "";
  await expect
    .poll(async () => {
      const now = JSON.stringify(await what.boundingBox());
      const isStill = now === before;
      before = now;
      return isStill;
    })
    .toBe(true);
  return JSON.parse(before) as { x: number; y: number; width: number; height: number };
}

/** True for a card of which all can be seen, above the bar at the foot of the canvas. */
async function isWhollyIn(page: Page, card: Locator): Promise<boolean> {
  const [box, area] = [await boxOf(card), await boxOf(canvas(page))];
  const isWithin = box.x >= area.x && box.x + box.width <= area.x + area.width;
  return isWithin && box.y >= area.y && box.y + box.height <= area.y + area.height;
}

const output = (index: number) => ({
  id: `o${index}`,
  type: "outputNode",
  position: { x: 330 * index, y: 0 },
  data: { label: `Step ${index}`, value: "words" },
});
/** A trigger and so many steps, one after the other. */
function row(steps: number) {
  const nodes = [
    { id: "o0", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } },
    ...Array.from({ length: steps }, (_, index) => output(index + 1)),
  ];
  const edges = nodes.slice(1).map(({ id }, index) => ({ id: `e${index}`, source: "o0", target: id }));
  return { nodes, edges };
}

test("the editor gives its room to the work: a rail, panels that come when they are needed, a first view that can be read", async ({
  signedInPage: page,
  workflow,
}) => {
  const flow = await workflow(row(19));
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Trigger Start")).toBeVisible();
  const rail = page.getByRole("navigation", { name: "Main" });
  expect((await boxOf(rail)).width).toBeLessThanOrEqual(48);
  await expect(panel(page)).toBeHidden();
  expect((await boxOf(canvas(page))).width).toBeGreaterThanOrEqual(1350);
  expect(await zoom(page)).toBeGreaterThanOrEqual(60);
  const start = await boxOf(node(page, "Trigger Start"));
  expect(start.x - (await boxOf(canvas(page))).x).toBeLessThan(120);

  // The rest is a step away, and the whole a button.
  const more = canvas(page).getByRole("button", { name: /more nodes/ });
  await expect(more).toHaveText(/^1\d more nodes$/);
  await more.click();
  await expect(node(page, "Output Step 9")).toBeInViewport({ ratio: 1 });
  await page.getByRole("button", { name: "Fit to screen" }).click();
  await expect(more).toBeHidden();
  await expect.poll(() => zoom(page)).toBeLessThan(60);
  // From far a card has its name alone, large enough to be read.
  const name = node(page, "Output Step 9").getByText("Step 9");
  const drawn = await name.evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize));
  const seen = drawn * ((await zoom(page)) / 100);
  expect(seen === 0 || (await name.isHidden()) || seen >= 8.5).toBe(true);

  // What is selected has its panel, and stays in view beside it and above the panel of a run.
  await page.reload();
  const card = node(page, "Output Step 4");
  await expect(card).toBeVisible();
  await card.click();
  await expect(panel(page)).toBeVisible();
  expect((await boxOf(canvas(page))).width).toBeGreaterThanOrEqual(1050);
  expect(await isWhollyIn(page, card)).toBe(true);
  await page.getByRole("button", { name: "Open the run panel" }).click();
  await page.getByRole("separator", { name: "Resize the run panel" }).press("End");
  expect(await isWhollyIn(page, card)).toBe(true);
  await page.getByRole("separator", { name: "Resize the run panel" }).dblclick();

  // Folded the panel stays folded, here and after a reload, until somebody opens it.
  await panel(page).getByRole("button", { name: "Fold the side panel" }).click();
  await expect(panel(page)).toBeHidden();
  await node(page, "Output Step 2").click();
  await expect(panel(page)).toBeHidden();
  await page.reload();
  await expect(node(page, "Output Step 2")).toBeVisible();
  await node(page, "Output Step 2").click();
  await expect(panel(page)).toBeHidden();
  await page.getByRole("button", { name: "Open the side panel" }).click();
  await expect(panel(page).getByLabel("Value", { exact: true })).toBeVisible();

  // Elsewhere the navigation is as wide as it was, and the editor remembers its own.
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Workflows" }).first().click();
  await expect.poll(async () => (await boxOf(rail)).width).toBeGreaterThan(200);
  await page.goBack();
  await expect.poll(async () => (await boxOf(rail)).width).toBeLessThanOrEqual(48);
});

test("nodes are added where one points, and one that is new is not born with faults", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow(row(1));
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Trigger Start")).toBeVisible();
  const area = await boxOf(canvas(page));
  const at = { x: area.x + area.width * 0.7, y: area.y + area.height * 0.2 };
  await page.mouse.dblclick(at.x, at.y);
  const search = page.getByRole("combobox", { name: "Search nodes" });
  await search.fill("agent");
  await page.keyboard.press("Enter");
  const added = node(page, "Agent");
  await expect(added).toBeFocused();
  const box = await boxOf(added);
  expect(box.x < at.x && box.x + box.width > at.x && Math.abs(box.y - at.y) < 80).toBe(true);

  // Its list counts what it lacks; the card and the panel leave one alone until one has left it.
  await expect(page.getByRole("button", { name: /^\d problems?(, \d warnings?)?$/ })).toBeVisible();
  await expect(added).not.toHaveAccessibleDescription(/problem/);
  await expect(panel(page).getByText("Choose an agent.")).toBeHidden();
  await node(page, "Trigger Start").click();
  await expect(added).toHaveAccessibleDescription(/problem/);

  await page.mouse.click(area.x + area.width * 0.2, area.y + area.height * 0.75, { button: "right" });
  await page.getByRole("menuitem", { name: "Add node" }).click();
  await search.fill("output");
  await page.keyboard.press("Enter");
  const below = await boxOf(node(page, "Output"));
  expect(below.y).toBeGreaterThan(area.y + area.height / 2);
});

test("the canvas has a short bar, and on a phone a run leaves it its room", { tag: "@main" }, async ({
  signedInPage: page,
  agent,
  workflow,
  executed,
}) => {
  await agent({ model: "echo", description: "Reads what others have written, and says in three lines what is to be changed" });
  const flow = await workflow(row(3));
  const run = await executed(flow, { input: "tea" });
  await page.goto(`/workflows/${flow.id}?run=${run.id}`);
  const bar = page.getByRole("toolbar", { name: "Canvas" }).getByRole("button");
  await expect(bar.filter({ hasText: "View" })).toBeVisible();
  expect(await bar.filter({ hasNotText: /\S/ }).count()).toBeLessThanOrEqual(7);
  await page.setViewportSize({ width: 390, height: 844 });
  await page
    .getByRole("region", { name: "Run" })
    .getByRole("button", { name: /Step 1/ })
    .click();
  await expect(page.getByRole("button", { name: /^Explain/ })).toHaveCount(1);
  await expect.poll(async () => (await boxOf(canvas(page))).height).toBeGreaterThan(300);

  // What a thumb presses is large enough for it, on a screen that is touched.
  const browser = await page.context().newCDPSession(page);
  await browser.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  expect(await smallTargets(page)).toEqual([]);
  // A long description is cut short, and moves nothing out of the screen.
  await page.goto("/agents");
  await expect(page.getByRole("columnheader", { name: "Model" })).toBeInViewport({ ratio: 1 });
  await browser.detach();
  // Where the form of an agent has half of a small screen, what is chosen in it can still be read.
  await page.setViewportSize({ width: 1160, height: 720 });
  await page.getByRole("link", { name: /^Agent / }).click();
  expect((await boxOf(page.getByRole("combobox", { name: "LLM key" }))).width).toBeGreaterThan(150);
});
