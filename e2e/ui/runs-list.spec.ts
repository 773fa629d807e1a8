import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";

// The runs list narrowed, named, and acted on as a whole; two runs side by side, and a fork of one.

const position = { x: 0, y: 0 };
const start = { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } };
const graph = (value: string) => ({
  nodes: [start, { id: "o", type: "outputNode", position: { x: 360, y: 0 }, data: { label: "Answer", value } }],
  edges: [{ id: "e", source: "t", target: "o" }],
});

test("runs are found by words and filters that stand in the address, kept as a view, and dealt with as a whole", async ({
  signedInPage: page,
  workflow,
  executed,
}) => {
  const looms = await workflow({ name: "Looms", ...graph("A loom called {{trigger.output}}") });
  const other = await workflow({ name: "Other things", ...graph("Nothing of the sort") });
  for (const input of ["Jacquard", "Dobby", "Rigid heddle"]) await executed(looms, { input });
  await executed(other);

  await page.goto("/runs");
  const table = page.getByRole("table", { name: "Runs" });
  const rows = table.getByRole("row");
  await expect(rows).toHaveCount(5);
  const titles = await page.evaluateHandle(() => {
    const seen = new Set([document.title]);
    new MutationObserver(() => seen.add(document.title)).observe(document.head, { childList: true, subtree: true, characterData: true });
    return seen;
  });
  await page.getByRole("searchbox", { name: "Search runs" }).fill("jacq");
  await expect(rows).toHaveCount(2);
  await expect(table.locator("mark").first()).toHaveText(/jacq/i);
  await expect(page).toHaveURL(/q=jacq/);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows).toHaveCount(5);

  await page.getByRole("combobox", { name: "Workflow", exact: true }).click();
  await page.getByRole("combobox", { name: "Search workflows" }).fill("loo");
  await page.getByRole("option", { name: "Looms" }).click();
  await page.getByRole("button", { name: "Status: Any status" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Completed" }).click();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Status: Completed" })).toBeVisible();
  await expect(rows).toHaveCount(4);
  expect(await titles.evaluate((seen) => [...seen]), "the page keeps its title").toEqual(["Runs · Treadle"]);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("textbox", { name: "Name of the view" }).fill("Looms that ended");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("button", { name: "Looms that ended" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("button", { name: "Looms that ended", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`workflow=${looms.id}`));
  await page.reload();
  await expect(rows).toHaveCount(4);

  await table.getByRole("checkbox", { name: "Select all on this page" }).check();
  const bar = page.getByRole("region", { name: "Selected runs" });
  await expect(bar).toContainText("3 selected");
  await bar.getByRole("button", { name: "Run again" }).click();
  const again = page.getByRole("alertdialog", { name: "Run 3 runs again?" });
  await again.getByRole("button", { name: "Run again" }).click();
  await expect(page.getByText("3 of 3 runs started again.")).toBeVisible();
  await expect(rows).toHaveCount(7);
  await table.getByRole("checkbox", { name: "Select all on this page" }).check();
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alertdialog", { name: "Delete 6 runs?" }).getByRole("button", { name: "Delete 6 runs" }).click();
  await expect(page.getByText("6 of 6 runs deleted.")).toBeVisible();
  await expect(page.getByText("No run matches these filters.")).toBeVisible();

  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows).toHaveCount(2);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});

test("a past run is opened on the canvas, changed and replayed, and both stand side by side; another input is one dialog away", async ({
  signedInPage: page,
  agent,
  workflow,
  executed,
}) => {
  const { id: agent_id } = await agent({ name: "Echoer", model: "echo" });
  const flow = await workflow({
    name: "Forked",
    nodes: [
      start,
      { id: "a", type: "agentNode", position: { x: 360, y: 0 }, data: { label: "First", agent_id, input: "one {{trigger.output}}" } },
      { id: "b", type: "agentNode", position: { x: 720, y: 0 }, data: { label: "Second", agent_id, input: "two {{First.output}}" } },
      { id: "o", type: "outputNode", position: { x: 1080, y: 0 }, data: { label: "Answer", value: "{{Second.output}}" } },
    ],
    edges: [
      { id: "ta", source: "t", target: "a" },
      { id: "ab", source: "a", target: "b" },
      { id: "bo", source: "b", target: "o" },
    ],
  });
  const run = await executed(flow, { input: "tea" });
  await page.goto(`/runs/${run.id}`);
  await page.getByRole("link", { name: "Open on canvas" }).click();
  await expect(page.getByRole("button", { name: "Replay changes" })).toBeDisabled();
  await node(page, "Agent Second").click();
  const field = page.getByRole("textbox", { name: "Input" });
  await field.fill("three {{First.output}}");
  await page.getByRole("button", { name: "Replay changes" }).click();

  await expect(page.getByRole("heading", { name: "Compare runs" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Fork" }).first()).toContainText("Completed");
  await expect(page.getByRole("heading", { name: "2 nodes of 4 differ" })).toBeVisible();
  const second = page.getByRole("listitem").filter({ hasText: "Second" });
  await expect(second).toContainText("Changed");
  await expect(second.locator("del").filter({ hasText: "two" }).first()).toBeVisible();
  await expect(second.locator("ins").filter({ hasText: "three" }).first()).toBeVisible();
  await page.getByRole("checkbox", { name: "All nodes" }).check();
  await expect(page.getByRole("listitem").filter({ hasText: "First" }).first()).toContainText("Same result");
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  await page.getByRole("link", { name: "Original", exact: true }).click();
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await page.getByRole("menuitem", { name: /another input/ }).click();
  const dialog = page.getByRole("dialog", { name: "Run again with another input" });
  await expect(dialog.getByRole("textbox", { name: "Input" })).toHaveValue("tea");
  await dialog.getByRole("textbox", { name: "Input" }).fill("milk");
  await dialog.getByRole("button", { name: "Start run" }).click();
  await expect(page.getByRole("link", { name: "Compare both" })).toBeVisible();
  await expect(page.getByRole("complementary", { name: "Values" })).toContainText("milk");
  await page.getByRole("main").getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Compare…" }).click();
  await page
    .getByRole("dialog", { name: "Compare with" })
    .getByRole("link", { name: /what this one repeats/ })
    .click();
  await expect(page.getByRole("region", { name: "Input" })).toContainText("milk");
});

test("a run from a node with another input asks about results of the previous one", async ({ signedInPage: page, workflow, executed }) => {
  const graph = graphOf(
    {
      t: ["trigger"],
      First: ["code", { code: "text", inputs: [{ name: "text", value: "one {{trigger.output}}" }] }],
      Second: ["code", { code: "text", inputs: [{ name: "text", value: "two {{First.output}}" }] }],
    },
    ["t>First", "First>Second"],
  );
  const run = await executed(await workflow({ name: "Two steps", ...graph }), { input: "tea" });
  const dialog = page.getByRole("dialog", { name: "Run again with another input" });
  const values = page.getByRole("complementary", { name: "Values" });
  const startWithMilk = async () => {
    await page.goto(`/runs/${run.id}/fork?input=1&from=Second`);
    await dialog.getByRole("textbox", { name: "Input" }).fill("milk");
    await dialog.getByRole("button", { name: "Start run" }).click();
    await expect(dialog.getByRole("alert")).toContainText('The result of "First" is based on the original run');
  };

  await startWithMilk();
  await dialog.getByRole("button", { name: "Keep previous results" }).click();
  await expect(values).toContainText("two one tea");

  await startWithMilk();
  await dialog.getByRole("button", { name: "Run what depends on the input" }).click();
  await expect(values).toContainText("two one milk");
});
