import type { Locator, Page } from "@playwright/test";
import { manyKinds } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";

/** Converts にほん to 日本 as an input method does: the Enter in between confirms the conversion. */
async function compose(page: Page, field: Locator): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await field.focus();
  await client.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
  const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 };
  await client.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...key });
  await client.send("Input.insertText", { text: "日本" });
  await client.send("Input.dispatchKeyEvent", { type: "keyUp", ...key, windowsVirtualKeyCode: 13 });
  await client.detach();
}

test("Enter that confirms a conversion stays in the name of a node", async ({ signedInPage: page, agent, workflow }) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  await page.goto(`/workflows/${(await workflow(manyKinds(id, "go"))).id}`);
  await node(page, "Agent Ask").click();
  const name = page.getByLabel("Node name", { exact: true });
  await name.selectText();

  await compose(page, name);

  await expect(name).toHaveValue("日本");
  await expect(name).toBeFocused();
  await name.press("Enter");
  await expect(node(page, "Agent 日本")).toBeVisible();
});

test("Enter that confirms a conversion sends no message", async ({ signedInPage: page, agent }) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  await page.goto(`/agents/${id}`);
  const chat = page.getByRole("region", { name: "Try it" });
  const message = chat.getByRole("textbox", { name: "Message" });

  await compose(page, message);
  await message.press("Enter");

  await expect(chat).toContainText("日本");
  await expect(chat).not.toContainText("にほん");
});
