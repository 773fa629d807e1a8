import { createHmac } from "node:crypto";
import type { Locator, Page } from "@playwright/test";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecutionSummary } from "#server/runs/schema.ts";

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
/** Faults that axe finds in it: the rest of the editor is looked at elsewhere, in all its states. */
const faultsOfPanel = (page: Page) => axeFaultsInBothThemes(page, '[aria-label="Nodes and settings"]');
const edge = (page: Page, from: string, to: string) => canvas(page).getByRole("group", { name: `Connection from ${from} to ${to}` });
/** The dot that a way leaves from. */
const way = (page: Page, name: string, handle: string) => node(page, name).locator(`.react-flow__handle[data-handleid="${handle}"]`);

const at = (x: number, y = 0) => ({ x, y });
const trigger = { id: "t", type: "triggerNode", position: at(0), data: { label: "Start", kind: "manual" } };

async function drag(page: Page, from: Locator, to: { x: number; y: number }): Promise<void> {
  await from.hover(); // where it is once the view has come to rest
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 12 });
  await page.mouse.up();
}

/** Takes the first match of the palette or of the list of targets. */
async function pick(page: Page, words: string): Promise<void> {
  await page.getByRole("combobox", { name: /Search nodes|Connect/ }).fill(words);
  await page.keyboard.press("Enter");
}

test("a branch, a loop, a review and an early end, built by mouse and keyboard and run", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  workflow,
  finished,
}) => {
  const flow = await workflow({ nodes: [trigger] });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Trigger Start")).toBeVisible();
  expect(await axeFaultsInBothThemes(page), "with nothing but a trigger").toEqual([]);

  // By keyboard: behind the trigger, with a condition that is completed from the list.
  await page.keyboard.press("n");
  await pick(page, "branch");
  await expect(edge(page, "Start", "Branch")).toBeAttached();
  await expect(node(page, "Branch")).toBeFocused(); // a moment after it is drawn; what is typed before would go astray
  await panel(page).getByRole("tab", { name: "Python" }).click();
  const condition = panel(page).getByLabel("Condition", { exact: true });
  await condition.fill("");
  await condition.pressSequentially('"go" in outp');
  await expect(page.getByRole("option", { name: /^output/ })).toBeVisible();
  await condition.press("Enter");
  await expect(condition).toHaveValue('"go" in output');

  // By the panel's button for one way, and by a drag from the dot of the other.
  await panel(page).getByRole("button", { name: "Next step on true" }).click();
  await pick(page, "loop");
  await expect(edge(page, "Branch (true)", "Loop")).toBeAttached();
  await expect(node(page, "Loop")).toBeFocused(); // from here on the view moves no more than it does now
  await panel(page).getByLabel("Items", { exact: true }).fill("{{trigger.output}}");
  const box = await canvas(page).boundingBox();
  await drag(page, way(page, "Branch", "false"), { x: (box?.x ?? 0) + 500, y: (box?.y ?? 0) + 540 });
  await pick(page, "terminate");
  await expect(edge(page, "Branch (false)", "Terminate")).toBeAttached();

  // N takes the first way out that is free: the body, then what comes after the loop.
  await node(page, "Loop").locator(".loop-head").click();
  await page.keyboard.press("n");
  await pick(page, "output");
  await expect(edge(page, "Loop (body)", "Output")).toBeAttached();
  await panel(page).getByLabel("Value", { exact: true }).fill("<{{Loop.current_item}}>");
  await node(page, "Loop").locator(".loop-head").click();
  await page.keyboard.press("n");
  await pick(page, "review");
  await expect(edge(page, "Loop (done)", "Review")).toBeAttached();
  await panel(page).getByLabel("Title", { exact: true }).fill("Send it?");
  await page.keyboard.press("Escape");
  await node(page, "Review").focus();
  await page.keyboard.press("n");
  await pick(page, "output");
  await expect(edge(page, "Review (approved)", "Output 2")).toBeAttached();

  // C asks which way out: each way and target is a choice.
  await node(page, "Review").click();
  await page.keyboard.press("c");
  await expect(page.getByRole("option", { name: /Loop.*approved/ })).toBeDisabled();
  await pick(page, "terminate, from rejected");
  await expect(edge(page, "Review (rejected)", "Terminate")).toBeAttached();

  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 2 published")).toBeVisible();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByLabel("Input", { exact: true }).fill('["go", "on"]');
  await page.getByRole("button", { name: "Start run" }).click();
  await expect(node(page, "Review")).toHaveAccessibleDescription(/Waiting/);
  await expect(node(page, "Terminate")).toHaveAccessibleDescription(/^(?!.*Complete)/);
  const { body: runs } = await api.get(`/workflows/${flow.id}/executions`, { schema: ExecutionSummary.array() });
  const id = runs[0]?.id ?? "";
  await api.post(`/executions/${id}/approve`, { decision: "approved" });
  await expect(node(page, "Output Output 2")).toHaveAccessibleDescription(/Complete/);
  await expect(node(page, "Terminate")).toHaveAccessibleDescription(/Skipped/);
  const run = await finished(id);
  expect(JSON.parse(run.output ?? "")).toEqual({ Output: ["<go>", "<on>"], "Output 2": ["<go>", "<on>"] }); // what came to the review goes on
});

test("a condition is put together of rows, which write the Python and are read back from it; a node put on an edge keeps the way through", async ({
  signedInPage: page,
  api,
  workflow,
  executed,
}) => {
  const output = { id: "o", type: "outputNode", position: at(700), data: { label: "Result" } };
  const branch = { id: "b", type: "branchNode", position: at(330, 240), data: { label: "Urgent", condition: "" } };
  const edges = ["o", "b"].map((target) => ({ id: target, source: "t", target }));
  const flow = await workflow({ nodes: [trigger, output, branch], edges });
  await page.goto(`/workflows/${flow.id}`);

  await test.step("rows and Python say the same, and what is typed is judged at once", async () => {
    await node(page, "Branch Urgent").click();
    const rows = panel(page).getByRole("group", { name: "Condition", exact: true });
    const row = (number: number) => rows.getByRole("group", { name: `Row ${number}`, exact: true });
    const choose = async (number: number, field: string, option: string) => {
      await row(number).getByRole("combobox", { name: field }).click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    await row(1).getByRole("textbox", { name: "Compared with" }).fill('Say "yes"');
    await rows.getByRole("button", { name: "Add row" }).click();
    await expect(panel(page).getByRole("alert")).toHaveText("Row 2: Say what follows “contains”.");
    await choose(2, "Operator", ">");
    await row(2).getByRole("textbox", { name: "Compared with" }).fill("9");
    await expect(panel(page).getByRole("alert")).toBeHidden();
    await expect(node(page, "Branch Urgent")).toContainText('If output contains Say "yes" and output > 9');
    await rows.getByRole("combobox", { name: "Holds when" }).click();
    await page.getByRole("option", { name: "Any of these holds" }).click();
    // A value from the tree goes to the row that was in hand last.
    await panel(page).getByRole("button", { name: "Insert trigger.output" }).click();
    await expect(row(2).getByRole("combobox", { name: "Value" })).toHaveText("trigger.output");

    expect(await faultsOfPanel(page)).toEqual([]);

    // The Python says the same, and what only Python can say stays Python.
    const condition = panel(page).getByLabel("Condition", { exact: true });
    await panel(page).getByRole("tab", { name: "Python" }).click();
    await expect(condition).toHaveValue('"Say \\"yes\\"".lower() in output.lower()\nor float(trigger_output) > 9');
    await condition.press("ControlOrMeta+a");
    await condition.pressSequentially("output");
    await condition.press("Tab");
    await expect(condition).toHaveValue("output");
    // It is judged while it is typed, and a workflow with a condition that cannot be is not run.
    const run = page.getByRole("button", { name: "Run", exact: true });
    await condition.fill("output = 'x'");
    await expect(panel(page).getByRole("alert")).toContainText("To compare, write ==.");
    await expect(run).toHaveAttribute("aria-disabled", "true");
    await condition.fill("outptu == 'x'");
    await expect(panel(page).getByRole("alert")).toContainText("Did you mean output?");
    await condition.fill("output == 'x'");
    await expect(panel(page).getByRole("alert")).toBeHidden();
    await expect(run).not.toHaveAttribute("aria-disabled");
    await condition.fill("'a' in output and 1 < 2 # why");
    await panel(page).getByRole("tab", { name: "Rows" }).click();
    await expect(panel(page)).toContainText("It says more than rows can, so it stays Python.");
    expect(await faultsOfPanel(page)).toEqual([]);
    await condition.fill('output.startswith("ur")');
    await expect(row(1).getByRole("combobox", { name: "Operator" })).toHaveText("starts with");
    await row(1).getByRole("textbox", { name: "Compared with" }).press("End");
    await row(1).getByRole("textbox", { name: "Compared with" }).pressSequentially("gent");
    await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
    await page.keyboard.press("Control+s");
    await expect(page.getByText("Version 2 published")).toBeVisible();
    await page.reload();
    await node(page, "Branch Urgent").click();
    await expect(row(1).getByRole("textbox", { name: "Compared with" })).toHaveValue("urgent");
    expect((await executed(flow, { input: "urgent: stop" })).node_results.b?.output).toBe("True");
  });

  await test.step("a node put on an edge keeps the way through, by its first way out", async () => {
    await edge(page, "Start", "Result").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Insert a node here" }).click();
    await pick(page, "branch");
    await expect(edge(page, "Branch (true)", "Result")).toBeAttached();
    await panel(page).getByRole("tab", { name: "Python" }).click();
    await panel(page).getByLabel("Condition", { exact: true }).fill("True");
    await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
    await page.keyboard.press("Control+s");
    await expect(page.getByText("Version 3 published")).toBeVisible();
    const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
    expect(
      body.edges.filter(({ target }) => target !== "b").map(({ source, sourceHandle }) => [source === "t", sourceHandle ?? null]),
    ).toEqual([
      [true, null],
      [false, "true"],
    ]);

    // Taken out of the middle, it leaves its neighbours connected; one step back brings it again.
    await node(page, "Branch").focus();
    await page.keyboard.press("Delete");
    await expect(edge(page, "Start", "Result")).toBeAttached();
    await page.keyboard.press("Control+z");
    await expect(edge(page, "Branch (true)", "Result")).toBeAttached();
    await edge(page, "Start", "Branch").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Delete");
    await page.getByRole("button", { name: "1 warning", exact: true }).click();
    await expect(page.getByRole("dialog", { name: "Problems" })).toContainText('Nothing leads to "Branch", so it never runs.');
    // It is no reason not to run.
    await expect(page.getByRole("button", { name: "Run", exact: true })).not.toHaveAttribute("aria-disabled");
  });
});

test("the schedule builder: choices, words, next runs in the zone, and what the server refuses", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const flow = await workflow({ nodes: [trigger] });
  const browser = await page.context().newCDPSession(page);
  await browser.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Tokyo" });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Trigger Start").click();
  await panel(page).getByRole("combobox", { name: "Starts by" }).click();
  await page.getByRole("option", { name: "A schedule" }).click();
  const schedule = panel(page).getByRole("combobox", { name: "Schedule" });
  await schedule.click();
  await page.getByRole("option", { name: "On days of the week" }).click();
  for (const day of ["Monday", "Tuesday", "Thursday", "Friday"]) await panel(page).getByRole("button", { name: day }).click();
  await panel(page).getByLabel("Time", { exact: true }).fill("18:30");
  const zone = panel(page).getByRole("combobox", { name: "Time zone" });
  // A new one goes by the clock of this browser.
  await expect(zone).toHaveValue("Asia/Tokyo");
  await zone.fill("Berlin");
  await expect(panel(page).getByRole("alert")).toContainText('no time zone "Berlin"');
  // The schedule says it too, when the service has answered, and moves what stands below it.
  await expect(panel(page).getByRole("status")).toContainText('no time zone "Berlin"');
  await page.getByRole("option", { name: /Europe\/Berlin/ }).click();
  const next = panel(page).getByRole("list", { name: "Next runs" });
  await expect(next.getByRole("listitem")).toHaveText(Array(5).fill(/^Wed .*18:30$/));
  await expect(panel(page).getByText("Next runs, Europe/Berlin")).toBeVisible();
  await expect(node(page, "Trigger Start")).toContainText("at 18:30, only on Wednesday");
  expect(await faultsOfPanel(page)).toEqual([]);

  await schedule.click();
  await page.getByRole("option", { name: "Cron expression" }).click();
  const cron = panel(page).getByLabel("Cron expression");
  await expect(cron).toHaveValue("30 18 * * 3");
  await cron.fill("*/2 * * * *");
  await expect(panel(page).getByText(/more often than every 5 minutes/)).toBeVisible();
  await cron.fill("0 6 1 * *");
  await expect(next.getByRole("listitem").first()).toHaveText(/ 1 .*06:00$/);

  await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 2 published")).toBeVisible();
  const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
  expect(body.schedule).toMatchObject({ cron_expression: "0 6 1 * *", timezone: "Europe/Berlin", enabled: true });

  // The last fire of an hour may be close to the next hour's first.
  await schedule.click();
  await page.getByRole("option", { name: "Every few minutes" }).click();
  await panel(page).getByLabel("Minutes apart").fill("59");
  await expect(next.getByRole("listitem")).toHaveText([/:(59|00)$/, /:(59|00)$/, /:(59|00)$/, /:(59|00)$/, /:(59|00)$/]);
  await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 3 published")).toBeVisible();
  expect((await api.get(`/workflows/${flow.id}`, { schema: Workflow })).body.schedule?.cron_expression).toBe("*/59 * * * *");
  await browser.detach(); // the next test has the clock of this machine again
});

test("the webhook panel: a secret shown once, calls listed and replayed, another sender's own secret and its next call heard", async ({
  signedInPage: page,
  workflow,
  request,
}) => {
  const output = { id: "o", type: "outputNode", position: at(330), data: { label: "Result" } };
  const flow = await workflow({ nodes: [trigger, output], edges: [{ id: "e", source: "t", target: "o" }] });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Trigger Start").click();
  const startsBy = async (kind: string) => {
    await panel(page).getByRole("combobox", { name: "Starts by" }).click();
    await page.getByRole("option", { name: kind }).click();
  };
  await startsBy("An HTTP call");
  await expect(panel(page).getByRole("region", { name: "HTTP trigger" })).toBeVisible();
  expect(await faultsOfPanel(page)).toEqual([]);
  await startsBy("A webhook");
  const webhook = panel(page).getByRole("region", { name: "Webhook" });
  await expect(webhook).toContainText("Publish the workflow first");
  await webhook.getByRole("button", { name: "Publish now" }).click();
  await expect(webhook).toContainText("There is none yet");
  expect(await faultsOfPanel(page)).toEqual([]);

  await webhook.getByRole("button", { name: "Create secret" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Create secret" }).click();
  const dialog = page.getByRole("dialog", { name: "Copy the secret now" });
  const secret = await dialog.getByRole("textbox", { name: "Webhook secret" }).inputValue();
  await expect(dialog.getByRole("group", { name: "command" })).toContainText(secret);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.locator("body")).not.toContainText(secret);

  const data = JSON.stringify({ hello: "world" });
  const call = (key: string) =>
    request.post(`/api/v1/webhooks/${flow.id}`, {
      data,
      headers: {
        "Content-Type": "application/json",
        "X-SERVICE-Signature": `sha256=${createHmac("sha256", key).update(data).digest("hex")}`,
      },
    });
  expect((await call(secret)).status()).toBe(202);
  const deliveries = webhook.getByRole("list", { name: "Last deliveries" }).getByRole("listitem");
  await expect(deliveries).toHaveCount(1);
  await expect(deliveries.first()).toContainText("202");
  await deliveries.first().getByRole("button", { name: "Replay" }).click();
  await expect(deliveries).toHaveCount(2);
  // Calls without a good signature are told, and not one by one.
  for (const signed of [{}, { "X-SERVICE-Signature": "sha256=0" }])
    expect((await request.post(`/api/v1/webhooks/${flow.id}`, { data, headers: signed })).status()).toBe(401);

  await webhook.getByRole("button", { name: "Rotate secret" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("calls fail with 401 until the sender has the new one");
  await question.getByRole("button", { name: "Rotate secret" }).click();
  await expect(dialog).toBeVisible();
  await dialog.getByRole("button", { name: "Done" }).click();
  expect((await call(secret)).status()).toBe(401);
  // The state is read anew after the rotation.
  await expect(deliveries).toHaveCount(3);
  await expect(deliveries.first()).toContainText("401");
  await expect(deliveries.first()).toContainText("no signature");

  // Another sender signs in its own way, with a secret of its own. Its next call is listened to, and tried on.
  await panel(page).getByRole("textbox", { name: "Payload path" }).fill("$.action");
  const sender = panel(page).getByRole("combobox", { name: "Sender" });
  await sender.click();
  await page.getByRole("option", { name: /^None/ }).click();
  await expect(webhook.getByRole("alert")).toContainText("Anyone with the URL can start runs");
  await sender.click();
  await page.getByRole("option", { name: /^GitHub/ }).click();
  await expect(webhook.getByRole("alert")).toBeHidden();
  await expect(webhook).toContainText("until then calls are checked as they were");
  await expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 3 published")).toBeVisible();
  await webhook.getByRole("button", { name: "Enter the sender’s secret" }).click();
  const entry = page.getByRole("dialog", { name: "Enter the sender’s secret" });
  await entry.getByRole("textbox").fill("made by GitHub");
  await entry.getByRole("button", { name: "Set secret" }).click();
  await expect(entry).toBeHidden();
  await webhook.getByRole("button", { name: "Listen" }).click();
  await expect(webhook).toContainText("Waiting for the next call");
  const issue = JSON.stringify({ action: "opened" });
  const signature = `sha256=${createHmac("sha256", "made by GitHub").update(issue).digest("hex")}`;
  const headers = { "Content-Type": "application/json", "X-Hub-Signature-256": signature, "X-GitHub-Event": "issues" };
  expect((await request.post(`/api/v1/webhooks/${flow.id}`, { data: issue, headers })).status()).toBe(202);
  await expect(webhook.getByRole("group", { name: "headers" })).toContainText("x-github-event: issues");
  await expect(webhook.getByRole("group", { name: "headers" })).toContainText("x-hub-signature-256: ••••");
  await expect(webhook.getByRole("group", { name: "body" })).toContainText(issue);
  expect(await faultsOfPanel(page)).toEqual([]);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByLabel("Payload, as JSON")).toHaveValue("opened");
  await page.keyboard.press("Escape");

  await expect(deliveries).toHaveCount(4);
  await deliveries.nth(2).getByRole("link", { name: "Run" }).click(); // of what was replayed
  await expect(page).toHaveURL(/\/runs\//);
  await expect(page.getByRole("main")).toContainText("world");
});
