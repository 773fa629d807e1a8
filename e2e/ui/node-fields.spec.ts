import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";
import { UserProfile } from "#server/features/identity/schema.ts";
import { Project } from "#server/features/projects/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { Execution, ExecutionSummary } from "#server/runs/schema.ts";

// What the fields of the nodes do that reach out, wait and compose.

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const problem = (page: Page) => panel(page).getByRole("alert");
/** Faults that axe finds in it: the rest of the editor is looked at elsewhere, in all its states. */
const faultsOfPanel = (page: Page) => axeFaultsInBothThemes(page, '[aria-label="Nodes and settings"]');

test("an HTTP node's credentials, headers and authentication; code typed as in an editor; the problem of a case leads to its place", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  await api.post("/credentials", { name: "SHOP_TOKEN", value: "tok_5f3b0c9d8e7a" }, { status: 201 });
  const url = "https://example.com";
  const inputs = [{ name: "prices", value: "[1, 2]" }];
  const cases = [
    { id: "1", label: "Tea", condition: "output" },
    { id: "2", label: "Cake", condition: "" },
  ];
  const nodes = {
    Start: ["trigger", { kind: "manual" }],
    Ask: ["http", { url, auth: { kind: "bearer", credential: "" } }],
    Shop: ["http", { url, auth: { kind: "basic", credential: "SHOP_TOKEN", username: "ada" } }],
    Sum: ["code", { inputs }],
    Route: ["switch", { cases }],
  } satisfies Parameters<typeof graphOf>[0];
  const flow = await workflow(graphOf(nodes, ["Start>Ask", "Start>Shop", "Start>Sum", "Start>Route"]));
  await page.goto(`/workflows/${flow.id}`);
  const credential = panel(page).getByRole("combobox", { name: "Credential" });

  await test.step("names and values stand in lines: Enter goes on, an icon removes, and the keyboard stays in the list", async () => {
    await node(page, "HTTP Ask").click();
    await expect(problem(page)).toContainText("Choose the credential");
    await credential.click();
    await page.getByRole("option", { name: "SHOP_TOKEN" }).click();
    await expect(credential).toHaveValue("SHOP_TOKEN");
    await expect(problem(page)).toBeHidden();

    const row = (number: number) => panel(page).getByRole("group", { name: `header ${number}`, exact: true });
    const name = (number: number) => row(number).getByRole("textbox", { name: "Name" });
    await panel(page).getByRole("button", { name: "Add header" }).click();
    await expect(name(1)).toBeFocused();
    await page.keyboard.press("Enter"); // nothing stands there yet
    await expect(row(2)).toHaveCount(0);
    await page.keyboard.type("Accept");
    await page.keyboard.press("Tab");
    await page.keyboard.type("text/csv");
    const [first, second] = await Promise.all([name(1).boundingBox(), row(1).getByRole("textbox", { name: "Value" }).boundingBox()]);
    expect(Math.abs((first?.y ?? 0) - (second?.y ?? 100))).toBeLessThan(4);
    await page.keyboard.press("Enter");
    await expect(name(2)).toBeFocused();
    await page.keyboard.type("X-Trace");
    await page.keyboard.press("Enter");
    await expect(name(3)).toBeFocused();
    await expect(problem(page)).toContainText("Give each header a name.");
    await row(3).getByRole("button", { name: "Remove header 3" }).click();
    await expect(panel(page).getByRole("button", { name: "Add header" })).toBeFocused();
    await row(1).getByRole("button", { name: "Remove header 1" }).click();
    await expect(name(1)).toBeFocused();
    await expect(name(1)).toHaveValue("X-Trace");
  });

  await test.step("a credential that the project does not have is added", async () => {
    await credential.fill("PAY_TOKEN");
    await credential.press("Escape");
    await expect(problem(page)).toContainText('The project has no credential "PAY_TOKEN".');
    expect(await faultsOfPanel(page)).toEqual([]);
    await panel(page).getByRole("button", { name: "Add credential PAY_TOKEN…" }).click();
    const dialog = page.getByRole("dialog", { name: "Add credential" });
    await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("PAY_TOKEN");
    await dialog.getByRole("textbox", { name: "Value" }).fill("tok_0a1b2c3d4e5f");
    await dialog.getByRole("button", { name: "Add credential" }).click();
    await expect(dialog).toBeHidden();
    await expect(problem(page)).toBeHidden();
    await expect(panel(page).getByRole("button", { name: "New credential…" })).toBeVisible();
  });

  await test.step("what is left out goes by the method, and is no 0", async () => {
    await panel(page).getByText("Advanced", { exact: true }).click();
    const retries = panel(page).getByRole("textbox", { name: "Retries" });
    await expect(retries).toHaveValue("");
    await retries.fill("3");
    await retries.fill("");
    await panel(page).getByRole("textbox", { name: "Timeout" }).click();
    await expect(retries).toHaveValue("");
    await expect(retries).not.toHaveAttribute("aria-invalid");
  });

  await test.step("each kind of authentication asks for what it has, and what another one was given is kept", async () => {
    await node(page, "HTTP Shop").click();
    const field = (label: string) => panel(page).getByRole("textbox", { name: label, exact: true });
    const choose = async (kind: string) => {
      await panel(page).getByRole("combobox", { name: "Kind" }).click();
      await page.getByRole("option", { name: kind, exact: true }).click();
    };
    await expect(field("User name")).toHaveValue("ada");
    await expect(field("Header")).toHaveCount(0);
    await choose("A header");
    await expect(field("Header")).toBeVisible();
    await expect(credential).toHaveValue("SHOP_TOKEN");
    await expect(field("User name")).toHaveCount(0);
    await choose("None");
    await expect(credential).toHaveCount(0);
    await choose("User name and password");
    await expect(field("User name")).toHaveValue("ada");
  });

  await test.step("code is typed as in an editor: lines keep their indent, a fault marks its line, Esc leads out", async () => {
    await node(page, "Code Sum").click();
    const code = panel(page).getByRole("textbox", { name: "Code", exact: true });
    expect((await code.boundingBox())?.height).toBeGreaterThanOrEqual(12 * 18);
    await code.pressSequentially("total = 0\nfor price in json.loads(pri");
    await expect(problem(page)).toContainText("this is not Python"); // what moves the list has happened
    await page.getByRole("option", { name: /^prices/ }).click();
    await code.pressSequentially("):\ntotal += price\n");
    await code.press("Shift+Tab");
    await code.pressSequentially("total = = 2");
    await expect(code).toHaveValue("total = 0\nfor price in json.loads(prices):\n    total += price\ntotal = = 2");
    await expect(problem(page)).toContainText("Line 4: this is not Python");
    await expect(panel(page).locator("[data-fault]")).toHaveText("total = = 2\n");
    expect(await faultsOfPanel(page)).toEqual([]);
    await code.press("Control+z");
    await expect(code).not.toHaveValue(/= = 2$/);
    await code.fill("total = 1\ntotal");
    await expect(problem(page)).toBeHidden();
    await expect(panel(page).locator("[data-fault]")).toHaveCount(0);
    await expect(code).toHaveAccessibleDescription(/At hand: the inputs, re, json, math, datetime/);
    await code.press("Escape");
    await code.press("Tab");
    await expect(code).not.toBeFocused();
  });

  await test.step("the problem of a case leads to that case, in another node's panel, and what was filled in is published", async () => {
    await page.getByRole("button", { name: "1 problem", exact: true }).click();
    await page.getByRole("button", { name: "Go to fix" }).click();
    const second = panel(page).getByRole("group", { name: "case 2" });
    await expect(second.getByRole("textbox", { name: "Label" })).toBeFocused();
    expect(await faultsOfPanel(page)).toEqual([]);
    await second.getByRole("button", { name: "Remove case 2" }).click();
    await panel(page).getByRole("group", { name: "case 1" }).getByRole("textbox", { name: "Label" }).press("Control+s");
    await expect(page.getByText("Version 2 published")).toBeVisible();
    const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
    expect(body.nodes.find(({ id }) => id === "Ask")?.data.headers).toEqual([{ name: "X-Trace", value: "" }]);
  });
});

test("a wait is told in words and units, its way out too, and while it waits the card says until when; an HTTP node's last answer is offered", async ({
  signedInPage: page,
  baseURL,
  api,
  workflow,
}) => {
  const nodes = {
    Start: ["trigger", { kind: "manual" }],
    Hold: ["wait", { mode: "for" }],
    Ping: ["http", { url: `${baseURL}/api/health` }],
    Tell: [
      "set",
      {
        fields: [
          { name: "to", value: "", type: "text" },
          { name: "n", value: "1", type: "number" },
        ],
      },
    ],
    Late: ["output", { value: "" }],
  } satisfies Parameters<typeof graphOf>[0];
  // A connection from a wait need not say by which way it leaves.
  const flow = await workflow(graphOf(nodes, ["Start>Hold", "Start>Ping", "Ping>Tell", "Hold>Late", "Tell>Late"]));
  expect(flow.edges.find(({ target }) => target === "Late")?.sourceHandle).toBe("done");
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Wait Hold").click();
  await expect(node(page, "Wait Hold")).toContainText("Wait for 1 minute");
  const unit = panel(page).getByRole("combobox", { name: "Unit" });
  const choose = async (field: string, option: string) => {
    await panel(page).getByRole("combobox", { name: field, exact: true }).click();
    await page.getByRole("option", { name: option }).click();
  };
  await expect(unit).toHaveText("Minutes");
  await panel(page).getByRole("textbox", { name: "How long" }).fill("90");
  await expect(unit).toHaveText("Minutes"); // what is typed stays in its unit
  await expect(node(page, "Wait Hold")).toContainText("Wait for 90 minutes");
  await choose("Unit", "Days");
  await expect(node(page, "Wait Hold")).toContainText("Wait for 90 days");
  await choose("Wait", "Until a time");
  const clock = panel(page).getByLabel("Pick a time, by your clock");
  await clock.fill("2036-12-24T18:30");
  const until = panel(page).getByRole("textbox", { name: "Until" });
  await expect(until).toHaveValue(/^2036-12-2[45]T\d\d:\d\d:00Z$/);
  await expect(node(page, "Wait Hold")).toContainText("Wait until 24 Dec 2036, 18:30");
  await until.fill("{{trigger.output}}");
  await expect(clock).toHaveValue("");
  await choose("Wait", "For a call");
  await expect(panel(page).getByRole("textbox", { name: "At most" })).toHaveValue("3");
  await expect(unit).toHaveText("Days");
  await expect(node(page, "Wait Hold")).toContainText("Wait for a call, at most 3 days");
  await expect(panel(page).getByRole("button", { name: "Next step on timed out" })).toBeVisible();
  expect(await faultsOfPanel(page)).toEqual([]);

  // Whoever stands beside it can send its address on.
  await node(page, "Set Tell").click();
  const value = panel(page).getByRole("group", { name: "field 1" }).getByRole("textbox", { name: "Value" });
  await value.pressSequentially("{{Hold");
  await page.getByRole("option", { name: /^Hold\.resume_url/ }).click();
  await expect(value).toHaveValue("{{Hold.resume_url}}");
  await expect(problem(page)).toHaveCount(0);
  expect(await faultsOfPanel(page)).toEqual([]);

  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Start run" }).click();
  await expect(node(page, "Wait Hold")).toContainText(/Waiting for a call until \w{3} \d\d:\d\d/);
  await expect(node(page, "Set Tell")).toHaveAccessibleDescription(/Complete/);
  const { body: runs } = await api.get(`/workflows/${flow.id}/executions`, { schema: ExecutionSummary.array() });
  const run = await api.get(`/executions/${runs[0]?.id}`, { schema: Execution });
  const address = run.body.node_results.Hold?.resume_url ?? "";
  expect(JSON.parse(run.body.node_results.Tell?.output ?? "")).toEqual({ to: address, n: 1 });
  expect((await page.request.post(address, { data: { fine: true } })).status()).toBe(200);
  await expect(node(page, "Output Late")).toHaveAccessibleDescription(/Complete/);

  await test.step("an HTTP node's last answer is offered: its status, its headers, and what its body holds", async () => {
    // By the keyboard: the panel lies over the last of so many cards.
    await node(page, "Output Late").focus();
    await page.keyboard.press("Enter");
    const text = panel(page).getByRole("textbox", { name: "Value", exact: true });
    await text.pressSequentially("{{Ping.");
    const option = (name: RegExp) => page.getByRole("option", { name });
    await expect(option(/^Ping\.status/)).toContainText("200");
    await expect(option(/^Ping\.output\.status/)).toBeVisible();
    await option(/^Ping\.headers\.content-type/).click();
    await expect(panel(page).getByRole("figure", { name: "Preview" })).toContainText("application/json");
  });
});

test("a Workflow node is filled in as the other workflow's form asks, for the version that is chosen", async ({
  signedInPage: page,
  api,
  workflow,
  executed,
}) => {
  const parameters = [
    { name: "topic", label: "Topic", type: "text", required: true },
    { name: "words", label: "Words", type: "number", required: false, default: 80 },
  ];
  const child = await workflow({
    name: "Daily digest",
    ...graphOf({ Start: ["trigger", { kind: "params", parameters }], Out: ["output", { value: "{{trigger.topic}} {{trigger.words}}" }] }, [
      "Start>Out",
    ]),
  });
  const plain = graphOf({ Start: ["trigger", { kind: "manual" }], Out: ["output"] }, ["Start>Out"]);
  await api.put(`/workflows/${child.id}`, plain);
  const flow = await workflow(graphOf({ Start: ["trigger", { kind: "manual" }], Ask: ["workflow"] }, ["Start>Ask"]));
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Workflow Ask").click();
  await expect(panel(page).getByRole("combobox", { name: "Workflow", exact: true })).toBeVisible();
  expect(await faultsOfPanel(page)).toEqual([]);
  const choose = async (field: string, option: string | RegExp) => {
    await panel(page).getByRole("combobox", { name: field, exact: true }).click();
    await page.getByRole("option", { name: option }).click();
  };
  await choose("Workflow", "Daily digest");
  await expect(node(page, "Workflow Ask")).toContainText("Run Daily digest with what came before");
  await expect(panel(page).getByRole("textbox", { name: "Input" })).toBeVisible();
  await choose("Version", /^Version 1/);
  const topic = panel(page).getByRole("textbox", { name: /^Topic/ });
  await expect(panel(page).getByRole("textbox", { name: "Input" })).toHaveCount(0);
  const missing = problem(page).filter({ hasText: "Fill this in" });
  await expect(missing).toBeVisible();
  await topic.fill("{{trigger.output}}");
  await expect(problem(page)).toHaveCount(0);
  await expect(panel(page).getByRole("textbox", { name: /^Words/ })).toHaveAccessibleDescription("A number; empty is 80");
  await expect(node(page, "Workflow Ask")).toContainText("Run Daily digest version 1 with topic");
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Version 2 published")).toBeVisible();
  expect(await executed(flow, { input: "looms" })).toMatchObject({ status: "completed", output: "looms 80" });
});

test("which workflow is started when a run fails is chosen for the workflow, or for the project", async ({
  signedInPage: page,
  api,
  person,
  workflow,
}) => {
  const graph = graphOf({ Start: ["trigger", { kind: "manual" }], Out: ["output"] }, ["Start>Out"]);
  const [mine, ours] = [await workflow({ name: "Tell me", ...graph }), await workflow({ name: "Tell us", ...graph })];
  const flow = await workflow({ name: "Digest", ...graph });
  await page.goto("/settings/project");
  const section = page.getByRole("region", { name: "When a run fails" });
  await section.getByRole("combobox", { name: "Start this workflow" }).click();
  await page.getByRole("option", { name: "Tell us" }).click();
  await expect(section.getByRole("combobox", { name: "Start this workflow" })).toHaveText("Tell us");
  await expect(section).toContainText('"failed_node"');
  await expect
    .poll(async () => (await api.get(`/projects/${person.project.id}`, { schema: Project })).body.error_workflow_id)
    .toBe(ours.id);

  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Notifications" }).click();
  const mail = page.getByRole("switch", { name: "A run fails: by e-mail" });
  await mail.click();
  await expect(mail).toBeChecked();
  await expect.poll(async () => (await api.get("/users/me", { schema: UserProfile })).body.notify_run_failed).toBe(true);

  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "When a run fails…" }).click();
  const dialog = page.getByRole("dialog", { name: "When a run fails" });
  const choice = dialog.getByRole("combobox", { name: "Start this workflow" });
  await expect(choice).toHaveText("The project’s: Tell us");
  await choice.click();
  await expect(page.getByRole("option", { name: "Digest" })).toHaveCount(0);
  await page.getByRole("option", { name: "Tell me" }).click();
  await expect(choice).toHaveText("Tell me");
  await expect.poll(async () => (await api.get(`/workflows/${flow.id}`, { schema: Workflow })).body.error_workflow_id).toBe(mine.id);
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
});
