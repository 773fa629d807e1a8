import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { axeFaults, axeFaultsInBothThemes } from "#e2e/axe.ts";
import type { ScriptStep } from "#e2e/fakes/scripted-model.ts";
import { expect } from "#e2e/fixtures.ts";
import { canvas, keptDraft, node } from "#e2e/ui/locators.ts";
import { test } from "#e2e/ui/scripted-assistant.ts";
import { until } from "#e2e/until.ts";
import { Canvas } from "#server/features/canvases/schema.ts";
import { WorkflowVersionPage } from "#server/features/workflows/schema.ts";
import type { Operation } from "#server/workflow/operations.ts";

const trigger = { id: "start", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } };
const output = (id: string, value: string, x = 330) => ({ id, type: "outputNode", position: { x, y: 0 }, data: { label: id, value } });
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });

const proposing = (workflow_id: string, summary: string, operations: Operation[], when?: string): ScriptStep => ({
  calls: [{ name: "propose_changes", args: { workflow_id, summary, operations } }],
  ...(when !== undefined && { when }),
});
const proposal = (page: Page) => page.getByRole("region", { name: "Proposal", exact: true });
const changes = (page: Page) => page.getByRole("complementary", { name: "Proposed changes" });
const panel = (page: Page) => page.getByRole("complementary", { name: "Assistant" });
const side = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const value = (page: Page) => side(page).getByLabel("Value", { exact: true });

/** Writes to the assistant beside the page. */
async function ask(page: Page, text: string): Promise<void> {
  if (await panel(page).isHidden()) await page.keyboard.press("Control+j");
  await panel(page).getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

test("five nodes are built from an empty canvas, accepted as one step, run, and saved with the assistant's name", { tag: "@main" }, async ({
  signedInPage: page,
  assistant,
  workflow,
  agent,
  api,
}) => {
  const { id: agent_id } = await agent({ name: "Writer", model: "echo" });
  const flow = await workflow({ name: "News", nodes: [trigger], edges: [] });
  await page.goto(`/workflows/${flow.id}`);
  // Nobody is there yet who could hear it.
  await expect(canvas(page)).toContainText("to add a node, or drag");
  await expect(page.getByRole("heading", { name: "What would you like to automate?" })).toBeHidden();
  // Who may set that up is led there.
  await page.getByRole("button", { name: "Have the assistant build it" }).click();
  await expect(panel(page).getByRole("region", { name: "The assistant is not set up" })).toBeVisible();
  await page.getByRole("button", { name: "Close assistant" }).click();

  const add = (id: string, type: string, data: Record<string, unknown>): Operation => ({ op: "add_node", node: { id, type, data } });
  await assistant([
    proposing(flow.id, "Writes a text, has it checked for length, and keeps it.", [
      add("write", "agentNode", { label: "Write", agent_id, input: "Write about {{trigger.output}}" }),
      add("long", "branchNode", { label: "Long enough", condition: "len(output) > 5" }),
      add("polish", "agentNode", { label: "Polish", agent_id, input: "Polish {{Write.output}}" }),
      add("result", "outputNode", { label: "Result", value: "{{Polish.output}}" }),
      add("short", "outputNode", { label: "Too short", value: "{{Write.output}}" }),
      { op: "connect", source: "start", target: "write" },
      { op: "connect", source: "write", target: "long" },
      { op: "connect", source: "long", source_handle: "true", target: "polish" },
      { op: "connect", source: "polish", target: "result" },
      { op: "connect", source: "long", source_handle: "false", target: "short" },
    ]),
    { say: "It is on the canvas." },
  ]);
  await page.reload();
  const wish = page.getByRole("textbox", { name: "What would you like to automate?" });
  await page.getByRole("button", { name: "A digest every morning" }).click();
  await expect(wish).toBeFocused();
  expect(await axeFaults(page, "form")).toEqual([]);
  await wish.fill("Write a text and check that it is long enough");
  await wish.press("Enter");

  // Five new nodes stand on the canvas, in rings and in words, and none is in the draft.
  await expect(proposal(page)).toContainText("Writes a text, has it checked for length, and keeps it.");
  await expect(proposal(page)).toContainText("5 added, 5 connections");
  for (const name of ["Agent Write", "Branch Long enough", "Agent Polish", "Output Result", "Output Too short"])
    await expect(node(page, name)).toHaveAccessibleDescription(/^Added/);
  await expect(page.getByRole("button", { name: "Publish", exact: true })).toBeDisabled();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  // One goes through the changes, and sees what is in them.
  await proposal(page).getByRole("button", { name: "Next change" }).click();
  await expect(proposal(page)).toContainText("1 of 5");
  await proposal(page).getByRole("button", { name: "List of changes" }).click();
  await expect(changes(page)).toContainText("Write about {{trigger.output}}");
  // Esc puts the list away and rejects nothing.
  await changes(page).press("Escape");
  await expect(canvas(page)).toContainText("The assistant proposes a change");
  await page.getByRole("button", { name: "Show on canvas" }).first().click();
  await expect(proposal(page)).toBeVisible();

  await page.keyboard.press("Control+Shift+Enter");
  await expect(proposal(page)).toBeHidden();
  await expect(node(page, "Output Result")).not.toHaveAccessibleDescription(/Added/);
  await expect(page.getByText("changed elsewhere")).toBeHidden();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("dialog", { name: "Run workflow" }).getByRole("button", { name: "Run" }).click();
  await expect(page.getByRole("region", { name: "Run" })).toContainText("Completed");

  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Version 2 published")).toBeVisible();
  await page.getByRole("button", { name: "History", exact: true }).click();
  await expect(page.getByRole("button", { name: /^Version 2/ })).toContainText("with the assistant");
  await expect(page.getByRole("button", { name: /^Version 1/ })).not.toContainText("with the assistant");
  const { body } = await api.get(`/workflows/${flow.id}/versions`, { schema: WorkflowVersionPage });
  expect(body.items.map(({ by }) => by)).toEqual(["assistant", null]);
});

test("a change is taken without one of its nodes, undone in one step, and another is rejected", async ({
  signedInPage: page,
  assistant,
  workflow,
  modelServer,
  person,
}) => {
  const flow = await workflow({ nodes: [trigger, output("Result", "first words")], edges: [edge("start", "Result")] });
  const rename: Operation = { op: "update_node", id: "Result", data: { value: "second words" } };
  await assistant([
    proposing(
      flow.id,
      "Says it otherwise, and copies it.",
      [rename, { op: "add_node", node: { id: "copy", type: "outputNode", data: { label: "Copy", value: "{{trigger.output}}" } } }],
      "otherwise",
    ),
    { when: "otherwise", say: "See the canvas." },
    proposing(flow.id, "Takes it away.", [{ op: "remove_node", id: "Result" }], "away"),
  ]);
  await page.goto(`/workflows/${flow.id}`);
  // On a slow line the model has proposed it before the page has read the new thread.
  await page.route(/api\/trpc\/[^?]*assistant\.thread[,?]/, async (route) => {
    await until(async () => (await modelServer.calls({ contains: "Say it otherwise" })).length >= 2 || undefined);
    await route.continue();
  });
  await ask(page, "Say it otherwise");
  await expect(node(page, "Output Copy")).toHaveAccessibleDescription(/Added/);
  // By keyboard, from the card's menu.
  await node(page, "Output Copy").focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Leave this change out" }).press("Enter");
  await expect(node(page, "Output Copy")).toHaveAccessibleDescription(/Left out/);
  await expect(proposal(page)).toContainText("1 changed · 1 left out");
  await node(page, "Output Result").click();
  await expect(changes(page).locator("del")).toHaveText("first");
  await expect(changes(page).locator("ins")).toHaveText("second");
  await expect(panel(page).getByRole("list", { name: "Attached" })).toContainText("Result");
  await changes(page).getByRole("button", { name: "Keep Output Copy" }).click();
  await expect(proposal(page)).toContainText("1 added, 1 changed");
  await changes(page).getByRole("button", { name: "Leave out Output Copy" }).click();
  // Over a slow line the thread says it before the canvas knows.
  await page.route("**/api/trpc/assistant.acceptProposal*", async (route) => {
    const response = await route.fetch();
    await expect(panel(page)).toContainText("Accepted. It is in the draft");
    await route.fulfill({ response });
  });
  await proposal(page).getByRole("button", { name: "Accept" }).click();
  await expect(proposal(page)).toBeHidden();
  await expect(node(page, "Output Copy")).toBeHidden();
  await expect(canvas(page)).toBeFocused();
  // What the server has now is known here: looking again finds nobody else's change.
  const isLookedAt = page.waitForResponse((answer) => answer.url().includes("workflows.head") && answer.ok());
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await isLookedAt;
  await expect(page.getByRole("button", { name: "Load theirs" })).toBeHidden();
  await node(page, "Output Result").click();
  await expect(value(page)).toHaveValue("second words");
  const isUndone = keptDraft(page, "first words");
  await page.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Undo" }).click();
  await expect(value(page)).toHaveValue("first words");
  await isUndone;

  await ask(page, "Take it away");
  await expect(node(page, "Output Result")).toHaveAccessibleDescription(/Removed/);
  await proposal(page).getByRole("button", { name: "Reject" }).click();
  await expect(proposal(page)).toBeHidden();
  await expect(panel(page)).toContainText("Rejected");
  await expect(node(page, "Output Result")).not.toHaveAccessibleDescription(/Removed/);
  await expect(node(page, "Output Result")).toBeVisible();
  // Nor does it come back: the server has none that waits, and the draft has its node.
  const { items } = await (await person.browser.get(`/api/v1/bridge/workflows/${flow.id}/proposals`)).json();
  expect(items).toEqual([]);
  const input = encodeURIComponent(JSON.stringify({ workflow_id: flow.id }));
  const editor = await (await person.browser.get(`/api/trpc/workflows.editor?input=${input}`)).json();
  expect(editor.result.data.draft.nodes.map(({ id }: { id: string }) => id)).toContain("Result");
});

test("what somebody edits meanwhile is kept beside the proposal; where both changed the same it is refused, or left out", async ({
  signedInPage: page,
  assistant,
  workflow,
}) => {
  const flow = await workflow({
    nodes: [trigger, output("First", "one"), output("Second", "two", 660)],
    edges: [edge("start", "First"), edge("First", "Second")],
  });
  const change = (first: string, when: string): ScriptStep =>
    proposing(flow.id, `Says ${first}.`, [{ op: "update_node", id: "First", data: { value: first } }], when);
  await assistant([
    change("uno", "Italian"),
    { when: "Italian", say: "Done." },
    proposing(
      flow.id,
      "Says it in French.",
      [
        { op: "update_node", id: "First", data: { value: "un" } },
        { op: "update_node", id: "Second", data: { value: "deux" } },
      ],
      "French",
    ),
    { when: "French", say: "Done." },
    proposing(flow.id, "Says it in German.", [{ op: "update_node", id: "Second", data: { value: "zwo" } }], "In German"),
    { when: "In German", say: "Done." },
    proposing(flow.id, "Says it in German, again.", [{ op: "update_node", id: "Second", data: { value: "zwei" } }], "Propose this again"),
  ]);
  await page.goto(`/workflows/${flow.id}`);
  await ask(page, "In Italian please");
  await expect(node(page, "Output First")).toHaveAccessibleDescription(/Changed/);
  await proposal(page).getByRole("button", { name: "Hide the proposal" }).click();
  await node(page, "Output Second").click();
  // Not on the server yet when it is accepted.
  await value(page).fill("my two");
  await panel(page).getByRole("button", { name: "Accept" }).click();
  await expect(canvas(page)).not.toContainText("The assistant proposes");
  await expect(value(page)).toHaveValue("my two");
  await node(page, "Output First").click();
  await expect(value(page)).toHaveValue("uno");
  await expect(page.getByText("Saved", { exact: true }).first()).toBeVisible();

  await ask(page, "In French please");
  await expect(proposal(page)).toContainText("2 changed");
  await proposal(page).getByRole("button", { name: "Hide the proposal" }).click();
  await node(page, "Output First").click();
  const isKept = keptDraft(page, "my one");
  await value(page).fill("my one");
  await isKept;
  await page.getByRole("button", { name: "Show on canvas" }).first().click();
  await expect(proposal(page)).toContainText("“First” was changed since in another way");
  await expect(node(page, "Output First")).toHaveAccessibleDescription(/Changed by you too/);
  await expect(proposal(page).getByRole("button", { name: "Accept" })).toHaveCount(0);
  await expect(proposal(page).getByRole("button", { name: "Ask again" })).toBeVisible();
  await page.keyboard.press("Control+Shift+Enter");
  await expect(proposal(page)).toBeVisible();
  await proposal(page).getByRole("button", { name: "List of changes" }).click();
  await changes(page).getByRole("button", { name: "Leave out Output First" }).click();
  await proposal(page).getByRole("button", { name: "Accept" }).click();
  await expect(proposal(page)).toBeHidden();
  await node(page, "Output First").click();
  await expect(value(page)).toHaveValue("my one");
  await node(page, "Output Second").click();
  await expect(value(page)).toHaveValue("deux");

  await ask(page, "In German please");
  await expect(proposal(page)).toContainText("1 changed");
  await proposal(page).getByRole("button", { name: "Hide the proposal" }).click();
  const isChanged = keptDraft(page, "my second two");
  await value(page).fill("my second two");
  await isChanged;
  await page.getByRole("button", { name: "Show on canvas" }).first().click();
  await proposal(page).getByRole("button", { name: "Ask again" }).click();
  await expect(panel(page)).toContainText("Propose this again for the workflow as it is now: Says it in German.");
  await expect(proposal(page)).toContainText("Says it in German, again.");
  await proposal(page).getByRole("button", { name: "Accept" }).click();
  await expect(value(page)).toHaveValue("zwei");
});

test("a failed run is repaired: the proposal is run on what was recorded, and kept", async ({
  signedInPage: page,
  assistant,
  workflow,
  agent,
  executed,
}) => {
  const { id: broken } = await agent({ name: "Broken", model: "quote-500" });
  const { id: sound } = await agent({ name: "Sound", model: "echo" });
  const ask = {
    id: "ask",
    type: "agentNode",
    position: { x: 330, y: 0 },
    data: { label: "Ask", agent_id: broken, input: "{{trigger.output}}" },
  };
  const flow = await workflow({
    name: "Fragile",
    nodes: [trigger, ask, output("Result", "{{Ask.output}}", 660)],
    edges: [edge("start", "ask"), edge("ask", "Result")],
  });
  const failed = await executed(flow, { input: "tea" });
  await assistant([
    { calls: [{ name: "get_run_log", args: { execution_id: failed.id } }] },
    proposing(flow.id, "Asks Sound in place of Broken.", [{ op: "update_node", id: "ask", data: { agent_id: sound } }]),
    {
      calls: [
        { name: "rerun_from_node", args: { execution_id: failed.id, node_id: "ask", proposal_id: "{{propose_changes.proposal_id}}" } },
      ],
    },
    { say: "With Sound in its place the run completes." },
  ]);
  await page.goto(`/runs/${failed.id}`);
  await page.getByRole("button", { name: "Repair" }).click();
  await expect(panel(page)).toContainText("With Sound in its place the run completes.");
  const proof = panel(page).getByRole("region", { name: "Before and after" });
  await expect(proof).toContainText("Failed");
  await expect(proof).toContainText("Completed");
  await panel(page).getByRole("link", { name: "Show on canvas" }).click();
  await expect(page).toHaveURL(new RegExp(`/workflows/${flow.id}`));
  await expect(node(page, "Agent Ask")).toHaveAccessibleDescription(/Changed/);
  await proposal(page).getByRole("button", { name: "Accept" }).click();
  await expect(proposal(page)).toBeHidden();
  await expect(node(page, "Agent Ask")).toContainText("Sound");
});

test("a run, a node and the whole page lead to the assistant, which is told what they are", async ({
  signedInPage: page,
  assistant,
  workflow,
  executed,
}) => {
  const flow = await workflow({ name: "Plain", nodes: [trigger, output("Result", "tea")], edges: [edge("start", "Result")] });
  const run = await executed(flow);
  await assistant([{ say: "It kept the word tea." }]);
  await page.goto(`/runs/${run.id}`);
  await expect(page.getByRole("button", { name: "Repair" })).toHaveCount(0);
  await page.getByRole("button", { name: "Explain", exact: true }).click();
  await expect(panel(page)).toContainText("Explain this run.");
  await expect(panel(page)).toContainText("It kept the word tea.");
  // What went along is said, and leads there.
  const about = panel(page).getByRole("list", { name: "About" });
  await expect(about.getByRole("link")).toHaveText(["Workflow Plain", "Run of Plain", "Node Result"]);
  await about.getByRole("link", { name: "Workflow Plain" }).click();
  await expect(page).toHaveURL(new RegExp(`/workflows/${flow.id}$`));

  await page.getByRole("button", { name: "Ask the assistant" }).click();
  await expect(panel(page)).toBeHidden();
  await node(page, "Output Result").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Ask about this node" }).click();
  await expect(panel(page).getByRole("textbox", { name: "Message" })).toBeFocused();
  await expect(panel(page).getByRole("list", { name: "Attached" })).toContainText("Result");
  await page.keyboard.press("Control+j");
  await expect(panel(page)).toBeHidden();
});

test("nobody's canvas is taken away while they write", async ({ signedInPage: page, assistant, modelServer, workflow }) => {
  const flow = await workflow({ nodes: [trigger, output("Result", "tea")], edges: [edge("start", "Result")] });
  const gate = randomUUID();
  const change = proposing(flow.id, "Says coffee.", [{ op: "update_node", id: "Result", data: { value: "coffee" } }]);
  await assistant([{ ...change, say: "Let me think about that for a while.", gate }]);
  await page.goto(`/workflows/${flow.id}`);
  await ask(page, "Coffee please");
  await expect(panel(page)).toContainText("Let me");
  await node(page, "Output Result").click();
  await value(page).pressSequentially(" and cake");
  await modelServer.release(gate);
  await expect(canvas(page)).toContainText("The assistant proposes a change");
  await expect(value(page)).toBeFocused();
});

test("what is proposed while nobody looks at the assistant comes to the canvas, its end is told, and on a phone it is accepted", async ({
  signedInPage: page,
  assistant,
  modelServer,
  workflow,
  person,
}) => {
  const flow = await workflow({ nodes: [trigger, output("Result", "tea")], edges: [edge("start", "Result")] });
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  const change = proposing(flow.id, "Says coffee.", [{ op: "update_node", id: "Result", data: { value: "coffee" } }]);
  await assistant([
    { ...change, when: "Coffee", say: "Let me think about it.", gate: first },
    { when: "Coffee", say: "See the canvas.", gate: second },
    { when: "Milk", say: "A short question.", calls: [{ name: "ask_user", args: { question: "Hot or cold?" } }], gate: third },
  ]);
  await page.goto(`/workflows/${flow.id}`);
  await ask(page, "Coffee please");
  await expect(panel(page)).toContainText("Let me");
  await page.getByRole("button", { name: "Close assistant" }).click();
  await modelServer.release(first);
  await expect(node(page, "Output Result")).toHaveAccessibleDescription(/Changed/);
  await page.reload();
  await expect(proposal(page)).toContainText("1 changed");
  await modelServer.release(second);
  await expect(page.getByText("The assistant is done with “Coffee please”")).toBeVisible();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect(panel(page)).toContainText("See the canvas.");
  await ask(page, "Milk too");
  await expect(panel(page)).toContainText("A short");
  // What is asked of the server when it is closed is answered when the work has ended.
  const hasEnded = Promise.withResolvers<void>();
  await page.route(/api\/trpc\/[^?]*assistant\.threads[,?]/, async (route) => {
    await hasEnded.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Close assistant" }).click();
  await modelServer.release(third);
  await until(async () => {
    const { items } = await (await person.browser.get("/api/v1/bridge/threads")).json();
    return items[0].is_waiting || undefined;
  });
  hasEnded.resolve();
  await expect(page.getByText("The assistant waits for you in “Coffee please”")).toBeVisible();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect(panel(page)).toContainText("Hot or cold?");
  // On a phone it lies over what it shows.
  await page.setViewportSize({ width: 390, height: 844 });
  await panel(page).getByRole("button", { name: "Show on canvas" }).click();
  await expect(panel(page)).toBeHidden();
  await expect(proposal(page)).toBeInViewport();
  // There it is gone through and accepted with a thumb.
  await expect(proposal(page)).toContainText("1 changed");
  await expect(changes(page)).toBeHidden();
  await node(page, "Output Result").click();
  await expect(changes(page).locator("ins")).toHaveText("coffee");
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await changes(page).getByRole("button", { name: "Close proposed changes" }).click();
  await proposal(page).getByRole("button", { name: "Accept" }).click();
  await expect(proposal(page)).toBeHidden();
  await node(page, "Output Result").click();
  await expect(value(page)).toHaveValue("coffee");
});

test("a link in an answer leads to the very node, in a workflow and in a run", async ({
  signedInPage: page,
  assistant,
  workflow,
  executed,
}) => {
  const ids = Array.from({ length: 12 }, (_, index) => `Step${index}`);
  const flow = await workflow({
    name: "Long",
    nodes: [trigger, ...ids.map((id, index) => output(id, "tea", 330 * (index + 1)))],
    edges: ids.map((id, index) => edge(ids[index - 1] ?? "start", id)),
  });
  const run = await executed(flow);
  await assistant([
    { say: `The end is [in the workflow](/workflows/${flow.id}?node=Step11) and [in the run](/runs/${run.id}?node=Step2).` },
  ]);
  await page.goto("/agents");
  await ask(page, "Where is the end?");
  const attached = panel(page).getByRole("list", { name: "Attached" });
  await panel(page).getByRole("link", { name: "in the workflow" }).click();
  await expect(attached).toContainText("Step11");
  await expect(node(page, "Output Step11")).toBeInViewport();
  await expect(page).toHaveURL(new RegExp(`/workflows/${flow.id}$`));
  // Once more, after one has turned to something else there.
  await node(page, "Trigger Start").focus();
  await page.keyboard.press("Enter");
  await expect(attached).toContainText("Start");
  await panel(page).getByRole("link", { name: "in the workflow" }).click();
  await expect(attached).toContainText("Step11");
  await panel(page).getByRole("link", { name: "in the run" }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${run.id}$`));
  await expect(attached).toContainText("Step2");
});

test("a number of a dashboard is explained beside it, and the answer leads back there; an empty canvas asks beside that thread", async ({
  signedInPage: page,
  assistant,
  workflow,
  executed,
  api,
}) => {
  const flow = await workflow({
    name: "Sales",
    nodes: [trigger, output("Result", "{{trigger.output}}")],
    edges: [edge("start", "Result")],
  });
  const run = await executed(flow, { input: JSON.stringify({ total: 42 }) });
  const widget = {
    id: "total",
    type: "number",
    title: "Total",
    workflow_id: flow.id,
    output_label: "Result",
    options: { path: "$.total" },
  };
  const layout = { x: 0, y: 0, w: 6, h: 4 };
  const { body: figures } = await api.post("/canvases", { name: "Figures", widgets: [{ ...widget, layout }] }, { schema: Canvas });
  await assistant([
    { calls: [{ name: "get_canvas", args: { canvas_id: figures.id } }] },
    {
      say: "It is {{get_canvas.widgets.0.shows.value}}, from [this run](/runs/{{get_canvas.widgets.0.shows.execution_id}}), as [Figures](/canvases/{{get_canvas.canvas_id}}) shows.",
    },
  ]);
  await page.goto(`/canvases/${figures.id}`);
  await ask(page, "Where does this number come from?");
  await expect(panel(page)).toContainText("It is 42, from this run");
  await expect(panel(page).getByRole("list", { name: "About" })).toContainText("Figures");
  await expect(panel(page).getByText("Read the canvas “Figures”")).toBeVisible();
  await panel(page).getByRole("link", { name: "this run" }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${run.id}$`));
  await panel(page).getByRole("link", { name: "Figures", exact: true }).last().click();
  await expect(page).toHaveURL(new RegExp(`/canvases/${figures.id}$`));

  const empty = await workflow({ name: "Nothing yet", nodes: [trigger], edges: [] });
  await page.goto(`/workflows/${empty.id}`);
  await expect(panel(page)).toContainText("It is 42, from this run");
  const wish = page.getByRole("heading", { name: "What would you like to automate?" });
  await expect(wish).toBeVisible();
  // A new thread asks by itself.
  await panel(page).getByRole("button", { name: "New thread" }).click();
  await expect(panel(page).getByRole("heading", { name: "What would you like to do?" })).toBeVisible();
  await expect(wish).toBeHidden();
});
