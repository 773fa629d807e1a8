import { readFile } from "node:fs/promises";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaults } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { AgentPage } from "#server/features/agents/schema.ts";
import { WorkflowFile } from "#server/features/workflow-files/schema.ts";

test("a template is looked at and used, one without a model at once, one with agents with a key", { tag: "@main" }, async ({
  signedInPage: page,
  llmKey,
  api,
}) => {
  const key = await llmKey();
  await test.step("a template without a model is looked at and used", async () => {
    await page.goto("/workflows");
    await page.getByRole("link", { name: "Start from a template" }).click();
    const gallery = page.getByRole("list", { name: "Templates" });
    await expect(gallery.getByRole("listitem")).toHaveCount(23);
    await page.getByRole("checkbox", { name: "No model key needed" }).click();
    await expect(gallery.getByRole("listitem")).toHaveCount(14);
    await page.getByRole("searchbox", { name: "Search templates" }).fill("queue json");
    await expect(gallery.getByRole("listitem")).toHaveCount(1);
    await gallery.getByRole("button", { name: "Webhook router" }).click();
    const dialog = page.getByRole("dialog", { name: "Webhook router" });
    await expect(dialog).toContainText("What to change");
    expect(await axeFaults(page, "[role=dialog]")).toEqual([]);
    await dialog.getByRole("button", { name: "Use template" }).click();
    // Nothing must be linked, so nothing is asked.
    const canvas = page.getByRole("region", { name: "Workflow canvas" });
    await expect(canvas.getByRole("group", { name: "Branch Large order?" })).toBeVisible();
    await expect(canvas).toContainText("Priority queue");
  });

  await test.step("a template with agents asks for a key, makes them and says what is left open", async () => {
    await page.goBack();
    await page.getByRole("button", { name: "Answer from your knowledge" }).click();
    const dialog = page.getByRole("dialog", { name: "Answer from your knowledge" });
    await dialog.getByRole("button", { name: "Use template" }).click();
    await expect(dialog.getByRole("combobox", { name: "Agent Librarian" })).toHaveText("Create it");
    await expect(dialog.getByRole("combobox", { name: "LLM key" })).toHaveText(key.name);
    await dialog.getByRole("button", { name: "Use template" }).click();
    await expect(dialog.getByRole("alert")).toContainText("Choose a model");
    await dialog.getByRole("combobox", { name: "Model" }).fill("echo");
    // There is no such source here yet: it stays open, and the editor says so.
    await expect(dialog.getByRole("combobox", { name: "Knowledge: Handbook" })).toHaveText("Leave open");
    await expect(dialog).toContainText("1 left open");
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Use template" }).click();
    await expect(page.getByRole("region", { name: "Workflow canvas" })).toContainText("Search and answer");
    await page.getByRole("button", { name: "1 problem", exact: true }).click();
    await expect(page.getByText("“Librarian” is to have “Handbook” too", { exact: false }).first()).toBeVisible();
    const { items } = (await api.get("/agents", { schema: AgentPage })).body;
    expect(items).toMatchObject([{ name: "Librarian", model: "echo", llm_key_id: key.id }]);
  });
});

test("a workflow leaves as a file and comes in elsewhere, its agent left open and made in the panel", async ({
  pageOf,
  signedInPage: page,
  workflow,
  agent,
  newProject,
  modelServer,
}) => {
  const scout = await agent({ name: "Scout", model: "echo", system_prompt: "Find it." });
  const made = await workflow({
    name: "Yarn: Spindle & Co",
    ...graphOf(
      { Start: ["trigger", { kind: "manual" }], Ask: ["agent", { agent_id: scout.id, input: "{{credentials.CRM}}" }], End: ["output"] },
      ["Start>Ask", "Ask>End"],
    ),
  });
  await page.goto(`/workflows/${made.id}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as a file" }).click();
  const saved = await download;
  expect(saved.suggestedFilename()).toBe("yarn-spindle-co.treadle.json");
  const path = await saved.path();
  const file = WorkflowFile.parse(JSON.parse(await readFile(path, "utf8")));
  expect(file.requires).toMatchObject({ agents: [{ name: "Scout" }], credentials: ["CRM"] });

  const other = await newProject();
  const there = await pageOf(other);
  await there.goto("/workflows");
  await there.getByRole("button", { name: "Import" }).click();
  const dialog = there.getByRole("dialog", { name: "Import a workflow" });
  // What is no workflow is told apart before and after the server has seen it.
  await dialog.getByRole("textbox", { name: "Or paste the JSON" }).fill("name: my flow");
  await dialog.getByRole("button", { name: "Check it" }).click();
  await expect(dialog.getByRole("alert")).toContainText("It is not JSON");
  await dialog.getByRole("textbox", { name: "Or paste the JSON" }).fill('{"nodes": [], "connections": {}}');
  await dialog.getByRole("button", { name: "Check it" }).click();
  await expect(dialog.getByRole("alert")).toContainText("a workflow of n8n");
  await dialog.getByLabel("File to import").setInputFiles(path);
  // No key here: the agent is left open by itself.
  await expect(dialog.getByRole("combobox", { name: "Agent Scout" })).toHaveText("Leave open");
  await expect(dialog.getByRole("link", { name: /Add it in Credentials/ })).toBeVisible();
  await expect(dialog).toContainText("2 left open; nothing of it is lost.");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Brought along");
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await expect(there.getByRole("region", { name: "Workflow canvas" })).toContainText("Ask");
  await expect(there.getByRole("button", { name: "2 problems", exact: true })).toBeVisible();

  // Later, with a key: its form is filled in as the file says.
  const fields = { name: "Theirs", provider: "openai_compatible", api_key: "their-key", base_url: modelServer.url };
  await other.api.post("/llm-keys", fields, { status: 201 });
  await there.getByRole("region", { name: "Workflow canvas" }).getByRole("group", { name: "Agent Ask" }).click();
  await there.getByRole("button", { name: "Create “Scout”…" }).click();
  const form = there.getByRole("form", { name: "New agent" });
  await expect(form.getByLabel("Name", { exact: true })).toHaveValue("Scout");
  await expect(form.getByLabel("System prompt")).toHaveValue("Find it.");
  await form.getByRole("combobox", { name: "LLM key" }).click();
  await there.getByRole("option", { name: "Theirs" }).click();
  await form.getByRole("button", { name: "Create agent" }).click();
  await expect(form).toBeHidden();
  await expect(there.getByRole("button", { name: "Create “Scout”…" })).toBeHidden();
  await expect(there.getByRole("combobox", { name: "Agent", exact: true })).toHaveText(/Scout/);

  // Once more into the workflow that is open: the agent is here now, the names get numbers, and what reads them follows.
  const canvas = there.getByRole("region", { name: "Workflow canvas" });
  await there.getByRole("button", { name: "More", exact: true }).click();
  await there.getByRole("menuitem", { name: "Import into this workflow…" }).click();
  const into = there.getByRole("dialog", { name: "Import into this workflow" });
  await into.getByLabel("File to import").setInputFiles(path);
  await expect(into.getByRole("combobox", { name: "Agent Scout" })).toHaveText(/Scout/);
  await into.getByRole("button", { name: "Add to the canvas" }).click();
  await expect(into).toBeHidden();
  for (const name of ["Agent Ask 2", "Output End 2"]) await expect(canvas.getByRole("group", { name })).toHaveClass(/selected/);
  await expect(canvas.getByRole("group", { name: /^Trigger/ })).toHaveCount(1);
  await expect(there.getByText("2 nodes added", { exact: true }).first()).toBeVisible();
  await expect(canvas.getByRole("group", { name: "Agent Ask 2" })).toBeInViewport();
  await there.keyboard.press("Escape");
  await there.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(canvas.getByRole("group", { name: "Agent Ask 2" })).toBeHidden();
});

test("a workflow of n8n comes in with the list of what is to be done, which leads to each node and is ticked off", async ({
  signedInPage: page,
}) => {
  await page.goto("/workflows");
  await page.getByRole("button", { name: "Import" }).click();
  const dialog = page.getByRole("dialog", { name: "Import a workflow" });
  await dialog.getByLabel("File to import").setInputFiles("server/features/workflow-files/n8n/examples/digest.json");
  await expect(dialog).toContainText("A workflow of n8n: 8 nodes come over, 4 nodes as a note");
  await expect(dialog).toContainText("“Send Email”");
  await expect(dialog.getByText("Secrets that were taken out")).toBeVisible();
  expect(await axeFaults(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "Import", exact: true }).click();

  // The list is what one came for: it is open, and its address is the workflow's own again.
  const list = page.getByRole("region", { name: "Left to do by the import" });
  await expect(list.getByText("There is no “emailSend” here", { exact: false })).toBeVisible();
  await expect(page).not.toHaveURL(/#/);
  expect(await axeFaults(page)).toEqual([]);
  const rows = list.getByRole("listitem");
  const count = await rows.count();
  const problems = page.getByRole("button", { name: `, ${count} to do` });
  await expect(problems).toBeVisible();
  await list.getByRole("checkbox", { name: /pagination/ }).click();
  await expect(rows).toHaveCount(count - 1);

  // One leads to its field, and stands beside its node too.
  await rows.filter({ hasText: "Say which header" }).getByRole("button", { name: "Go to it" }).click();
  await expect(list.getByRole("checkbox", { name: /Say which header/ })).toBeVisible();
  // The panel scrolls to the field, and nothing around it: hidden legends in it are no reason to.
  await expect(page.getByRole("tab", { name: "Editor" })).toBeInViewport({ ratio: 1 });
  await list.getByRole("checkbox", { name: /Say which header/ }).click();
  await expect(list).toBeHidden();
  await expect(page.getByRole("button", { name: `, ${count - 2} to do` })).toBeVisible();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(list).toBeVisible();

  // With the note that it is about it is gone as well.
  await page.getByRole("button", { name: `, ${count - 1} to do` }).click();
  await rows.filter({ hasText: "emailSend" }).getByRole("button", { name: "Go to it" }).click();
  await page.getByRole("button", { name: "Delete node" }).click();
  await expect(page.getByRole("button", { name: `, ${count - 2} to do` })).toBeVisible();
});
