import { expect, test } from "#e2e/fixtures.ts";

test("an agent gets knowledge, a skill and a schema in the form, and its chat shows the tool's steps and the tokens", {
  tag: "@main",
}, async ({ signedInPage: page, api, agent }) => {
  const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { status: 201 });
  const text = "# Mill\n\n## Cellar\n\nThe looms stand in the cellar.";
  await api.post(`/rags/${rag.id}/documents`, { title: "House rules", text }, { status: 201 });
  const { id } = await agent({ name: "Scout", model: "say-tool-search_knowledge" });
  await page.goto(`/agents/${id}`);
  await page.getByRole("checkbox", { name: "Handbook" }).check();
  await page.getByRole("checkbox", { name: "Summarize" }).check();
  await page.getByRole("textbox", { name: "Output schema" }).fill("{ no json");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByRole("alert").filter({ hasText: "This is not a JSON object." })).toBeVisible();
  await page.getByRole("textbox", { name: "Output schema" }).fill("");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Version 2 published", { exact: true })).toBeVisible();

  await expect.poll(async () => (await api.get(`/rags/${rag.id}`)).body.documents.ready).toBe(1);
  const chat = page.getByRole("region", { name: "Try it" });
  await chat.getByRole("textbox", { name: "Message" }).fill("Where are the looms?");
  await page.keyboard.press("Enter");
  await expect(chat.getByText("The tool said: [1] House rules · Mill › Cellar")).toBeVisible();
  const source = chat.getByRole("list", { name: "Sources" }).getByRole("link", { name: "House rules" });
  const beside = page.waitForEvent("popup");
  await source.click();
  const document = await beside;
  await expect(document.getByRole("dialog", { name: "House rules" })).toContainText("The looms stand in the cellar.");
  await document.close();
  await expect(chat.getByText(/\d+ in · \d+ out tokens/)).toBeVisible();
  await chat.getByText("search_knowledge").click();
  await expect(chat.getByRole("heading", { name: "Result" })).toBeVisible();
  // An answer that begins with a bracket is no JSON for that.
  await chat.getByRole("textbox", { name: "Message" }).fill("[[parrot]] says **so**");
  await page.keyboard.press("Enter");
  await expect(chat.getByRole("strong").filter({ hasText: "so" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("checkbox", { name: "Handbook" })).toBeChecked();
  await expect(page.getByRole("checkbox", { name: "Summarize" })).toBeChecked();
  await expect(page.getByText(/^Spent/), "it has cost nothing").toHaveCount(0);
});

test("beside a chat that was stopped and failed the form takes in what others saved, and keeps what was typed", async ({
  signedInPage: page,
  api,
  agent,
  modelServer,
}) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  await page.goto(`/agents/${id}`);

  await test.step("a chat is stopped in the middle, goes on with what was said before, and says why a call failed", async () => {
    const chat = page.getByRole("region", { name: "Try it" });
    const say = async (message: string) => {
      await chat.getByRole("textbox", { name: "Message" }).fill(message);
      await chat.getByRole("button", { name: "Send" }).click();
    };
    await say(`first ${id}`);
    await expect(chat.getByText(`Echo: first ${id}`)).toBeVisible();

    const held = `[[gate-${id}]] second`;
    await say(held);
    await expect(chat.getByText("Waited at")).toBeVisible();
    await chat.getByRole("button", { name: "Stop" }).click();
    await expect(chat.getByText("Stopped.")).toBeVisible();
    await expect.poll(async () => (await modelServer.calls({ contains: held })).map(({ outcome }) => outcome)).toEqual(["aborted"]);

    await say(`[[status-401]] third ${id}`);
    await expect(chat.getByRole("alert")).toContainText("Check the LLM key");
    const call = (await modelServer.calls({ contains: `third ${id}` }))[0];
    // What was stopped or failed is not sent along.
    expect(call?.request.messages.map(({ content }) => content)).toEqual([
      `first ${id}`,
      `Echo: first ${id}`,
      `[[status-401]] third ${id}`,
    ]);

    // Asked again, it takes the place of what failed, and nothing had to be typed.
    await chat.getByRole("button", { name: "Ask again" }).click();
    await expect.poll(async () => (await modelServer.calls({ contains: `third ${id}` })).length).toBe(2);
    await expect(chat.getByRole("alert")).toContainText("Check the LLM key");
    await expect(chat.getByText(`third ${id}`)).toHaveCount(1);
  });

  await test.step("what others saved while the form was open comes into it, and what was typed stays", async () => {
    const prompt = page.getByRole("textbox", { name: "System prompt" });
    await prompt.fill("Be brief.");
    await page.getByRole("textbox", { name: "Description" }).fill("Mine");
    await api.put(`/agents/${id}`, { max_tokens: 77, description: "Theirs" });
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    const told = page.getByRole("alert").filter({ hasText: "Not published yet" });
    await expect(told).toContainText(
      "saved this agent after you loaded it. Updated in this form: Longest answer. Changed by you both: Description.",
    );
    await expect(page.getByLabel("Longest answer")).toHaveValue("77");
    await expect(prompt).toHaveValue("Be brief.");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await expect(page.getByText("Version 3 published", { exact: true })).toBeVisible();
    await expect(told).toBeHidden();
    expect((await api.get(`/agents/${id}`)).body).toMatchObject({ system_prompt: "Be brief.", description: "Mine", max_tokens: 77 });
  });

  await test.step("leaving it with changes that the browser cannot keep asks first", async () => {
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new Error("The disk is full.");
      };
    });
    await page.getByLabel("Description").fill("changed");
    await page.getByRole("link", { name: "Workflows" }).click();
    await expect(page.getByText("Leave without saving?")).toBeVisible();
    await page.getByRole("button", { name: "Keep editing" }).click();
    await expect(page.getByLabel("Description")).toHaveValue("changed");
  });
});
