import type { Page } from "@playwright/test";
import { expect, test } from "#e2e/fixtures.ts";
import { startTreadle } from "#e2e/server.ts";
import { node } from "#e2e/ui/locators.ts";

// The walk of a new user: an empty install, an owner, a key, an agent, a workflow drawn on the canvas, a run that is
// watched while it happens, and a reload in the middle of it.

const runPanel = (page: Page) => page.getByRole("region", { name: "Run", exact: true });

async function setUp(page: Page): Promise<void> {
  await page.goto("/");
  await expect(page).toHaveURL(/\/setup$/);
  await page.getByLabel("Your name").fill("Ana Weaver");
  await page.getByLabel("E-mail").fill("ana@example.com");
  await page.getByLabel("Password").fill("a long password");
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
}

const follow = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();

async function addKey(page: Page, modelUrl: string): Promise<void> {
  await follow(page, "LLM keys");
  await page.getByRole("button", { name: "Add key" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Provider").click();
  await page.getByRole("option", { name: "OpenAI-compatible" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("Local models");
  await dialog.getByLabel("API key").fill("a-key-of-the-stand-in");
  await dialog.getByLabel("Base URL").fill(modelUrl);
  await dialog.getByRole("button", { name: "Add key" }).click();
  await expect(dialog).toBeHidden();
}

async function createAgent(page: Page, name: string, model: string): Promise<void> {
  await follow(page, "Agents");
  await page.getByRole("link", { name: "New agent" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("LLM key").click();
  await page.getByRole("option", { name: /Local models/ }).click();
  await page.getByRole("combobox", { name: "Model" }).fill(model);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page).toHaveURL(/agents\/[0-9a-f-]{36}/);
}

async function rename(page: Page, field: string, name: string): Promise<void> {
  await page.getByRole("textbox", { name: field }).fill(name);
  await page.keyboard.press("Enter");
}

/** Draws trigger → agent → output with the palette, and configures it in the side panel. */
async function drawWorkflow(page: Page, agent: string): Promise<void> {
  await follow(page, "Workflows");
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await expect(node(page, "Trigger Start")).toBeVisible();
  await rename(page, "Workflow name", "Weaving news");
  await page.getByRole("button", { name: "Add node" }).click();
  await page.getByRole("combobox", { name: "Search nodes" }).fill("agent");
  await page.keyboard.press("Enter");
  // A new node takes the focus once it is drawn: then the field can have it.
  await expect(node(page, "Agent")).toBeFocused();
  await rename(page, "Node name", "Research");
  const panel = page.getByRole("complementary", { name: "Nodes and settings" });
  await panel.getByLabel("Agent", { exact: true }).click();
  await page.getByRole("option", { name: new RegExp(agent) }).click();
  await panel.getByLabel("Input", { exact: true }).fill("Find news about {{trigger.output}}");
  await panel.getByRole("button", { name: "Next step" }).click();
  await page.getByRole("combobox", { name: "Search nodes" }).fill("output");
  await page.keyboard.press("Enter");
  await expect(node(page, "Output")).toBeFocused();
  await rename(page, "Node name", "Brief");
}

test("from an empty install to a finished run", { tag: "@main" }, async ({ browser, modelServer }) => {
  test.setTimeout(120_000);
  const gate = `journey-${crypto.randomUUID()}`;
  const treadle = await startTreadle({ env: { RATE_LIMIT_PER_MINUTE: "0", RATE_LIMIT_BURST: "0" } });
  const context = await browser.newContext({ baseURL: treadle.url, reducedMotion: "no-preference" });
  const page = await context.newPage();
  try {
    await setUp(page);
    await addKey(page, modelServer.url);
    await createAgent(page, "Scout", `brief-${gate}`);
    await drawWorkflow(page, "Scout");
    await expect(page.getByText("Saved", { exact: true }).first()).toBeVisible();
    await page.getByRole("button", { name: "Publish", exact: true }).click(); // version 2 was the new name
    await expect(page.getByText("Version 3 published")).toBeVisible();

    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("looms");
    await page.getByRole("button", { name: "Start run" }).click();
    await expect(node(page, "Agent Research")).toHaveAccessibleDescription(/Running/);
    await expect(node(page, "Trigger Start")).toHaveAccessibleDescription(/Complete/);
    await expect(node(page, "Agent Research")).toContainText("restarted its Jacquard looms");
    await expect(runPanel(page)).toContainText("Running");
    // The button has the focus again, without a hint over the panel: it was the mouse that pressed.
    await expect(page.getByRole("tooltip")).toHaveCount(0);

    await page.reload();
    await expect(node(page, "Agent Research")).toHaveAccessibleDescription(/Running/);
    await expect(node(page, "Agent Research")).toContainText("restarted its Jacquard looms");
    await expect(node(page, "Agent Research")).not.toContainText("conductive silk");
    await modelServer.release(gate);
    await expect(node(page, "Output Brief")).toHaveAccessibleDescription(/Complete/);
    await expect(runPanel(page)).toContainText("Completed");
    await runPanel(page)
      .getByRole("button", { name: /^Research/ })
      .click();
    await expect(runPanel(page).getByRole("button", { name: /^Research/ })).toContainText(/\d+ tokens\s*[\d.]+ m?s/);
    await expect(runPanel(page).getByRole("tabpanel", { name: "Output" })).toContainText("the cloth counts to eight.");
    await runPanel(page).getByRole("tab", { name: "Input" }).click();
    await expect(runPanel(page).getByRole("tabpanel", { name: "Input" })).toContainText("Find news about looms");
  } finally {
    await context.close();
    await treadle.stop();
  }
});
