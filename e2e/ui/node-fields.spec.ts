import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

// What the fields of the nodes do that reach out, wait and compose.

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const saved = (page: Page) => expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
const problem = (page: Page) => panel(page).getByRole("alert");

test("an HTTP node's credential is chosen from the project's, or named first and added from where it is missing", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  await api.post("/credentials", { name: "SHOP_TOKEN", value: "tok_5f3b0c9d8e7a" }, { status: 201 });
  const ask = { url: "https://example.com", auth: { kind: "bearer", credential: "" } };
  const flow = await workflow(graphOf({ Start: ["trigger", { kind: "manual" }], Ask: ["http", ask] }, ["Start>Ask"]));
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "HTTP Ask").click();
  const credential = panel(page).getByRole("combobox", { name: "Credential" });
  await expect(problem(page)).toContainText("Choose the credential");
  await credential.click();
  await page.getByRole("option", { name: "SHOP_TOKEN" }).click();
  await expect(credential).toHaveValue("SHOP_TOKEN");
  await expect(problem(page)).toBeHidden();

  await credential.fill("PAY_TOKEN");
  await credential.press("Escape");
  await expect(problem(page)).toContainText('The project has no credential "PAY_TOKEN".');
  await panel(page).getByRole("button", { name: "Add credential PAY_TOKEN…" }).click();
  const dialog = page.getByRole("dialog", { name: "Add credential" });
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("PAY_TOKEN");
  await dialog.getByRole("textbox", { name: "Value" }).fill("tok_0a1b2c3d4e5f");
  await dialog.getByRole("button", { name: "Add credential" }).click();
  await expect(dialog).toBeHidden();
  await expect(problem(page)).toBeHidden();
  await expect(panel(page).getByRole("button", { name: "New credential…" })).toBeVisible();
});

test("code is typed as in an editor: lines keep their indent, a fault marks its line, and Esc leads out", async ({
  signedInPage: page,
  workflow,
}) => {
  const inputs = [{ name: "prices", value: "[1, 2]" }];
  const flow = await workflow(graphOf({ Start: ["trigger", { kind: "manual" }], Sum: ["code", { inputs }] }, ["Start>Sum"]));
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Code Sum").click();
  const code = panel(page).getByRole("textbox", { name: "Code", exact: true });
  expect((await code.boundingBox())?.height).toBeGreaterThanOrEqual(12 * 18);
  await code.pressSequentially("total = 0\nfor price in json.loads(pri");
  await page.getByRole("option", { name: /^prices/ }).click();
  await code.pressSequentially("):\ntotal += price\n");
  await code.press("Shift+Tab");
  await code.pressSequentially("total = = 2");
  await expect(code).toHaveValue("total = 0\nfor price in json.loads(prices):\n    total += price\ntotal = = 2");
  await expect(problem(page)).toContainText("Line 4: this is not Python");
  await expect(panel(page).locator("[data-fault]")).toHaveText("total = = 2\n");
  await code.press("Control+z");
  await expect(code).not.toHaveValue(/= = 2$/);
  await code.fill("total = 1\ntotal");
  await expect(problem(page)).toBeHidden();
  await expect(panel(page).locator("[data-fault]")).toHaveCount(0);
  await expect(code).toHaveAccessibleDescription(/At hand: the inputs, re, json, math, datetime/);
  await code.press("Escape");
  await code.press("Tab");
  await expect(code).not.toBeFocused();
});

test("names and values stand in lines: Enter goes on, an icon removes, and the keyboard stays in the list", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const graph = graphOf({ Start: ["trigger", { kind: "manual" }], Ask: ["http", { url: "https://example.com" }] }, ["Start>Ask"]);
  const flow = await workflow(graph);
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "HTTP Ask").click();
  const row = (number: number) => panel(page).getByRole("group", { name: `header ${number}`, exact: true });
  const name = (number: number) => row(number).getByRole("textbox", { name: "Name" });
  await panel(page).getByRole("button", { name: "Add header" }).click();
  await expect(name(1)).toBeFocused();
  await page.keyboard.press("Enter"); // nothing stands there yet
  await expect(row(2)).toHaveCount(0);
  await page.keyboard.type("Accept");
  await page.keyboard.press("Tab");
  await page.keyboard.type("text/csv");
  const [first, second] = await Promise.all([name(1).boundingBox(), row(1).getByRole("textbox", { name: "Value" }).boundingBox()]);
  expect(Math.abs((first?.y ?? 0) - (second?.y ?? 100))).toBeLessThan(4);
  await page.keyboard.press("Enter");
  await expect(name(2)).toBeFocused();
  await page.keyboard.type("X-Trace");
  await page.keyboard.press("Enter");
  await expect(name(3)).toBeFocused();
  await expect(problem(page)).toContainText("Give each header a name.");
  await row(3).getByRole("button", { name: "Remove header 3" }).click();
  await expect(panel(page).getByRole("button", { name: "Add header" })).toBeFocused();
  await row(1).getByRole("button", { name: "Remove header 1" }).click();
  await expect(name(1)).toBeFocused();
  await expect(name(1)).toHaveValue("X-Trace");
  await name(1).press("Control+s");
  await expect(page.getByText("Version 2 saved")).toBeVisible();
  const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
  expect(body.nodes.find(({ id }) => id === "Ask")?.data.headers).toEqual([{ name: "X-Trace", value: "" }]);
});
