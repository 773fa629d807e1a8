import { createServer } from "node:http";
import type { Locator, Page } from "@playwright/test";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { until } from "#e2e/until.ts";
import { Execution, ExecutionSummary } from "#server/runs/schema.ts";

// Nodes that are tried alone from their panel, and workflows that are made of others.

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const at = (x: number, y = 0) => ({ x, y });
const trigger = { id: "t", type: "triggerNode", position: at(0), data: { label: "Start", kind: "manual", default_input: "tea" } };

/** Pastes as a person does, without a clipboard that the whole machine shares. */
const paste = (field: Locator, text: string) =>
  field.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);

test("a node is tried alone: an HTTP node filled by a pasted curl, whose secret becomes a credential, and code with what it prints", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`);
    response
      .setHeader("content-type", "application/json")
      .setHeader("x-shelf", "7")
      .end(JSON.stringify({ tea: calls.length }));
  });
  const { url, stop } = await listen(server);
  const first = { id: "c", type: "codeNode", position: at(330), data: { label: "Word", code: "'green'" } };
  const call = { id: "h", type: "httpNode", position: at(660), data: { label: "Ask" } };
  const after = { id: "a", type: "httpNode", position: at(990), data: { label: "Tell", url: `${url}/never` } };
  const code = { id: "s", type: "codeNode", position: at(330, 200), data: { label: "Sum", code: "print('adding')\n[1, 2]" } };
  const wrong = { id: "w", type: "codeNode", position: at(330, 400), data: { label: "Wrong", code: "print('so far')\nint('a')" } };
  const edges = [
    { id: "1", source: "t", target: "c" },
    { id: "2", source: "c", target: "h" },
    { id: "3", source: "h", target: "a" },
    { id: "4", source: "t", target: "s" },
    { id: "5", source: "t", target: "w" },
  ];
  const flow = await workflow({ nodes: [trigger, first, call, after, code, wrong], edges });
  await page.goto(`/workflows/${flow.id}`);
  const tried = panel(page).getByRole("region", { name: "Try" });
  const secret = "tell-nobody-this-token";

  await test.step("a pasted curl fills the node, and its secret becomes a credential", async () => {
    await node(page, "HTTP Ask").click();
    const address = panel(page).getByLabel("Address", { exact: true });
    await paste(address, `curl '${url}/teas?kind={{Word.output}}' -H 'Authorization: Bearer ${secret}' -H 'Accept: application/json'`);
    const dialog = page.getByRole("dialog", { name: "Import curl" });
    await expect(dialog).toContainText("Query: 1 · Headers: 1 · Authentication: bearer");
    await dialog.getByLabel("Bearer token becomes the credential").fill("SHELF");
    expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
    await dialog.getByRole("button", { name: "Import", exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(address).toHaveValue(`${url}/teas`);
    await expect(panel(page)).toContainText("Bearer token");
    const { body: credentials } = await api.get("/credentials");
    expect(credentials.items.map(({ name }: { name: string }) => name)).toEqual(["SHELF"]);
  });

  await test.step("what it needs runs first, what follows does not, and from then on it alone is run", async () => {
    await tried.getByRole("button", { name: "Try" }).click();
    await expect(tried).toContainText("HTTP 200");
    await tried.getByRole("tab", { name: "Headers" }).click();
    await expect(tried.getByRole("tabpanel")).toContainText("x-shelf");
    await tried.getByRole("button", { name: "Try" }).click();
    await expect.poll(() => calls).toEqual(Array(2).fill(`GET /teas?kind=green Bearer ${secret}`));
    const runs = async () => (await api.get(`/workflows/${flow.id}/executions`, { schema: ExecutionSummary.array() })).body;
    await expect.poll(async () => (await runs()).map(({ status }) => status)).toEqual(["completed", "completed"]);
    const { body: again } = await api.get(`/executions/${(await runs())[0]?.id}`, { schema: Execution });
    expect(again.node_results).toMatchObject({ c: { reused: true }, h: { reused: false, status: "complete" }, a: { status: "skipped" } });
    await tried.getByRole("tab", { name: "Output" }).click();
    await expect(tried.getByRole("tabpanel")).toContainText("tea: 2");
    await tried.getByRole("button", { name: "Pin output" }).click();
    await expect(panel(page).getByRole("region", { name: "Pinned output" })).toBeVisible();
    await expect(tried.getByRole("button", { name: "Unpin and try" })).toBeVisible();
    await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
    expect(JSON.stringify((await api.get(`/workflows/${flow.id}`)).body)).not.toContain(secret);
    await stop();
  });

  await test.step("code shows its value, what it prints, and the line at which it fails", async () => {
    await node(page, "Code Sum").click();
    await tried.getByRole("button", { name: "Try" }).click();
    await expect(tried.getByRole("tabpanel")).toContainText("2 items");
    await tried.getByRole("tab", { name: "Printed" }).click();
    await expect(tried.getByRole("tabpanel")).toContainText("adding");
    await node(page, "Code Wrong").click();
    await tried.getByRole("button", { name: "Try" }).click();
    await expect(tried.getByRole("alert")).toContainText("Line 2: ");
    // The line is marked in the editor too, until the code is another one.
    const marked = panel(page).locator("[data-fault]");
    await expect(marked).toHaveText("int('a')\n");
    await tried.getByRole("tab", { name: "Printed" }).click();
    await expect(tried.getByRole("tabpanel")).toContainText("so far");
    await panel(page).getByRole("textbox", { name: "Code" }).fill("int('1')");
    await expect(marked).toHaveCount(0);

    // A node that the run on the screen did not have yet is tried too.
    await panel(page).getByRole("button", { name: "Next step" }).click();
    await page.getByRole("combobox", { name: /Search nodes/ }).fill("code");
    await page.keyboard.press("Enter");
    await expect(node(page, "Code")).toBeFocused();
    await panel(page).getByRole("textbox", { name: "Code" }).fill("'at last'");
    await tried.getByRole("button", { name: "Try" }).click();
    await expect(tried.getByRole("tabpanel")).toContainText("at last");
  });
});

test("a Workflow node leads to its workflow and to the run that it has started, and that leads back", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  workflow,
  execute,
}) => {
  const wait = { id: "w", type: "waitNode", position: at(330), data: { label: "Call", mode: "callback" } };
  const inner = await workflow({ name: "Inner", nodes: [trigger, wait], edges: [{ id: "1", source: "t", target: "w" }] });
  const sub = { id: "s", type: "workflowNode", position: at(330), data: { label: "Sub", workflow_id: inner.id } };
  const outer = await workflow({ name: "Outer", nodes: [trigger, sub], edges: [{ id: "1", source: "t", target: "s" }] });
  const id = await execute(outer);
  const read = async (execution_id: string) => (await api.get(`/executions/${execution_id}`, { schema: Execution })).body;
  const child = await until(async () => (await read(id)).node_results.s?.child_execution_id);
  const address = await until(async () => (await read(child)).node_results.w?.resume_url);

  // The run on the canvas: the card leads to the child's run.
  await page.goto(`/workflows/${outer.id}?run=${id}`);
  await node(page, "Workflow Sub").getByRole("link", { name: "Open its run" }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${child}`));
  await expect(page.locator("header").getByRole("link", { name: "Outer / Sub" })).toBeVisible();
  await node(page, "Wait Call").click();
  const values = page.getByRole("complementary", { name: "Values" });
  await expect(values.getByRole("textbox", { name: "Address to call" })).toHaveValue(address);
  await expect(values.getByRole("button", { name: "Copy address" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  // Cancelled, it fails the node that waits for it, and both runs say so.
  await page.getByRole("button", { name: "Cancel run" }).click();
  await expect(page.getByRole("main").getByText("Cancelled").first()).toBeVisible();
  await page.locator("header").getByRole("link", { name: "Outer / Sub" }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${id}`));
  await expect(values).toContainText("The workflow's run was cancelled.");
  await expect(values.getByRole("link", { name: "Open its run" })).toHaveAttribute("href", `/runs/${child}`);

  // A double click on the card opens the workflow itself. The run takes some of the canvas's room when it comes, and the card moves.
  await page.getByRole("link", { name: "Open in editor" }).click();
  await expect(page.getByRole("region", { name: "Run" }).getByRole("heading", { name: "Why it failed" })).toBeVisible();
  await node(page, "Workflow Sub").dblclick();
  await expect(page).toHaveURL(new RegExp(`/workflows/${inner.id}`));
  await expect(canvas(page).getByRole("group", { name: "Wait Call" })).toBeVisible();
});

test("a selection becomes a workflow of its own and comes back, each in one step of undo", async ({
  signedInPage: page,
  api,
  workflow,
  finished,
}) => {
  const code = (id: string, x: number, text: string, expression: string) => ({
    ...{ id, type: "codeNode", position: at(x) },
    data: { label: id, code: text, inputs: [{ name: "text", value: expression }] },
  });
  const nodes = [
    trigger,
    code("Ask", 330, "text.upper()", "{{trigger.output}}"),
    code("Look", 660, "text + '!'", "{{Ask.output}}"),
    code("Sum", 990, "text * 2", "{{Look.output}}{{trigger.output}}"),
    { id: "o", type: "outputNode", position: at(1320), data: { label: "Result", value: "<{{Sum.output}}>" } },
  ];
  const edges = [
    { id: "1", source: "t", target: "Ask" },
    { id: "2", source: "Ask", target: "Look" },
    { id: "3", source: "Look", target: "Sum" },
    { id: "4", source: "Sum", target: "o" },
  ];
  const flow = await workflow({ name: "Teas", nodes, edges });
  await page.goto(`/workflows/${flow.id}`);
  const choose = async (...names: string[]) => {
    for (const [index, name] of names.entries()) await node(page, name).click(index === 0 ? {} : { modifiers: ["ControlOrMeta"] });
  };
  // The panel opens with the first that is chosen, and the canvas makes room for it: what is clicked next stands still from then on.
  await choose("Code Look");
  await expect(panel(page)).toBeVisible();
  await page.getByRole("button", { name: "Fit to screen" }).click();
  // What cannot be taken out is said.
  await choose("Code Look", "Output Result");
  await panel(page).getByRole("button", { name: "Extract into a workflow…" }).click();
  const dialog = page.getByRole("dialog", { name: "Extract into a workflow" });
  await expect(dialog).toContainText('"Result" is a result of this workflow\'s runs');
  await dialog.getByRole("button", { name: "Close" }).last().click();

  await choose("Code Sum", "Code Look");
  await node(page, "Code Sum").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Extract into a workflow…" }).click();
  await dialog.getByLabel("Name of the workflow").fill("Twice");
  await expect(dialog.getByRole("listitem")).toHaveText(["{{Ask.output}}", "{{trigger.output}}"]);
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "Extract", exact: true }).click();
  await expect(node(page, "Workflow Twice")).toBeVisible();
  await expect(node(page, "Code Look")).toHaveCount(0);
  const { body } = await api.get("/workflows");
  expect(body.items.map(({ name }: { name: string }) => name).sort()).toEqual(["Teas", "Twice"]);

  const run = async () => {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Start run" }).click();
    await expect(node(page, "Output Result")).toHaveAccessibleDescription(/Complete/);
    const { body: runs } = await api.get(`/workflows/${flow.id}/executions`, { schema: ExecutionSummary.array() });
    return (await finished(runs[0]?.id ?? "")).output;
  };
  expect(await run()).toBe("<TEA!teaTEA!tea>");

  await node(page, "Workflow Twice").click();
  await panel(page).getByRole("button", { name: "Inline the workflow…" }).click();
  await page.getByRole("dialog", { name: "Inline the workflow" }).getByRole("button", { name: "Inline", exact: true }).click();
  await expect(node(page, "Code Sum")).toBeVisible();
  await expect(node(page, "Workflow Twice")).toHaveCount(0);
  expect(await run()).toBe("<TEA!teaTEA!tea>");

  await canvas(page).focus();
  await page.keyboard.press("Control+z");
  await expect(node(page, "Workflow Twice")).toBeVisible();
  await page.keyboard.press("Control+z");
  await expect(node(page, "Code Look")).toBeVisible();
  await expect(node(page, "Workflow Twice")).toHaveCount(0);
});
