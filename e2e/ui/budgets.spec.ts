import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";

// From a budget to a run that waits for it, and what an admin does about that.

const position = { x: 0, y: 0 };

test("an admin sets a budget, a run waits at it, is allowed to spend more, and goes on", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  execute,
  executed,
  finished,
  llmKey,
}) => {
  const { id: agent_id } = await agent({ name: "Speaker", model: "echo" });
  const asks = { agent_id, input: "one two three" };
  const flow = await workflow({
    name: "Echoes",
    nodes: [
      { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
      { id: "a", type: "agentNode", position, data: { label: "Ask", ...asks } },
      { id: "b", type: "agentNode", position, data: { label: "Ask again", ...asks } },
    ],
    edges: [
      { id: "e", source: "t", target: "a" },
      { id: "f", source: "a", target: "b" },
    ],
  });
  // 3 words in and 4 out: 70 cents.
  const key = await llmKey();
  const price = { provider: key.provider, model: "echo", input_per_million: 100_000, output_per_million: 100_000 };
  await api.put("/prices", { items: [price] });

  await page.goto("/settings/budgets");
  const budgets = page.getByRole("region", { name: "Budgets" });
  await budgets.getByRole("button", { name: "Add budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Add budget" });
  await dialog.getByRole("button", { name: "Add budget" }).click();
  await expect(dialog.getByLabel("Monthly limit (US dollars)")).toBeFocused();
  await dialog.getByLabel("Monthly limit (US dollars)").fill("0.5");
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "Add budget" }).click();
  await expect(budgets.getByRole("listitem")).toContainText("$0 of $0.50 (0 %)");

  const execution_id = await execute(flow);
  await expect.poll(async () => (await api.get(`/executions/${execution_id}`)).body.status).toBe("paused");
  await page.goto(`/runs/${execution_id}`);
  await page.getByRole("button", { name: "Show", exact: true }).click();
  const question = page.getByRole("form", { name: "Decide: Spend more than the budget?" });
  await expect(page.getByText("This run has spent $0.70", { exact: false }).first()).toBeVisible();
  await question.getByLabel("Allow a further (US dollars)").fill("2");
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await question.getByRole("button", { name: "Allow", exact: true }).click();
  expect(await finished(execution_id)).toMatchObject({ status: "completed", cost: 1.4 });

  await page.goto("/settings/budgets");
  await expect(budgets.getByRole("listitem")).toContainText("$1.40 of $0.50");
  await page.getByRole("button", { name: /^Notifications/ }).click();
  await expect(page.getByText("The budget of this project is used up", { exact: false })).toBeVisible();
  await page.keyboard.press("Escape");

  // On a phone nothing is beside the screen.
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  // An agent's page says what it has cost, and leads to a budget of its own; one that stops fails its node.
  await page.goto(`/agents/${agent_id}`);
  await expect(page.locator("main header").getByText("Spent $1.40 this month")).toBeVisible();
  await page.getByRole("link", { name: "Set a budget" }).click();
  await dialog.getByLabel("Monthly limit (US dollars)").fill("1");
  await dialog.getByRole("combobox", { name: "At the limit" }).click();
  await page.getByRole("option", { name: /Runs stop/ }).click();
  // What somebody else has set meanwhile stays.
  const project = { scope: "project", monthly_limit: 0.5, action: "pause" };
  await api.put("/budgets", { items: [project, { scope: "llm_key", id: key.id, monthly_limit: 90, action: "pause" }] });
  await dialog.getByRole("button", { name: "Add budget" }).click();
  await expect(budgets.getByRole("listitem")).toHaveCount(3);
  await expect(budgets.getByRole("listitem").filter({ hasText: "Speaker" })).toContainText("$1.40 of $1.00");
  expect(await executed(flow)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("The budget of the agent “Speaker” is used up"),
  });
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "LLM keys" }).click();
  await expect(page.getByText("Spent $1.40 of $90.00 this month")).toBeVisible();
});
