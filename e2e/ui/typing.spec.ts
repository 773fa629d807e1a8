import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });

const trigger = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } };

/**
 * Marks what React has drawn on the canvas: the canvas itself, every card and every edge, apart from one node and the bar at the
 * foot, which names what can be undone. What is drawn again gets new properties.
 */
const watchCanvas = (area: Locator, apartFrom: string) =>
  area.evaluate((root, name) => {
    const propsOf = (element: Element) => Reflect.get(element, Object.keys(element).find((key) => key.startsWith("__reactProps$")) ?? "");
    const isOwn = (element: Element) => element.closest(`[data-id="${name}"]`) !== null;
    const all = [root, ...root.querySelectorAll("*")].filter((element) => propsOf(element));
    const others = all.filter((element) => !isOwn(element) && !element.closest("[role=toolbar]"));
    const own = all.filter(isOwn);
    const before = new Map(all.map((element) => [element, propsOf(element)]));
    const drawnAgain = (elements: Element[]) =>
      elements.filter((element) => propsOf(element) !== before.get(element)).map((element) => element.outerHTML.slice(0, 120));
    Object.assign(window, { othersDrawn: () => drawnAgain(others), ownDrawn: () => drawnAgain(own) });
    return others.length;
  }, apartFrom);

test("typing in a field draws nothing of the canvas again but the card of its own node", async ({
  signedInPage: page,
  agent,
  workflow,
}) => {
  const { id: agent_id } = await agent({ name: "Scout", model: "echo" });
  const ids = Array.from({ length: 12 }, (_, index) => `Step ${index + 1}`);
  const steps = ids.map((id, index) => ({
    id,
    type: "agentNode",
    position: { x: (index + 1) * 330, y: 0 },
    data: { label: id, agent_id, input: "go" },
  }));
  const edges = ids.map((id, index) => ({ id: `to ${id}`, source: ids[index - 1] ?? "t", target: id }));
  const flow = await workflow({ nodes: [trigger, ...steps], edges });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent Step 2")).toContainText("Scout"); // loaded after the graph, and drawn on every card
  await node(page, "Agent Step 2").click();
  const input = panel(page).getByLabel("Input", { exact: true });
  await input.press("End");
  expect(await watchCanvas(canvas(page), "Step 2")).toBeGreaterThan(100);
  const drawn = (what: "othersDrawn" | "ownDrawn") => page.evaluate((name) => (Reflect.get(window, name) as () => string[])(), what);
  await input.pressSequentially(" and look well at all");
  await expect(input).toHaveValue("go and look well at all");
  await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
  expect(await drawn("othersDrawn")).toEqual([]);
  // The watch sees what is drawn: the node's own card by the typing, another one when it is selected.
  expect(await drawn("ownDrawn")).not.toEqual([]);
  await node(page, "Agent Step 3").click();
  await expect.poll(() => drawn("othersDrawn")).not.toEqual([]);
});
