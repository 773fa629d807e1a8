import type { Locator, Page } from "@playwright/test";
import { manyKinds } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });

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
  // Short: a card that grows with its text is measured anew, and the canvas with it.
  const flow = await workflow(manyKinds(agent_id, "go"));
  await page.goto(`/workflows/${flow.id}`);
  // Loaded after the graph, and drawn on every card of an agent.
  for (const name of ["Agent Ask", "Agent Step"]) await expect(node(page, name)).toContainText("Scout");

  await test.step("in a text: nothing else is given new properties", async () => {
    await node(page, "Agent Ask").click();
    const input = panel(page).getByLabel("Input", { exact: true });
    await input.press("End");
    expect(await watchCanvas(canvas(page), "Ask")).toBeGreaterThan(100);
    const drawn = (what: "othersDrawn" | "ownDrawn") => page.evaluate((name) => (Reflect.get(window, name) as () => string[])(), what);
    await input.pressSequentially(" and look well at all");
    await expect(input).toHaveValue("go and look well at all");
    await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
    expect(await drawn("othersDrawn")).toEqual([]);
    // The watch sees what is drawn: the node's own card by the typing, another one when it is selected.
    expect(await drawn("ownDrawn")).not.toEqual([]);
    await node(page, "Branch Enough").click();
    await expect.poll(() => drawn("othersDrawn")).not.toEqual([]);
  });

  await test.step("in a condition: no other card is changed in the page", async () => {
    const changes = await page.evaluateHandle(() => {
      const seen: string[] = [];
      const watcher = new MutationObserver((records) => {
        for (const { target } of records) {
          const card = (target instanceof Element ? target : target.parentElement)?.closest<HTMLElement>(".react-flow__node");
          if (card) seen.push(card.getAttribute("aria-label") ?? "");
        }
      });
      const flow = document.querySelector(".react-flow__viewport");
      if (flow) watcher.observe(flow, { subtree: true, childList: true, characterData: true, attributes: true });
      return seen;
    });
    await panel(page).getByLabel("Condition", { exact: true }).pressSequentially(" and True");
    await expect(node(page, "Branch Enough")).toContainText("and True");
    // The one whose sentence says what was typed is the only one.
    expect([...new Set(await changes.jsonValue())]).toEqual(["Branch Enough"]);
  });
});
