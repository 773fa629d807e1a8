import type { Locator, Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";

/** The card of an operation on the page of all, opened as a reader does. */
async function openCard(page: Page, search: string, path: string, method: string): Promise<Locator> {
  await page.getByRole("searchbox", { name: "Search operations" }).fill(search);
  const card = page
    .locator("details")
    .filter({ has: page.locator("summary code", { hasText: new RegExp(`^${path.replaceAll(/[{}]/g, "\\$&")}$`) }), hasText: method });
  await card.locator("summary").first().focus();
  await page.keyboard.press("Enter");
  await expect(card.getByRole("form")).toBeVisible();
  return card;
}

const answerOf = (card: Locator) => card.getByRole("region", { name: "Answer" });

test("an operation is found, tried with the session, and answered", { tag: "@main" }, async ({ signedInPage: page, workflow }) => {
  test.setTimeout(120_000); // the page is examined twice
  const { id } = await workflow({ name: "Morning report" });
  await page.goto("/docs/api");
  const card = await openCard(page, "read workflow graph", "/workflows/{workflow_id}", "GET");
  await expect(page.getByText(/^\d operations? found$/)).toBeVisible();
  await card.getByRole("button", { name: "Send" }).click();
  await expect(card.getByRole("alert")).toHaveText("Fill in workflow_id.");
  await card.getByRole("textbox", { name: "workflow_id" }).fill(id);
  await card.getByRole("button", { name: "Send" }).click();
  await expect(answerOf(card)).toContainText("200");
  await expect(answerOf(card)).toContainText('"name": "Morning report"');
  await expect(answerOf(card)).toContainText(/\d ms/);
  await answerOf(card).getByText("Headers of the answer").click();
  await expect(answerOf(card)).toContainText("application/json");
  for (const [tab, text] of [
    ["fetch", "await fetch("],
    ["Python", "urllib.request"],
    ["curl", `/api/v1/workflows/${id}'`],
  ] as const) {
    await card.getByRole("tab", { name: tab }).click();
    await expect(card.getByRole("tabpanel", { name: tab })).toContainText(text);
  }
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
});

test("a pasted key is used, and stays in the page's memory", async ({ pageOf, api }) => {
  const page = await pageOf();
  await page.goto("/docs/api#identity-me");
  const card = page.locator("#identity-me");
  await card.getByRole("button", { name: "Send" }).click();
  await expect(answerOf(card)).toContainText("401");
  await page.getByLabel("API key", { exact: false }).first().fill(api.key);
  await card.getByRole("button", { name: "Send" }).click();
  await expect(answerOf(card)).toContainText('"type": "platform_key"');
  await expect(card.getByRole("tabpanel", { name: "curl" })).toContainText("$TREADLE_KEY");
  expect(await page.locator("pre").filter({ hasText: api.key }).count()).toBe(0);
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(api.key);
  await page.reload();
  await expect(page.getByLabel("API key", { exact: false }).first()).toHaveValue("");
});

test("a page of all operations draws only what is opened, sends what is filled in, and shows a stream while it is open", async ({
  signedInPage: page,
  api,
  workflow,
  execute,
}) => {
  await test.step("only what is opened is drawn; a link to a shape opens it", async () => {
    await page.goto("/docs/api");
    await expect(page.getByRole("heading", { level: 2, name: "Workflows" })).toBeVisible();
    expect(await page.locator("details > summary").count()).toBeGreaterThan(60);
    expect(await page.locator("details form, details table, details pre").count()).toBe(0);
    await page.goto("/docs/api#executions-stream");
    await page.locator("#executions-stream").getByRole("link", { name: "NodeStartEvent" }).click();
    await expect(page.getByRole("table", { name: "NodeStartEvent" })).toBeVisible();
  });

  await test.step("the events of a stream are shown while it is open", async () => {
    const graph = graphOf({ Start: ["trigger", { kind: "manual" }], Check: ["humanLoop", { title: "Send it?" }], End: ["output"] }, [
      "Start>Check",
      "Check.approved>End",
    ]);
    const flow = await workflow(graph);
    const id = await execute(flow);
    const card = await openCard(page, "follow execution", "/executions/{execution_id}/stream", "GET");
    await card.getByRole("textbox", { name: "execution_id" }).fill(id);
    await card.getByRole("button", { name: "Send" }).click();
    const events = card.getByRole("list", { name: "Events" });
    await expect(events).toContainText("execution_paused");
    await expect(answerOf(card)).toContainText("the stream is open");
    await api.post(`/executions/${id}/approve`, { decision: "approved" }, { status: 200 });
    await expect(events).toContainText("execution_complete");
    await expect(answerOf(card)).toContainText("the stream is closed");
    await card.getByRole("button", { name: "Send" }).click();
    await expect(answerOf(card)).toContainText("the stream is closed");
  });

  await test.step("a body is filled in by its fields or as JSON; what cannot be taken back is asked first", async () => {
    const card = await openCard(page, "post /workflows create", "/workflows", "POST");
    await card.getByRole("textbox", { name: "name", exact: true }).fill("From the reference");
    await card.getByRole("button", { name: "Write JSON" }).click();
    const whole = card.getByRole("textbox", { name: "Body as JSON" });
    const typed = JSON.parse(await whole.inputValue());
    expect(typed).toMatchObject({ name: "From the reference", nodes: [{ type: "triggerNode" }, { type: "outputNode" }] });
    await whole.fill("{");
    await card.getByRole("button", { name: "Send" }).click();
    await expect(card.getByRole("alert")).toContainText("not JSON");
    await whole.fill(JSON.stringify({ ...typed, nmae: "x" }));
    await card.getByRole("button", { name: "Send" }).click();
    await expect(answerOf(card)).toContainText("There is no such field.");
    await whole.fill(JSON.stringify(typed));
    await card.getByRole("button", { name: "Send" }).click();
    await expect(answerOf(card)).toContainText("201");
    const [flow] = (await api.get("/workflows")).body.items;
    expect(flow.name).toBe("From the reference");

    const removal = await openCard(page, "delete workflow", "/workflows/{workflow_id}", "DELETE");
    await removal.getByRole("textbox", { name: "workflow_id" }).fill(flow.id);
    await removal.getByRole("button", { name: "Send" }).click();
    const question = page.getByRole("alertdialog", { name: "Delete a workflow?" });
    await expect(question).toContainText(`DELETE /workflows/${flow.id}`);
    await question.getByRole("button", { name: "Cancel" }).click();
    expect((await api.get(`/workflows/${flow.id}`)).status).toBe(200);
    await removal.getByRole("button", { name: "Send" }).click();
    await question.getByRole("button", { name: "Send it" }).click();
    await expect(answerOf(removal)).toContainText("204");
    expect((await api.get(`/workflows/${flow.id}`)).status).toBe(404);
  });
});
