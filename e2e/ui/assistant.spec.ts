import { randomUUID } from "node:crypto";
import type { Locator, Page, Route } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";
import { test } from "#e2e/ui/scripted-assistant.ts";

// The assistant on the screen, on a model that follows each test's own script.

const assistantOf = (page: Page) => page.getByRole("complementary", { name: "Assistant" });
const messageOf = (page: Page) => assistantOf(page).getByRole("textbox", { name: "Message" });

/** Writes a message and sends it by Enter. */
async function say(page: Page, text: string) {
  await messageOf(page).fill(text);
  await messageOf(page).press("Enter");
}

/** Goes on by this key until the focus is there. */
async function tabTo(page: Page, target: Locator, key: "Tab" | "Shift+Tab") {
  for (let presses = 0; presses < 30; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  await expect(target).toBeFocused();
}

test("a question is answered while one watches; all is there again later, and threads are renamed and deleted", { tag: "@main" }, async ({
  signedInPage: page,
  assistant,
}) => {
  await assistant([
    { when: "do I have", say: "Let me look.", calls: [{ name: "list_workflows" }] },
    { when: "do I have", say: "You have **no workflow** yet. [The guide](/docs/editor) says how to begin.", delayMs: 20 },
    { when: "kept", say: "Yes." },
  ]);
  await page.goto("/runs");
  await page.getByRole("button", { name: "Ask the assistant" }).click();
  await expect(messageOf(page)).toBeFocused();
  await say(page, "What do I have here?");
  await expect(messageOf(page)).toHaveValue("");
  const panel = assistantOf(page);
  await expect(panel.getByText("You: What do I have here?")).toBeVisible();
  await expect(panel.getByText("no workflow", { exact: true })).toBeVisible();
  await expect(panel.getByRole("list", { name: "What the assistant did" }).getByRole("listitem")).toHaveCount(1);
  await expect(panel.getByRole("status").filter({ hasText: "The assistant has answered" })).toBeAttached();
  await expect(panel.getByText(/tokens/)).toBeVisible();
  // The head says which thread it is, and leads to the others.
  await panel.getByRole("button", { name: "Threads: What do I have here?" }).click();
  await expect(page.getByRole("dialog", { name: "Threads" }).getByRole("listitem")).toContainText("What do I have here?");
  await page.keyboard.press("Escape");
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  // What is open stays open on another page, and what is typed stays typed.
  await messageOf(page).fill("Half a thou");
  await page.goto("/skills");
  await expect(messageOf(page)).toHaveValue("Half a thou");
  await panel.getByRole("button", { name: "Close assistant" }).click();
  await expect(panel).toBeHidden();
  await page.keyboard.press("ControlOrMeta+j");
  await expect(messageOf(page)).toBeFocused();
  await expect(messageOf(page)).toHaveValue("Half a thou");
  await page.keyboard.press("ControlOrMeta+j");
  await expect(panel).toBeHidden();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Skills", level: 1 })).toBeVisible();
  await expect(panel).toBeHidden();

  // The thread is there again, also as a page.
  await page.keyboard.press("ControlOrMeta+j");
  await expect(panel.getByText("no workflow", { exact: true })).toBeVisible();
  await panel.getByRole("link", { name: "Open as a page" }).click();
  await expect(page).toHaveURL(/\/bridge\?thread=/);
  await expect(panel.getByText("no workflow", { exact: true })).toBeVisible();
  const threads = page.getByRole("list", { name: "Threads" }).getByRole("listitem");
  await expect(threads).toContainText("What do I have here?");

  // Another, begun on that page.
  await page.getByRole("button", { name: "New thread" }).click();
  await expect(page).toHaveURL(/\/bridge$/);
  await say(page, "Is this kept?");
  await expect(panel.getByText("Yes.")).toBeVisible();
  await chooseOf(page, "Is this kept?", "Rename");
  await page.getByRole("dialog").getByRole("textbox", { name: "Title" }).fill("Kept things");
  await page.keyboard.press("Enter");
  await expect(threads).toHaveText([/^Kept things/, /^What do I have here\?/]);
  // Beside another page the panel, which is open as it was left, goes on with it.
  await page.getByRole("link", { name: "Agents" }).click();
  await expect(panel.getByRole("button", { name: "Threads: Kept things" })).toBeVisible();
  await expect(panel.getByText("Yes.")).toBeVisible();
  await panel.getByRole("link", { name: "Open as a page" }).click();
  await chooseOf(page, "Kept things", "Delete");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(threads).toHaveText([/^What do I have here\?/]);
  await expect(page).toHaveURL(/\/bridge$/);
  await expect(panel.getByText("Yes.")).toHaveCount(0);
});

test("it is stopped, and what was said is kept; further messages wait their turn; a fault of the vendor is told in words", async ({
  signedInPage: page,
  assistant,
  modelServer,
}) => {
  const gate = randomUUID();
  await assistant([
    { when: "first", say: "One two three four", gate },
    { when: "second", say: "Five six seven eight", gate: `${gate}-2` },
    { when: "third", say: "Ninth" },
    { when: "break", as: "status-401" },
    { when: "again", say: "Better now." },
  ]);
  await page.goto("/bridge");
  await say(page, "The first");
  const panel = assistantOf(page);
  await expect(panel.getByText(/^One/)).toBeVisible();
  // Over a slow line it is in the thread before it is known to have been sent.
  const line = Promise.withResolvers<void>();
  const holdBack = async (route: Route) => {
    const response = await route.fetch();
    await line.promise;
    await route.fulfill({ response });
  };
  await page.route("**/api/trpc/assistant.send*", holdBack, { times: 1 });
  await say(page, "The wrong one");
  await panel.getByRole("button", { name: "Take back" }).click();
  await expect(panel.getByText("Taken back before it was begun")).toBeVisible();
  // To be written in another way.
  await expect(messageOf(page)).toHaveValue("The wrong one");
  // What is sent meanwhile waits its turn, and what is written since stays.
  await say(page, "The third");
  await expect(messageOf(page)).toHaveValue("");
  await messageOf(page).fill("The sec");
  line.resolve();
  await expect(panel.getByText("Queued", { exact: true })).toBeVisible();
  await modelServer.release(gate);
  await expect(panel.getByText("One two three four")).toBeVisible();
  await expect(panel.getByText("Ninth", { exact: true })).toBeVisible();
  await expect(panel.getByText("Queued", { exact: true })).toHaveCount(0);
  await expect(messageOf(page)).toHaveValue("The sec");

  await say(page, "The second");
  await expect(panel.getByText(/^Five/)).toBeVisible();
  await panel.getByRole("button", { name: "Stop" }).click();
  await expect(panel.getByText("Stopped.")).toBeVisible();
  await expect(panel.getByText(/^Five/)).toBeVisible();
  await expect(panel.getByRole("button", { name: "Go on" })).toBeVisible();
  await expect(panel.getByRole("button", { name: "Stop" })).toHaveCount(0);
  await modelServer.release(`${gate}-2`);

  // A fault of the vendor has a button that fits.
  await say(page, "Please break");
  const alert = panel.getByRole("alert");
  await expect(alert.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(alert.getByRole("link", { name: "Open settings" })).toHaveAttribute("href", "/settings/project#assistant");
  await say(page, "Now again");
  await expect(panel.getByText("Better now.")).toBeVisible();
});

test("the assistant asks: a question is answered by a click or in words, what reaches outside is approved or rejected", async ({
  signedInPage: page,
  assistant,
  agent,
  workflow,
}) => {
  const panel = assistantOf(page);
  await test.step("a question is answered by a click or in words", async () => {
    await assistant([
      { when: "Build", calls: [{ name: "ask_user", args: { question: "For whom is it?", options: ["For me", "For the team"] } }] },
      { when: "Build", calls: [{ name: "ask_user", args: { question: "How often?", options: ["Daily"] } }] },
      { when: "Build", calls: [{ name: "ask_user", args: { question: "In which language?", options: ["English", "German"] } }] },
      { when: "Build", say: "Understood." },
      { when: "Thank", say: "With pleasure." },
    ]);
    await page.goto("/bridge");
    await say(page, "Build something");
    const first = panel.getByRole("region", { name: "Question" }).filter({ hasText: "For whom is it?" });
    await expect(first.getByRole("button")).toHaveText(["For me", "For the team", "Something else"]);
    expect(await axeFaultsInBothThemes(page)).toEqual([]);
    await first.getByRole("button", { name: "For the team" }).click();
    await expect(first.getByText("For the team")).toBeVisible();
    await expect(first.getByRole("button")).toHaveCount(0);
    const second = panel.getByRole("region", { name: "Question" }).filter({ hasText: "How often?" });
    await second.getByRole("button", { name: "Something else" }).click();
    await second.getByRole("textbox", { name: "Your answer" }).fill("Every full moon");
    await page.keyboard.press("Enter");
    await expect(second.getByText("Every full moon")).toBeVisible();
    const third = panel.getByRole("region", { name: "Question" }).filter({ hasText: "In which language?" });
    await expect(third).toBeVisible();
    // What one writes meanwhile is the answer. That it was taken comes late to who sent it: what the thread knows by then is enough to go on.
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/trpc/assistant.answer*", async (route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    await say(page, "Ticinese");
    await expect(third.getByText("Ticinese")).toBeVisible();
    await expect(panel.getByText("Understood.")).toBeVisible();
    await say(page, "Thank you");
    await expect(panel.getByText("With pleasure.")).toBeVisible();
    release();
    await page.unrouteAll({ behavior: "wait" });
  });

  await test.step("what reaches outside is run when it is approved, and not when it is rejected", async () => {
    const scout = await agent({ name: "Scout", model: "echo", tools: ["web_search"] });
    const flow = await workflow({
      name: "Scouting",
      ...graphOf({ Start: ["trigger", { kind: "manual" }], Ask: ["agent", { agent_id: scout.id }] }, ["Start>Ask"]),
    });
    const run = { name: "run_workflow", args: { workflow_id: flow.id, input: "looms" } };
    await assistant([{ calls: [run] }, { say: "That was it." }]);
    await page.getByRole("button", { name: "New thread" }).click();
    await expect(page).toHaveURL(/\/bridge$/);
    await say(page, "Run it");
    const card = panel.getByRole("region", { name: "Confirmation" });
    await expect(card).toContainText("Run “Scouting”");
    await expect(card).toContainText("It reaches outside");
    expect(await axeFaultsInBothThemes(page, '[aria-label="Confirmation"]')).toEqual([]);
    await card.getByRole("button", { name: "Reject" }).click();
    await expect(card.getByText("Rejected", { exact: true })).toBeVisible();
    await expect(panel.getByText("That was it.")).toBeVisible();
    await expect(panel.getByRole("link", { name: "Run", exact: true })).toHaveCount(0);

    await say(page, "Run it after all");
    await card.last().getByRole("button", { name: "Approve" }).click();
    await expect(card.last().getByText("Approved", { exact: true })).toBeVisible();
    await panel.getByRole("link", { name: "Run", exact: true }).click();
    await expect(page).toHaveURL(/\/runs\//);
    await expect(page.getByRole("heading", { name: "Scouting", level: 1 })).toBeVisible();
  });
});

test("a secret is asked for by its form and never stands in the thread", async ({ signedInPage: page, assistant }) => {
  await assistant([
    { calls: [{ name: "ask_user", args: { question: "I need a token for GitHub.", form: "credential" } }] },
    { say: "Thank you." },
  ]);
  await page.goto("/bridge");
  await say(page, "Read my issues");
  const card = assistantOf(page).getByRole("region", { name: "Question" });
  await card.getByRole("button", { name: "Add credential" }).click();
  const dialog = page.getByRole("dialog", { name: "Add credential" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("GITHUB_TOKEN");
  await dialog.getByRole("textbox", { name: "Value" }).fill("ghp-very-secret");
  await dialog.getByRole("button", { name: "Add credential" }).click();
  await expect(assistantOf(page).getByText("Thank you.")).toBeVisible();
  await expect(card.getByText("Done: “GITHUB_TOKEN” is there.")).toBeVisible();
  await expect(assistantOf(page)).not.toContainText("ghp-very-secret");
});

test("a change is looked at in words, accepted, and rejected, by keyboard alone", async ({ signedInPage: page, assistant, workflow }) => {
  const flow = await workflow({ name: "Daily digest" });
  const add = (id: string, label: string) => ({
    name: "propose_changes",
    args: {
      workflow_id: flow.id,
      summary: `Adds ${label}`,
      operations: [{ op: "add_node", node: { id, type: "outputNode", data: { label } } }],
    },
  });
  await assistant([
    { when: "first", calls: [add("o1", "Answer")] },
    { when: "first", say: "Ready." },
    { when: "second", calls: [add("o2", "Other")] },
  ]);
  await page.goto("/agents");
  await expect(page.getByRole("heading", { name: "Agents", level: 1 })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+j");
  await expect(messageOf(page)).toBeFocused();
  await page.keyboard.type("The first");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("change");
  await page.keyboard.press("Enter");
  const panel = assistantOf(page);
  const card = panel.getByRole("region", { name: "Proposed change" });
  await expect(card.getByRole("list", { name: "Changes" })).toContainText("AddedOutput Answer");
  expect(await axeFaultsInBothThemes(page, '[aria-label="Assistant"]')).toEqual([]);
  await expect(panel.getByText("Ready.")).toBeVisible();
  await tabTo(page, card.getByRole("button", { name: "Accept" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(card).toContainText("Accepted.");

  await tabTo(page, messageOf(page), "Tab");
  await page.keyboard.type("The second");
  await page.keyboard.press("Enter");
  await expect(card.last()).toContainText("Adds Other");
  // The card is whole, and nothing more comes that the keyboard would pass.
  await expect(panel.getByText("Done.")).toBeVisible();
  await tabTo(page, card.last().getByRole("button", { name: "Reject" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(card.last()).toContainText("Rejected. Nothing was changed.");
  await page.keyboard.press("ControlOrMeta+j");
  await expect(panel).toBeHidden();
  await page.goto(`/workflows/${flow.id}`);
  const canvas = page.getByRole("region", { name: "Workflow canvas" });
  await expect(canvas.getByText("Answer", { exact: true })).toBeVisible();
  await expect(canvas.getByText("Other", { exact: true })).toHaveCount(0);
});

test("what was accepted away from the canvas is undone; what is named goes along, and what a run gave goes on a canvas", async ({
  signedInPage: page,
  assistant,
  workflow,
  executed,
  person,
  baseURL,
}) => {
  const flow = await workflow({ name: "Daily digest" });

  await test.step("what was accepted is undone, unless somebody has changed the draft since", async () => {
    const operations = [{ op: "add_node", node: { id: "answer", type: "outputNode", data: { label: "Answer" } } }];
    await assistant([{ calls: [{ name: "propose_changes", args: { workflow_id: flow.id, summary: "Adds Answer", operations } }] }]);
    const headers = { origin: baseURL ?? "", "x-project-id": person.project.id };
    const draftOf = async () => {
      const input = encodeURIComponent(JSON.stringify({ workflow_id: flow.id }));
      return (await (await person.browser.get(`/api/trpc/workflows.editor?input=${input}`, { headers })).json()).result.data.draft;
    };
    const before = await draftOf();
    await page.goto("/bridge");
    const card = assistantOf(page).getByRole("region", { name: "Proposed change" });
    await say(page, "Add it");
    await card.getByRole("button", { name: "Accept" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText("Changes undone")).toBeVisible();
    expect((await draftOf()).nodes).toEqual(before.nodes);

    await say(page, "Add it once more");
    await card.last().getByRole("button", { name: "Accept" }).click();
    await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
    const { nodes, edges, revision } = await draftOf();
    const moved = nodes.map((node: object) => ({ ...node, position: { x: 7, y: 7 } }));
    const data = { workflow_id: flow.id, nodes: moved, edges, revision };
    expect((await person.browser.post("/api/trpc/workflows.saveDraft", { headers, data })).status()).toBe(200);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText("changed this draft")).toBeVisible();
    expect((await draftOf()).nodes).toHaveLength(before.nodes.length + 1);
  });

  await test.step("@ names things by keyboard, and what is named is sent along; what a run gave, which was read, goes on a canvas", async () => {
    await workflow({ name: "Weekly report" });
    const sales = await workflow({
      name: "Sales",
      ...graphOf({ Start: ["trigger", { kind: "manual" }], Result: ["output", { value: '{"total": 1204.5}', format: "json" }] }, [
        "Start>Result",
      ]),
    });
    const { id: execution_id } = await executed(sales);
    await assistant([
      { when: "Explain", say: "I see it." },
      { when: "came of it", calls: [{ name: "get_run", args: { execution_id } }] },
      { when: "came of it", say: "It gave a total." },
    ]);
    await page.getByRole("button", { name: "New thread" }).click();
    await expect(page).toHaveURL(/\/bridge$/);
    const field = messageOf(page);
    await field.pressSequentially("Explain @dig");
    await expect(page.getByRole("option")).toHaveText(["Daily digest"]);
    await field.press("Enter");
    await expect(field).toHaveValue("Explain @Daily digest ");
    await expect(page.getByRole("list", { name: "Attached" })).toContainText("Daily digest");
    expect(await axeFaultsInBothThemes(page, '[aria-label="Assistant"]')).toEqual([]);
    await field.press("Enter");
    const panel = assistantOf(page);
    await expect(panel.getByText("I see it.")).toBeVisible();
    const thread = await person.browser.get(`/api/v1/bridge/threads/${new URL(page.url()).searchParams.get("thread")}`);
    expect((await thread.json()).messages[0].context).toEqual({ mentions: [{ kind: "workflow", id: flow.id }] });

    await say(page, "What came of it?");
    await expect(panel.getByText("It gave a total.")).toBeVisible();
    await panel.getByRole("button", { name: "Add to a canvas" }).click();
    const dialog = page.getByRole("dialog", { name: "Add to a canvas" });
    await dialog.getByRole("button", { name: "Add Number: Total", exact: true }).click();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await expect(page).toHaveURL(/\/canvases\//);
    await expect(page.getByRole("region", { name: "Total", exact: true })).toContainText("1,204.5");
  });
});

test("a line that breaks mends itself, a closed tab ends nothing, and who looks elsewhere is told by the browser", async ({
  signedInPage: page,
  assistant,
  modelServer,
  person,
}) => {
  const gate = randomUUID();
  await assistant([
    { when: "Go", say: "Before the break and after it", gate },
    { when: "Take your time", say: "Slowly but surely", gate: `${gate}-2` },
    { when: "Do not hurry", say: "One two three", gate: `${gate}-3` },
  ]);
  const panel = assistantOf(page);
  await page.goto("/bridge");
  await say(page, "Go");
  await expect(panel.getByText(/^Before/)).toBeVisible();
  await page.context().setOffline(true);
  await modelServer.release(gate);
  await page.context().setOffline(false);
  // Nothing is told twice.
  await expect(panel.getByText("Before the break and after it", { exact: true })).toBeVisible();

  await say(page, "Take your time");
  await expect(panel.getByText(/^Slowly/)).toBeVisible();
  const address = page.url();
  await page.goto("/icon.svg");
  await modelServer.release(`${gate}-2`);
  await expect(async () => {
    const thread = await person.browser.get(`/api/v1/bridge/threads/${new URL(address).searchParams.get("thread")}`);
    expect((await thread.json()).messages[1].status).toBe("done");
  }).toPass();
  await page.goto(address);
  await expect(panel.getByText("Slowly but surely")).toBeVisible();

  // What stands in for the browser's own means goes with this document.
  await page.evaluate(() => {
    const told: string[] = [];
    class Notification {
      static permission = "default";
      static requestPermission = async () => (Notification.permission = "granted");
      constructor(_: string, { body }: { body: string }) {
        told.push(body);
      }
    }
    let isHidden = false;
    Object.defineProperty(document, "hidden", { get: () => isHidden });
    Object.assign(window, { Notification, told, hide: () => (isHidden = true) });
  });
  await say(page, "Do not hurry");
  const tellMe = panel.getByRole("button", { name: "Tell me when it is done" });
  await tellMe.click();
  await expect(tellMe).toHaveCount(0);
  await page.evaluate("hide()");
  await modelServer.release(`${gate}-3`);
  await expect.poll(() => page.evaluate("told")).toEqual(["The assistant has answered"]);
});

test("a thread that was deleted elsewhere says so, and a session that has ended leads to the sign-in page", async ({
  signedInPage: page,
  assistant,
  modelServer,
  person,
  baseURL,
}) => {
  const gate = randomUUID();
  await assistant([{ when: "for ever", say: "One moment please", gate }, { say: "Yes." }]);
  await page.goto("/bridge");
  await say(page, "Think for ever");
  const panel = assistantOf(page);
  await expect(panel.getByText(/^One/)).toBeVisible();
  const { searchParams } = new URL(page.url());
  await person.browser.delete(`/api/v1/bridge/threads/${searchParams.get("thread")}`, { headers: { origin: baseURL } });
  await expect(panel.getByRole("status").filter({ hasText: "no such thread" })).toBeVisible();
  await expect(panel.getByText(/^One/)).toHaveCount(0);
  await expect(panel.getByRole("button", { name: "Stop" })).toHaveCount(0);
  await expect(panel.getByText("The line to the server is down")).toHaveCount(0);
  const newThread = panel.getByRole("button", { name: "New thread" });
  await newThread.click({ trial: true }); // a pointer reaches it
  // Written and sent before the page has had any time to show another thread.
  await newThread.evaluate(async (button: HTMLElement) => {
    button.click();
    await Promise.resolve();
    const field = document.querySelector<HTMLTextAreaElement>("[aria-label=Message]");
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(field, "Is this another?");
    field?.dispatchEvent(new Event("input", { bubbles: true }));
    await Promise.resolve();
    field?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });
  await expect(panel.getByText("Yes.")).toBeVisible();
  await modelServer.release(gate);

  await page.context().clearCookies();
  // Somebody comes back to the tab.
  const comeBack = (isHidden: boolean) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (isHidden ? "hidden" : "visible") });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  };
  await page.evaluate(comeBack, true);
  await page.evaluate(comeBack, false);
  await expect(page).toHaveURL(/\/sign-in\?next=/);
});

test("what cannot be sent is still there, and leaves no empty thread behind", async ({
  signedInPage: page,
  assistant,
  person,
  baseURL,
}) => {
  await assistant([]);
  await page.goto("/bridge");
  const panel = assistantOf(page);
  await messageOf(page).fill("long ".repeat(5000));
  await expect(panel.getByRole("alert")).toContainText("at most 20,000 characters; this one has 24,999");
  await expect(panel.getByRole("button", { name: "Send" })).toBeDisabled();
  const breakIt = () => person.browser.put("/api/v1/bridge/settings", { headers: { origin: baseURL }, data: { llm_key_id: null } });
  await breakIt();
  await say(page, "Anybody there?");
  await expect(page.getByText("The assistant has no model yet.").first()).toBeVisible();
  await expect(messageOf(page)).toHaveValue("Anybody there?");
  expect((await (await person.browser.get("/api/v1/bridge/threads")).json()).total).toBe(0);
  await expect(page.getByRole("navigation", { name: "Threads" })).toContainText("Nothing yet.");

  // Also where the assistant was closed before that was known.
  await assistant([]);
  await page.goto("/agents");
  await page.keyboard.press("ControlOrMeta+j");
  await expect(panel.getByRole("list", { name: "Suggestions" })).toBeVisible();
  await breakIt();
  const isClosed = Promise.withResolvers<void>();
  await page.route("**/api/trpc/assistant.send*", async (route) => {
    await isClosed.promise;
    await route.continue();
  });
  await say(page, "Still there?");
  await page.keyboard.press("ControlOrMeta+j");
  await expect(panel).toBeHidden();
  isClosed.resolve();
  await expect(page.getByText("The assistant has no model yet.")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+j");
  await expect(messageOf(page)).toHaveValue("Still there?");
});

test("an admin sets it up where it is missing", async ({ signedInPage: page, llmKey }) => {
  await page.goto("/bridge");
  const missing = page.getByRole("region", { name: "The assistant is not set up" });
  await expect(missing.getByText("This project has no LLM key yet.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Send" })).toBeDisabled();
  await llmKey();
  await page.reload();
  await missing.getByRole("combobox", { name: "Model" }).fill("echo");
  await page.keyboard.press("Tab");
  await missing.getByRole("button", { name: "Save" }).click();
  await expect(missing).toBeHidden();
  await say(page, "Hello there");
  await expect(assistantOf(page).getByText("Echo: Hello there")).toBeVisible();
  await page.goto("/settings/project");
  await expect(page.getByRole("region", { name: "Assistant" }).getByRole("combobox", { name: "Model" })).toHaveValue("echo");
});

test("on a phone it fills the screen, and goes away for the page that a link leads to", async ({ signedInPage: page, assistant }) => {
  await assistant([{ say: "See [the editor](/docs/editor) or [your agents](/agents)." }]);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/runs");
  await page.getByRole("button", { name: "Ask the assistant" }).click();
  const panel = assistantOf(page);
  await expect(panel).toHaveCSS("width", "390px");
  await say(page, "Where are my agents?");
  await expect(panel.getByRole("link", { name: "your agents" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page, '[aria-label="Assistant"]')).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await panel.getByRole("link", { name: "your agents" }).click();
  await expect(page).toHaveURL(/\/agents$/);
  await expect(panel).toBeHidden();
  await page.setViewportSize({ width: 1440, height: 900 });
});
