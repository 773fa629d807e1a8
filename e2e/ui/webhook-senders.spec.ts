import type { Page } from "@playwright/test";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });

const trigger = (data: object) => ({
  id: "t",
  type: "triggerNode",
  position: { x: 0, y: 0 },
  data: { label: "Start", kind: "webhook", ...data },
});

async function choose(page: Page, sender: RegExp): Promise<void> {
  await panel(page).getByRole("combobox", { name: "Sender" }).click();
  await page.getByRole("option", { name: sender }).click();
}

test("the verify token of Meta is entered in the trigger", async ({ signedInPage: page, workflow, api, request }) => {
  const flow = await workflow({ nodes: [trigger({})], edges: [] });
  await api.post(`/webhooks/setup/${flow.id}`, { webhook_secret: "app secret of Meta" });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Trigger Start").click();

  await choose(page, /^Meta/);
  await panel(page).getByRole("textbox", { name: "Verify token" }).fill("chosen by us");
  await expect(panel(page)).toContainText("“App secret”");
  expect(await axeFaultsInBothThemes(page, '[aria-label="Nodes and settings"]')).toEqual([]);
  await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 2 published")).toBeVisible();

  const params = { "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": "chosen by us" };
  const answer = await request.get(`/api/v1/webhooks/${flow.id}`, { params });
  expect([answer.status(), answer.headers()["content-type"], await answer.text()]).toEqual([
    200,
    "text/plain; charset=utf-8",
    "1158201444",
  ]);
});

test("the new secret of Event Grid is shown as a part of the address", async ({ signedInPage: page, workflow, request }) => {
  const flow = await workflow({ nodes: [trigger({ auth: "event_grid" })], edges: [] });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Trigger Start").click();
  await expect(panel(page).getByRole("textbox", { name: "Verify token" })).toBeHidden();

  await panel(page).getByRole("button", { name: "Create secret" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Create secret" }).click();
  const dialog = page.getByRole("dialog", { name: "Copy the secret now" });
  const address = new URL(await dialog.getByRole("textbox", { name: "Address with the secret" }).inputValue());
  await dialog.getByRole("button", { name: "Done" }).click();

  const headers = { "WebHook-Request-Origin": "eventgrid.azure.net" };
  const allowed = await request.fetch(`${address.pathname}${address.search}`, { method: "OPTIONS", headers });
  expect(allowed.headers()["webhook-allowed-origin"]).toBe("eventgrid.azure.net");
});
