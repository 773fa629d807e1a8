import type { Locator, Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

const tree = (page: Page) => page.getByRole("tree", { name: "Outline of the workflow" });
const line = (page: Page, name: string | RegExp) => tree(page).getByRole("treeitem", { name });
const told = (page: Page) => canvas(page).locator("[data-announcer]");

/** The outline as it is read: two spaces for each level, then the name. */
const read = (outline: Locator) =>
  outline
    .getByRole("treeitem")
    .evaluateAll((items) =>
      items.map(
        (item) =>
          `${"  ".repeat(Number(item.ariaLevel) - 1)}${(item.querySelector(".sr-only")?.textContent ?? item.textContent ?? "").trim()}`,
      ),
    );

test("the workflow is read and changed in the outline by keyboard alone, and undone", { tag: "@main" }, async ({
  signedInPage: page,
  agent,
  workflow,
}) => {
  const { id: agent_id } = await agent({ name: "Scout", model: "echo" });
  const graph = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Research: ["agent", { agent_id }],
      Enough: ["branch", { condition: "len(output) > 5" }],
      Publish: ["agent", { agent_id }],
      Improve: ["agent", { agent_id }],
      Result: ["output"],
    },
    ["Start>Research", "Research>Enough", "Enough.true>Publish", "Enough.false>Improve", "Publish>Result", "Improve>Result"],
  );
  const flow = await workflow({ name: "Report", ...graph });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent Research")).toBeVisible();
  await page.keyboard.press("o");
  await expect(line(page, "Trigger Start")).toBeFocused();
  expect(await read(tree(page))).toEqual([
    "Trigger Start",
    "Agent Research",
    "Branch Enough",
    "  If true",
    "    Agent Publish",
    "    continues at Result",
    "  If false",
    "    Agent Improve",
    "    continues at Result",
    "Output Result, after 2 paths",
  ]);

  // Walking: one selection with the canvas, groups that close, letters that lead to a name.
  await page.keyboard.press("ArrowDown");
  await expect(line(page, "Agent Research")).toHaveAttribute("aria-selected", "true");
  await expect(node(page, "Agent Research")).toHaveClass(/selected/);
  await page.keyboard.type("pub");
  await expect(line(page, "Agent Publish")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(line(page, "If true")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(line(page, "If true")).toHaveAttribute("aria-expanded", "false");
  await expect(line(page, "Agent Publish")).toBeHidden();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(line(page, "Output Result")).toBeFocused();

  // Renaming, inserting, changing places, connecting, deleting.
  await page.keyboard.press("Home");
  await expect(line(page, "Trigger Start")).toBeFocused();
  // Keys that come within one frame.
  await tree(page).evaluate(async ({ ownerDocument }) => {
    for (const key of ["ArrowDown", "F2"]) {
      ownerDocument.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      await Promise.resolve();
    }
  });
  await page.getByRole("textbox", { name: "Step name" }).fill("Enough");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert").filter({ hasText: "called “Enough”" }).or(tree(page).getByRole("alert"))).toBeVisible();
  await page.getByRole("textbox", { name: "Step name" }).fill("Search");
  await page.keyboard.press("Enter");
  await expect(line(page, "Agent Search")).toBeFocused();
  await expect(node(page, "Agent Search")).toBeVisible();
  await page.keyboard.press("Alt+n");
  await page.getByRole("combobox", { name: "Search nodes" }).fill("output");
  await page.keyboard.press("Enter");
  await expect(line(page, "Output")).not.toHaveCount(0);
  await expect(tree(page).locator(":focus")).toContainText("Output");
  expect((await read(tree(page))).slice(0, 4)).toEqual(["Trigger Start", "Agent Search", "Output", "Branch Enough"]);
  await page.keyboard.press("Alt+ArrowUp");
  await expect(told(page)).toContainText("Output moved up");
  await expect(tree(page).locator(":focus")).toContainText("Output"); // its line is moved in the page, and focused anew
  expect((await read(tree(page))).slice(0, 4)).toEqual(["Trigger Start", "Output", "Agent Search", "Branch Enough"]);
  await page.keyboard.press("Alt+ArrowUp");
  await expect(told(page)).toContainText("A Trigger cannot change places with another step.");
  await page.keyboard.press("Alt+c");
  await page.getByRole("combobox", { name: "Connect Output to…" }).fill("Result");
  await page.keyboard.press("Enter");
  await expect(told(page)).toContainText("Output connected to Output Result");
  await expect(tree(page).locator(":focus")).toContainText("Output");
  await page.keyboard.press("Delete");
  await expect(told(page)).toContainText("Output deleted");
  await expect(tree(page).locator(":focus")).toHaveCount(1);
  for (const name of ["Undone: delete Output", "Undone: connect Output to Result", "Undone: move Output up", "Undone: add Output"]) {
    await page.keyboard.press("Control+z");
    await expect(told(page)).toContainText(name);
  }
  expect((await read(tree(page))).slice(0, 3)).toEqual(["Trigger Start", "Agent Search", "Branch Enough"]);

  await line(page, "Agent Improve").focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("tab", { name: "Node", exact: true })).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("textbox", { name: "Node name" })).toHaveValue("Improve");
});
