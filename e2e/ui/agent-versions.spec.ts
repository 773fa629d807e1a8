import type { Locator, Page } from "@playwright/test";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";

const position = { x: 0, y: 0 };

/** On a phone nothing of the dialog is beside the screen. */
async function expectFitsPhone(page: Page, dialog: Locator): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  // The page is laid out anew a moment after its window has changed.
  await expect
    .poll(async () => {
      const box = await dialog.boundingBox();
      return [box?.x, box?.width];
    })
    .toEqual([0, 390]);
  expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  if (before) await page.setViewportSize(before);
}

test("an agent is changed as a draft, tried before it is published, said whom it reaches, and brought back", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  executed,
  modelServer,
}) => {
  const { id } = await agent({ name: "Scout", model: "echo", system_prompt: "Be brief.\nAnswer in one line." });
  const flow = await workflow({
    name: "Daily digest",
    nodes: [
      { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
      { id: "a", type: "agentNode", position, data: { label: "Ask", agent_id: id, input: "news" } },
    ],
    edges: [{ id: "e", source: "t", target: "a" }],
  });
  await page.goto(`/agents/${id}`);
  const form = page.getByRole("form", { name: "Agent Scout" });
  const prompt = form.getByRole("textbox", { name: "System prompt" });
  const state = form.getByRole("status").filter({ hasText: /version/i });
  await expect(state).toHaveText(/^Version 1, published/);
  await expect(form.getByRole("button", { name: "Published" })).toHaveAttribute("aria-disabled", "true");

  // What is on the screen answers, and nothing of it is saved.
  await prompt.fill("Be kind.\nAnswer in one line.");
  await expect(state).toHaveText("Draft, not published: System prompt changed since version 1");
  await expect(form.getByText("Used by 1 workflow")).toBeVisible();
  await expect(form.getByRole("link", { name: "Daily digest" })).toHaveAttribute("href", `/workflows/${flow.id}`);
  const chat = page.getByRole("region", { name: "Try it" });
  const ask = async (message: string) => {
    await chat.getByRole("textbox", { name: "Message" }).fill(message);
    await chat.getByRole("button", { name: "Send" }).click();
    await expect(chat.getByText(`Echo: ${message}`, { exact: true })).toBeVisible();
  };
  await ask(`Hello ${id}`);
  await expect(chat.getByText(/^Unpublished changes · /)).toBeVisible();
  const [call] = await modelServer.calls({ contains: `Hello ${id}` });
  expect(call?.request.messages[0]?.content).toBe("Be kind.\nAnswer in one line.");
  expect((await api.get(`/agents/${id}`)).body).toMatchObject({ version: 1, system_prompt: "Be brief.\nAnswer in one line." });

  // It is there again after another page, and after a reload.
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Workflows" }).click();
  await expect(page).toHaveURL(/\/workflows$/);
  await page.goBack();
  await expect(prompt).toHaveValue("Be kind.\nAnswer in one line.");
  await page.reload();
  await expect(prompt).toHaveValue("Be kind.\nAnswer in one line.");
  await expect(form.getByText("is still here")).toBeVisible();

  // A model that cannot be called is said before anything changes, and the key can be mended in front of the form.
  const model = form.getByRole("combobox", { name: "Model" });
  await model.fill("status-401");
  await page.keyboard.press("Escape");
  await form.getByRole("button", { name: "Publish", exact: true }).click();
  const failure = form.getByRole("alert").filter({ hasText: "Not published: the check call failed" });
  await expect(failure).toContainText("answered 401");
  await failure.getByRole("button", { name: "Replace the key…" }).click();
  const mending = page.getByRole("dialog", { name: "New value for “Stand-in”" });
  await mending.getByLabel("API key").fill("wrong-key");
  await mending.getByRole("button", { name: "Replace key" }).click();
  await expect(mending.getByRole("button", { name: "Save anyway" })).toBeVisible();
  await mending.getByLabel("API key").fill("another-key-0123456789");
  await mending.getByRole("button", { name: "Replace key" }).click();
  await expect(mending).toBeHidden();
  await expect(prompt).toHaveValue("Be kind.\nAnswer in one line.");
  await model.fill("echo");
  await page.keyboard.press("Escape");
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 2 published", { exact: true })).toBeVisible();
  await expect(state).toHaveText(/^Version 2, published/);
  await ask("Again");
  await expect(chat.getByText(/^Version 2 · /)).toBeVisible();
  const run = await executed(flow);

  // What each version changed, field by field; an older one goes into the draft, and is published from there.
  await page.getByRole("button", { name: "History" }).click();
  const history = page.getByRole("dialog", { name: "History" });
  await expect(history.getByRole("button", { name: /^Version 2 Published/ })).toContainText("System prompt");
  const changes = history.getByRole("region", { name: "Changes of version 2" });
  await expect(changes.getByRole("deletion")).toHaveText("brief");
  await expect(changes.getByRole("insertion")).toHaveText("kind");
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await history.getByRole("button", { name: /^Version 1/ }).click();
  await history.getByRole("button", { name: "Restore" }).click();
  await expect(history).toBeHidden();
  await expect(prompt).toHaveValue("Be brief.\nAnswer in one line.");
  await expect(form.getByText("is still here")).toHaveCount(0); // that was an earlier draft, which has been published
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(prompt).toHaveValue("Be kind.\nAnswer in one line.");
  await page.getByRole("button", { name: "History" }).click();
  await history.getByRole("button", { name: /^Version 1/ }).click();
  await history.getByRole("button", { name: "Restore" }).click();
  await form.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Version 3 published", { exact: true })).toBeVisible();

  // The run says which version it asked, and leads there.
  await page.goto(`/runs/${run.id}`);
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("tabpanel", { name: "Log" }).getByRole("link", { name: "Scout, version 2" }).click();
  await expect(page.getByRole("dialog", { name: "History" }).getByRole("button", { name: /^Version 2/ })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
});

test("a new agent is tried before there is one, what was filled in is kept until it is made, and what its model is sent is shown", async ({
  signedInPage: page,
  llmKey,
  modelServer,
}) => {
  const model = `echo-${crypto.randomUUID()}`;
  await llmKey();
  await page.goto("/agents/new");
  const chat = page.getByRole("region", { name: "Try it" });
  await expect(page.getByRole("combobox", { name: "LLM key" })).toContainText("Stand-in");
  await chat.getByRole("textbox", { name: "Message" }).fill("Hello");
  await chat.getByRole("button", { name: "Send" }).click();
  await expect(chat.getByRole("alert")).toContainText("The form is not ready to be asked: Model: Choose or type a model.");
  await page.getByRole("combobox", { name: "Model" }).fill(model);
  await page.keyboard.press("Escape");
  await chat.getByRole("button", { name: "Send" }).click();
  await expect(chat.getByText("Echo: Hello", { exact: true })).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("Weaver");
  await page.reload();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Weaver");
  await expect(page.getByRole("combobox", { name: "Model" })).toHaveValue(model);
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page).toHaveURL(/agents\/[0-9a-f-]{36}/);

  await expect(page.getByRole("heading", { name: "Weaver", level: 1 })).toBeVisible();
  await test.step("the prompt preview shows what the model is sent as the form stands, and asks nobody", async () => {
    await page.getByRole("textbox", { name: "System prompt" }).fill("Write a short poem about {{credentials.THEME}}.");
    await page.getByRole("checkbox", { name: "Summarize" }).check();
    await page.getByRole("checkbox", { name: /^Web search/ }).check();
    const before = (await modelServer.calls({ model })).length;
    await page.getByRole("button", { name: "Prompt preview" }).click();
    const dialog = page.getByRole("dialog", { name: "Prompt preview" });
    // A run would not resolve it here either, so it stays as it is written.
    await expect(dialog.getByLabel("system message", { exact: true })).toHaveText(
      /^Write a short poem about {{credentials\.THEME}}\.\s+# Skill: Summarize\s+Summarize the text you are given/,
    );
    await expect(dialog.getByText("1 tool", { exact: true })).toBeVisible();
    await dialog.getByText("web_search", { exact: true }).click();
    await expect(dialog.getByLabel("parameters of web_search", { exact: true })).toContainText('"query"');
    await expect(dialog.getByText("Free text.")).toBeVisible();
    await dialog.getByText("Whole request").click();
    await expect(dialog.getByLabel("request", { exact: true })).toContainText(`"model": "${model}"`);
    await expect(dialog.getByLabel("request", { exact: true })).toContainText("(what the agent is asked)");
    expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
    await expectFitsPhone(page, dialog);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Prompt preview" })).toBeFocused();
    expect((await modelServer.calls({ model })).length).toBe(before);

    // The vendor is bound to a schema where no tool is offered, and what is wrong is said in place of a preview.
    await page.getByRole("checkbox", { name: /^Web search/ }).uncheck();
    await page.getByRole("textbox", { name: "Output schema" }).fill("{ no json");
    await page.getByRole("button", { name: "Prompt preview" }).click();
    await expect(dialog.getByText("This is not a JSON object.")).toBeVisible();
    await page.keyboard.press("Escape");
    await page.getByRole("textbox", { name: "Output schema" }).fill('{"type":"object","properties":{"poem":{"type":"string"}}}');
    await page.getByRole("button", { name: "Prompt preview" }).click();
    await expect(dialog.getByLabel("response format", { exact: true })).toContainText('"json_schema"');
    await page.keyboard.press("Escape");
  });

  await page.goto("/agents/new");
  await expect(page.getByRole("combobox", { name: "LLM key" })).toContainText("Stand-in");
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("");
});
