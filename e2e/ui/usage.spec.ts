import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";

// What was used and what it cost, and what models cost.

test("usage says that a price is not known, leads to the prices, and shows what a run costs from then on", { tag: "@main" }, async ({
  signedInPage: page,
  agent,
  workflow,
  executed,
}) => {
  const { id: agent_id } = await agent({ name: "Speaker", model: "echo" });
  const position = { x: 0, y: 0 };
  const flow = await workflow({
    name: "Echoes",
    nodes: [
      { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
      { id: "a", type: "agentNode", position, data: { label: "Ask", agent_id, input: "one two three" } },
    ],
    edges: [{ id: "e", source: "t", target: "a" }],
  });
  await executed(flow);
  await page.goto("/settings/usage");
  const total = page.getByLabel("Total");
  await expect(total).toHaveText(/Cost.*price unknown.*Calls.*1.*Input tokens.*3.*Output tokens.*4/);
  await expect(page.getByText("The price of 1 call is not known, so the cost is without it.")).toBeVisible();

  // A price may be begun before it is known whose models the project calls.
  const isBegun = Promise.withResolvers<void>();
  await page.route(/api\/trpc\/[^?]*llmKeys\.list[,?]/, async (route) => {
    await isBegun.promise;
    await route.continue();
  });
  await page.getByRole("link", { name: "Set prices" }).click();
  const prices = page.getByRole("region", { name: "Prices" });
  await prices.getByText(/^Built-in list of/).click();
  await prices.getByLabel("Search models").fill("haiku-4-5");
  await expect(prices.getByRole("table", { name: "Built-in prices" }).getByRole("row")).toHaveCount(2);
  await prices.getByRole("button", { name: "Add price" }).click();
  await expect(prices.getByRole("textbox", { name: "Model 1" })).toBeFocused();
  await prices.getByRole("textbox", { name: "Model 1" }).fill("ech*");
  isBegun.resolve();
  await expect(prices.getByRole("combobox", { name: "Price 1 is for" })).toHaveText("OpenAI-compatible");
  await page.unrouteAll({ behavior: "wait" }); // while requests pass through here, the browser takes nothing out of its cache
  await prices.getByLabel("Input price of ech*", { exact: true }).fill("100000");
  await prices.getByRole("button", { name: "Save prices" }).click();
  await expect(prices.getByRole("alert")).toContainText("Each price needs a model, and what input and output cost.");
  await prices.getByLabel("Output price of ech*").fill("50000");
  await prices.getByLabel("Cached input price of ech*").fill("10000");
  await prices.getByRole("button", { name: "Add price" }).click();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  // The second row is empty, and so is no price.
  await prices.getByRole("button", { name: "Save prices" }).click();
  await expect(page.getByText("Prices saved")).toBeVisible();
  await page.reload();
  await expect(prices.getByLabel("Cached input price of ech*")).toHaveValue("10000");

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "LLM keys" }).click();
  // Another key in its place is tried with the agent first; what was typed stays when it fails.
  await chooseOf(page, "Stand-in", "Replace value");
  const replacing = page.getByRole("dialog", { name: "New value for “Stand-in”" });
  await replacing.getByLabel("API key").fill("wrong-key");
  await replacing.getByRole("button", { name: "Replace key" }).click();
  await expect(replacing.getByRole("alert")).toContainText("answered 401");
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await expect(replacing.getByLabel("API key")).toHaveValue("wrong-key");
  await replacing.getByLabel("API key").fill("another-key-0123456789");
  await replacing.getByRole("button", { name: "Replace key" }).click();
  await expect(page.getByText("“Stand-in” has a new value")).toBeVisible();
  await expect(page.getByRole("row", { name: /Stand-in/ })).toContainText("ano••••6789");

  await executed(flow);
  await page.goto("/settings/usage?by=workflow");
  // 3 words in at 0.1 dollars, 4 out at 0.05.
  await expect(total).toHaveText(/Cost.*\$0\.50 and more.*Calls.*2.*Input tokens.*6.*Output tokens.*8/);
  const byWorkflow = page.getByRole("table", { name: "Usage by workflow" });
  await expect(byWorkflow.getByRole("row", { name: /Echoes/ })).toContainText("$0.50 and more");
  await page.getByRole("combobox", { name: "Group" }).click();
  await page.getByRole("option", { name: "By origin" }).click();
  await expect(page.getByRole("table", { name: "Usage by origin" }).getByRole("row", { name: /Runs/ })).toContainText("$0.50");
  await expect(page).toHaveURL(/by=source/);
});
