import { graphOf } from "#e2e/api/graphs.ts";
import { newSource, settled } from "#e2e/api/rag-forms.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { startMcpServer } from "#e2e/fakes/mcp-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Canvas } from "#server/features/canvases/schema.ts";
import { RagDocument } from "#server/features/knowledge/schema.ts";

test("a viewer sees what is in the project, asks the assistant, and is offered no change", { tag: "@main" }, async ({
  api,
  person,
  newUser,
  pageOf,
  workflow,
  execute,
  waiting,
  llmKey,
}) => {
  const page = await pageOf(await newUser({ role: "viewer" }));
  const { id: workflow_id } = await workflow(
    graphOf({ Start: ["trigger"], Check: ["humanLoop", { title: "Publish it?" }] }, ["Start>Check"]),
  );
  const none = async (...names: (string | RegExp)[]) => {
    for (const name of names) await expect(page.getByRole("button", { name })).toHaveCount(0);
  };
  /** Goes there as people do: by the navigation. */
  const open = (navigation: "Main" | "Settings", name: string) =>
    page.getByRole("navigation", { name: navigation }).getByRole("link", { name, exact: true }).click();

  await test.step("the assistant: whom to ask for a model, and once there is one, an answer", async () => {
    await page.goto("/bridge");
    const told = page.getByRole("region", { name: "The assistant is not set up" });
    await expect(told.getByText("An admin of the project chooses one")).toBeVisible();
    await expect(told.getByRole("combobox")).toHaveCount(0);
    const data = { llm_key_id: (await llmKey()).id, model: "echo" };
    expect((await person.browser.put("/api/v1/bridge/settings", { data })).status()).toBe(200);
    await page.reload();
    const assistant = page.getByRole("complementary", { name: "Assistant" });
    await assistant.getByRole("textbox", { name: "Message" }).fill("May I?");
    await page.keyboard.press("Enter");
    await expect(assistant.getByText("Echo: May I?")).toBeVisible();
    // There is nothing to choose.
    await expect(page.getByRole("group", { name: "Mode" })).toHaveCount(0);
  });

  await test.step("canvases, without a handle", async () => {
    const layout = { x: 0, y: 0, w: 6, h: 4 };
    const widgets = [{ id: "a", type: "text", title: "A", workflow_id, output_label: null, layout }];
    await api.post("/canvases", { name: "Support", widgets }, { schema: Canvas, status: 201 });
    await open("Main", "Canvases");
    await expect(page.getByRole("link", { name: "Support" })).toBeVisible();
    await none("New canvas", "Actions of Support");
    await page.getByRole("link", { name: "Support" }).click();
    await expect(page.getByRole("region", { name: "A", exact: true })).toBeVisible();
    await none("Edit", "Add widget", "Move", "Resize");
  });

  await test.step("knowledge, which is searched", async () => {
    const rag = await newSource(api);
    const fields = { title: "House rules", text: "Nobody plays the drums after ten." };
    await settled(api, (await api.post(`/rags/${rag.id}/documents`, fields, { schema: RagDocument, status: 201 })).body);
    await open("Main", "Knowledge");
    await page.getByRole("link", { name: "Handbook" }).click();
    await page.getByRole("textbox", { name: "Question" }).fill("drums");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("listitem").filter({ hasText: "Nobody plays the drums" })).toBeVisible();
    await none(/Add|More|Actions of|Settings|Test|Choose files/);
  });

  await test.step("skills", async () => {
    await open("Main", "Skills");
    await page.getByRole("button", { name: "Write SQL" }).click();
    await expect(page.getByRole("group", { name: "Prompt" })).toContainText("never *");
    await none("Make own version", "New skill");
    await page.keyboard.press("Escape");
  });

  await test.step("MCP servers", async () => {
    const mcp = await startMcpServer();
    await api.post("/mcp", { name: "Shelf", url: `${mcp.url}/mcp` }, { status: 201 });
    await open("Main", "MCP servers");
    await expect(page.getByRole("link", { name: "Shelf" })).toBeVisible();
    expect(await axeFaultsInBothThemes(page)).toEqual([]);
    await page.getByRole("link", { name: "Shelf" }).click();
    await expect(page.getByRole("region", { name: "Tools" })).toContainText("echo");
    await expect(page.getByRole("switch")).toHaveCount(0);
    await none(/Refresh|Settings|More/);
    await mcp.stop();
  });

  await test.step("credentials, and in place of the audit log who reads it", async () => {
    await api.post("/credentials", { name: "TOKEN", value: "tok_5f3b0c9d8e7a" }, { status: 201 });
    await open("Main", "Settings");
    await open("Settings", "Credentials");
    await expect(page.getByRole("row", { name: /TOKEN/ })).toBeVisible();
    await expect(page.getByText("Only admins of")).toBeVisible();
    await none("Add credential", "Delete TOKEN", "Replace value of TOKEN");
    await open("Settings", "Audit log");
    await expect(page.getByText("Only admins read the audit log; you are viewer in this project.")).toBeVisible();
  });

  await test.step("a run that waits, with the reason why there are no answers to press", async () => {
    const { id } = await waiting(await execute({ id: workflow_id }));
    await page.goto(`/runs/${id}`);
    await expect(page.getByRole("complementary", { name: "Values" })).toContainText("In this project you are a viewer.");
    await none("Approve");
  });
});
