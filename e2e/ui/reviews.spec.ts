import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { test as base, expect } from "#e2e/fixtures.ts";
import { Execution } from "#server/runs/schema.ts";

const test = base.extend<{
  /** Starts a run of this graph and waits until so many of its reviews wait. */
  paused(name: string, graph: ReturnType<typeof graphOf>, reviews?: number): Promise<Execution>;
  /** Runs this graph to its end. */
  ran(name: string, graph: ReturnType<typeof graphOf>, input?: string): Promise<Execution>;
}>({
  paused: async ({ execute, waiting, workflow }, use) =>
    use(async (name, graph, reviews) => waiting(await execute(await workflow({ name, ...graph }), { input: "the draft" }), reviews)),
  ran: async ({ workflow, executed }, use) =>
    use(async (name, graph, input = "x") => {
      const flow = await workflow({ name, ...graph });
      return executed(flow, { input });
    }),
});

/** A review with an Output at Approved, and at Rejected when asked for. */
const pressDesk = ({ hasRejected, content = "# Draft\n\n{{trigger.output}}" }: { hasRejected: boolean; content?: string }) =>
  graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Check: ["humanLoop", { title: "Publish it?", description: "Names are **checked**.", display_value: content }],
      Print: ["output", { value: "printed: {{Check.comment}}" }],
      ...(hasRejected && { Back: ["output", { value: "back" }] }),
    },
    ["Start>Check", "Check.approved>Print", ...(hasRejected ? ["Check.rejected>Back"] : [])],
  );
/** Twelve items, of which the one with index 7 fails. */
const orders = graphOf(
  {
    Start: ["trigger", { kind: "manual" }],
    Each: ["loop", { items_expression: "[0,1,2,3,4,5,6,7,8,9,10,11]", on_item_error: "continue", concurrency: 2 }],
    Divide: ["branch", { condition: "1 / (int(output) - 7) > 0" }],
    Say: ["output", { value: "item {{Each.current_item}}" }],
  },
  ["Start>Each", "Each.body>Divide", "Divide.true>Say", "Divide.false>Say"],
);

const node = (page: Page, name: string) => page.getByRole("region", { name: "Workflow canvas" }).getByRole("group", { name, exact: true });
const values = (page: Page) => page.getByRole("complementary", { name: "Values" });

test("a review is found by its badge, approved with a comment, and the run says who did it", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  paused,
  finished,
}) => {
  const execution = await paused("Press desk", pressDesk({ hasRejected: true }));
  await page.goto("/");
  await expect(page.getByRole("region", { name: "Waiting for approval" })).toContainText("Publish it?");
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: /Approvals\s*1 waiting/ })
    .click();
  const card = page.getByRole("article", { name: "Publish it?" });
  await expect(card).toContainText("Press desk");
  await expect(card).toContainText("No deadline");
  await expect(card.getByRole("heading", { name: "Draft" })).toBeVisible();
  await expect(card.getByRole("button", { name: "Reject" })).toHaveAccessibleDescription(/goes on at Rejected/);
  await card.getByLabel("Comment").fill("Nice and short");
  await card.getByLabel("Comment").press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Approve: Publish it?")).toBeVisible();
  await page.getByRole("button", { name: "Send now" }).click();
  await expect(page.getByText("Nothing waits for a decision")).toBeVisible();
  await expect(page.getByRole("link", { name: "Approvals", exact: true })).toBeVisible(); // nothing is counted any more
  expect(await finished(execution.id)).toMatchObject({ status: "completed", output: "printed: Nice and short" });

  await page.getByRole("tab", { name: "Decided" }).click();
  const decided = page.getByRole("tabpanel", { name: "Decided" }).getByRole("article", { name: "Publish it?" });
  await expect(decided).toContainText("Approved by Robin Weaver (admin) in the web app");
  await expect(decided).toContainText("Nice and short");
  await decided.getByRole("link", { name: /Press desk/ }).click();
  await expect(page.getByRole("heading", { name: /Press desk/ })).toBeVisible();
  await page.getByRole("tab", { name: "Reviews" }).click();
  await expect(page.getByRole("tabpanel", { name: "Reviews" })).toContainText("Approved by Robin Weaver (admin) in the web app");
  const { body } = await api.get(`/executions/${execution.id}`, { schema: Execution });
  expect(body.reviews).toMatchObject([{ decision: "approved", via: "ui", role: "admin" }]);
});

test("the bell tells of a review, leads to its run, and rejecting there ends it", { tag: "@main" }, async ({
  signedInPage: page,
  paused,
}) => {
  await paused("Refunds", pressDesk({ hasRejected: false }));
  const bell = page.getByRole("button", { name: /^Notifications/ });
  await expect(async () => {
    await page.goto("/runs"); // where runs that failed before are seen, and no longer counted
    await expect(bell).toHaveAccessibleName("Notifications, 1 unread", { timeout: 2000 });
  }).toPass();
  await bell.click();
  await page
    .getByRole("dialog", { name: "Notifications" })
    .getByRole("link", { name: /Publish it\?/ })
    .click();
  await expect(page).toHaveURL(/runs\/[0-9a-f-]{36}/);
  await expect(bell).toHaveAccessibleName("Notifications");
  await expect(page.getByText("Waiting for approval", { exact: true })).toBeVisible();
  await expect(node(page, "Review Check")).toHaveAccessibleDescription(/Waiting/);
  const reject = values(page).getByRole("button", { name: "Reject" });
  await expect(reject).toHaveAccessibleDescription(/ends as rejected/);
  await reject.click();
  await expect(page.getByText("Rejected", { exact: true }).first()).toBeVisible();
  await expect(page.getByText("Waiting for approval", { exact: true })).toBeHidden();
  await expect(node(page, "Output Print")).toHaveAccessibleDescription(/Skipped/);
});

test("in the editor ten lines are read before the answers, on a phone too, and a comment is added there", async ({
  signedInPage: page,
  workflow,
}) => {
  const lines = Array.from({ length: 10 }, (_, index) => `Line ${index + 1}.`);
  const flow = await workflow(
    graphOf(
      {
        Start: ["trigger", { kind: "manual" }],
        Check: ["humanLoop", { title: "Publish it?", display_value: lines.join("\\\n") }],
        Print: ["output", { value: "printed: {{Check.comment}}" }],
      },
      ["Start>Check", "Check.approved>Print"],
    ),
  );
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const panel = page.getByRole("region", { name: "Run", exact: true });
  const card = panel.getByRole("article", { name: "Publish it?" });
  const text = card.getByRole("region", { name: "Content to review" }).getByText("Line 10.");
  const isReadFirst = async () => {
    await expect(text).toBeInViewport({ ratio: 1 });
    const [read, answer] = [await text.boundingBox(), await card.getByRole("button", { name: "Approve" }).boundingBox()];
    expect((read?.y ?? 0) + (read?.height ?? 0)).toBeLessThanOrEqual(answer?.y ?? 0);
  };
  await isReadFirst();
  // Nothing offers to show what is there; beside another node it does.
  const show = panel.getByRole("button", { name: "Show", exact: true });
  await expect(show).toBeHidden();
  await panel.getByRole("list", { name: "Nodes of this run" }).getByText("Start").click();
  await expect(card).toBeHidden();
  await show.click();
  await expect(card).toBeFocused();
  await page.setViewportSize({ width: 390, height: 844 });
  const nodes = panel.getByRole("list", { name: "Nodes of this run" });
  await expect(nodes).toBeHidden(); // the page is laid out anew a moment after its window has changed
  await isReadFirst();
  await panel.getByRole("button", { name: "Show all nodes" }).click();
  await expect(nodes).toBeVisible();
  await panel.getByRole("button", { name: "Hide the nodes" }).click();
  await card.getByRole("button", { name: "Add a comment" }).click();
  await expect(card.getByLabel("Comment")).toBeFocused();
  await page.keyboard.type("Go ahead");
  await card.getByRole("button", { name: "Approve" }).click();
  await expect(panel).toContainText("printed: Go ahead");
});

test("a long text is read whole, and who comes too late keeps the words", async ({ signedInPage: page, paused, newUser }) => {
  const long = `${"A line of the draft.\n\n".repeat(200)}The very end.`;
  const press = await paused("Press desk", pressDesk({ hasRejected: true }));
  const refunds = await paused("Refunds", pressDesk({ hasRejected: false, content: long }));
  const orders = await paused("Orders desk", pressDesk({ hasRejected: false }));
  const editor = await newUser({ role: "editor" });
  const decide = (id: string, body: object) => editor.api.post(`/executions/${id}/approve`, body, { status: 200 });

  await page.goto("/approvals");
  const cardOf = (workflow: string) => page.getByRole("article", { name: "Publish it?" }).filter({ hasText: workflow });
  const open = (workflow: string) =>
    page
      .getByRole("region", { name: "Reviews" })
      .getByRole("button", { name: new RegExp(workflow) })
      .click();
  const typedAt = cardOf("Refunds");
  await open("Refunds");
  await expect(typedAt).toContainText("Only the beginning is shown.");
  await expect(typedAt).not.toContainText("The very end.");
  await typedAt.getByRole("button", { name: "Show all" }).click();
  await expect(typedAt.getByText("The very end.")).toBeVisible();
  await typedAt.getByRole("button", { name: "Show less" }).click();
  await typedAt.getByLabel("Comment").fill("Ask Ada first");
  await decide(refunds.id, { decision: "approved", comment: "Fine by me" });

  // Deciding reads the list again, which has neither of the two any more.
  const tooLate = cardOf("Press desk");
  await open("Press desk");
  await tooLate.getByLabel("Comment").fill("late");
  await decide(press.id, { decision: "approved" });
  await tooLate.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("button", { name: "Send now" }).click();
  const refusal = page.getByRole("alert").filter({ hasText: "Your answer was not taken" });
  await expect(refusal).toContainText(/has already approved/);
  for (const [workflow, card, words] of [
    ["Press desk", tooLate, "late"],
    ["Refunds", typedAt, "Ask Ada first"],
  ] as const) {
    await open(workflow);
    await expect(card).toContainText("Approved by Robin Weaver (editor) over the API");
    const unsent = card.getByLabel("Your comment, which was not sent");
    await expect(unsent).toHaveValue(words);
    await expect(unsent).not.toBeEditable();
    await expect(card.getByRole("button", { name: "Copy comment" })).toBeVisible();
    await expect(card.getByRole("button", { name: "Approve" })).toBeHidden();
  }
  await expect(typedAt).toContainText("Fine by me");
  await typedAt.getByRole("button", { name: "Dismiss" }).click();
  await expect(typedAt).toBeHidden();
  await expect(page.locator("[data-focus-home]").first()).toBeFocused();
  await open("Press desk");
  await expect(tooLate).toBeVisible();

  await page.goto(`/runs/${orders.id}`);
  await values(page).getByRole("button", { name: "Add a comment" }).click();
  await page.keyboard.type("Half a thou");
  await decide(orders.id, { decision: "approved" });
  await expect(values(page)).toContainText("Approved by Robin Weaver (editor) over the API");
  // Whoever types is not thrown out of the field, though the run has gone on to another node.
  await expect(values(page).getByLabel("Your comment, which was not sent")).toBeFocused();
  await expect(values(page).getByLabel("Your comment, which was not sent")).toHaveValue("Half a thou");
  await values(page).getByRole("button", { name: "Dismiss" }).click();
  await expect(values(page).getByRole("article")).toBeHidden();
});

test("a loop shows its items as a strip, and one that is picked shows what the nodes inside did", async ({ signedInPage: page, ran }) => {
  const execution = await ran("Orders", orders);
  await page.setViewportSize({ width: 1920, height: 1080 }); // so near that cards say more than their state
  await page.goto(`/runs/${execution.id}`);
  // Its head: a card of its body lies over the middle.
  await node(page, "Loop Each").click({ position: { x: 40, y: 14 } });
  const strip = values(page).getByRole("slider", { name: "Items of Each" });
  await expect(values(page)).toContainText("12 of 12, 1 failed");
  await expect(node(page, "Output Say")).toContainText("11 items");
  await strip.focus();
  await page.keyboard.press("End");
  await expect(strip).toHaveAttribute("aria-valuenow", "12");
  await page.keyboard.press("ArrowLeft");
  await expect(strip).toHaveAttribute("aria-valuetext", "Item 11: complete");
  await strip.click({ position: { x: ((await strip.boundingBox())?.width ?? 0) * (7.5 / 12), y: 10 } });
  await expect(strip).toHaveAttribute("aria-valuetext", "Item 8: failed");
  await node(page, "Branch Divide").click();
  await expect(values(page).getByRole("tabpanel", { name: "Output" })).toContainText("ZeroDivisionError");
  await values(page).getByRole("button", { name: "Next item" }).click();
  await node(page, "Output Say").click();
  await expect(values(page).getByRole("tabpanel", { name: "Output" })).toContainText("item 8");
  await values(page).getByRole("spinbutton", { name: "Item of Each" }).fill("4");
  await expect(values(page).getByRole("tabpanel", { name: "Output" })).toContainText("item 3");
  await page.getByRole("tab", { name: "Log" }).click();
  const log = page.getByRole("tabpanel", { name: "Log" }).getByRole("region", { name: "Items of Each" });
  await expect(log).toContainText("item 3");
  await expect(log).not.toContainText("item 8");
  await log.getByRole("button", { name: "Next item" }).click();
  await expect(log).toContainText("item 4");
  await expect(log).not.toContainText("item 3");
});

test("an output too large for the page is shown in part, and whole when asked for", async ({ signedInPage: page, ran }) => {
  const graph = graphOf({ Start: ["trigger", { kind: "manual" }], Keep: ["output", { value: "{{trigger.output}}!" }] }, ["Start>Keep"]);
  const execution = await ran("Long", graph, `${"word ".repeat(60_000)}the end`);
  await page.goto(`/runs/${execution.id}`);
  await node(page, "Trigger Start").click();
  const output = values(page).getByRole("tabpanel", { name: "Output" });
  await expect(output).toContainText("word word");
  await expect(output).not.toContainText("the end");
  await output.getByRole("button", { name: /Show all 300 kB/ }).click();
  await expect(output).toContainText("the end");
});

test("a run is run again from a node: what came before is taken over", async ({ signedInPage: page, agent, ran }) => {
  const scout = await agent({ model: "echo" });
  const graph = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Research: ["agent", { agent_id: scout.id, input: "{{trigger.output}}" }],
      Keep: ["output", { value: "kept: {{Research.output}}" }],
    },
    ["Start>Research", "Research>Keep"],
  );
  const first = await ran("Weaving news", graph, "looms");
  await page.goto(`/runs/${first.id}`);
  await node(page, "Output Keep").click();
  await values(page).getByRole("button", { name: "Run again from here" }).click();
  await expect(page).not.toHaveURL(new RegExp(first.id));
  await expect(page.getByRole("link", { name: /Rerun of/ })).toHaveAttribute("href", `/runs/${first.id}`);
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible();
  await node(page, "Agent Research").click();
  await expect(values(page)).toContainText("Reused");
  await expect(values(page).getByRole("link", { name: "from the run before" })).toHaveAttribute("href", `/runs/${first.id}`);
  await node(page, "Output Keep").click();
  await expect(values(page).getByText("Reused")).toBeHidden();

  await page.getByRole("button", { name: "Run again", exact: true }).click();
  const second = page.url();
  await page.getByRole("menuitem", { name: "Version 1, same input" }).click();
  await expect(page).not.toHaveURL(second);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs" }).click();
  await expect(page.getByRole("row", { name: /Weaving news/ })).toHaveCount(3);
  await expect(page.getByRole("link", { name: /^Rerun of/ }).last()).toHaveAttribute("href", `/runs/${first.id}`);
});
