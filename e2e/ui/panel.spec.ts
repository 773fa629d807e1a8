import type { Page } from "@playwright/test";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const field = (page: Page, name: string) => panel(page).getByLabel(name, { exact: true });

const at = (x: number, y = 0) => ({ x, y });
const trigger = (data = {}) => ({ id: "t", type: "triggerNode", position: at(0), data: { label: "Start", kind: "manual", ...data } });
const agentNode = (id: string, x: number, agent_id: string, input = "") => ({
  id,
  type: "agentNode",
  position: at(x),
  data: { label: id, agent_id, input },
});
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});

/** A workflow that ran once: Research answers what it was given, a branch asks for its length, Write and a review follow. */
const ranOnce = (agentId: string) => ({
  nodes: [
    trigger(),
    agentNode("Research", 330, agentId, "{{trigger.output}}"),
    { id: "Long", type: "branchNode", position: at(660), data: { label: "Long", condition: "len(output) > 3" } },
    agentNode("Write", 990, agentId, "x"),
    {
      id: "Check",
      type: "humanLoopNode",
      position: at(990, 240),
      data: { label: "Check", title: "Send it about {{trigger.output.topic}}?", description: "**Read** it first.", timeout_hours: 4 },
    },
  ],
  edges: [edge("t", "Research"), edge("Research", "Long"), edge("Long", "Write", "true"), edge("Long", "Check", "false")],
});
const INPUT = '{"topic": "looms", "items": ["warp", "weft"]}';

/** Nothing that axe finds in the panel. */
async function expectNoFaults(page: Page): Promise<void> {
  expect(await axeFaultsInBothThemes(page, '[aria-label="Nodes and settings"]')).toEqual([]);
}

test("the panel knows the last run: texts have values and a preview, a condition is tried, and what others will see is shown", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  executed,
}) => {
  test.setTimeout(120_000); // five states are examined
  const { id } = await agent({ name: "Scout", model: "echo" });
  await api.post("/credentials", { name: "GITHUB_TOKEN", value: "tok_5f3b0c9d8e7a" }, { status: 201 });
  const flow = await workflow(ranOnce(id));
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Branch Long").click();
  await expect(panel(page)).toContainText("Run the workflow once to see here what the condition comes to.");
  await executed(flow, { input: INPUT });
  await page.reload();

  await test.step("a text field offers values and credentials, shows a preview, and says what was meant by a wrong name", () =>
    textIsHelped(page));
  await test.step("values are inserted from the tree by a click or a drag, and the last run stands beside them", () =>
    valuesAreInserted(page));
  await test.step("a condition is tried on the last run while it is typed", () => conditionIsTried(page));
  await test.step("the approval page is previewed, and the last run and the relations of a node are there", () => othersAreSeen(page));
});

async function textIsHelped(page: Page): Promise<void> {
  await node(page, "Agent Write").click();
  const input = field(page, "Input");
  const run = page.getByRole("button", { name: "Run", exact: true });
  const list = page.getByRole("listbox", { name: "Values" });
  await input.fill("");
  await input.pressSequentially("Ask with {{cred");
  await list.getByRole("option", { name: /credentials\.GITHUB_TOKEN/ }).click();
  await expect(input).toHaveValue("Ask with {{credentials.GITHUB_TOKEN}}");
  await expect(run).not.toHaveAttribute("aria-disabled", "true");
  // One that is missing is a problem that names the nearest.
  await input.fill("Ask with {{credentials.GITHUB_TOKN}}");
  await page.getByRole("button", { name: "1 problem", exact: true }).click();
  await expect(page.getByText('the project has no credential "GITHUB_TOKN". Did you mean "GITHUB_TOKEN"?').first()).toBeVisible();
  await page.keyboard.press("Escape");

  await input.fill("");
  await input.pressSequentially("About {{to");
  await expect(list.getByRole("group", { name: "trigger" }).getByRole("option", { name: /^trigger\.output\.topic/ })).toContainText(
    "looms",
  );
  await list.getByRole("option", { name: /^trigger\.output\.topic/ }).click();
  await expect(input).toHaveValue("About {{trigger.output.topic}}");
  await input.press("Control+z");
  await expect(input).toHaveValue("About {{to");
  await input.press("Control+Shift+z");
  await expect(input).toHaveValue("About {{trigger.output.topic}}");
  const preview = panel(page).getByRole("figure", { name: "Preview" });
  await expect(preview).toContainText("About looms");

  await input.press("End");
  await input.pressSequentially(" by {{Resarch.output}}");
  await expect(panel(page).getByRole("alert")).toContainText('Did you mean "Research"?');
  await expect(preview).toContainText("About looms by {{Resarch.output}}");
  await expect(node(page, "Agent Write")).toHaveAccessibleDescription(/1 problem/);
  await panel(page).getByRole("button", { name: "Did you mean {{Research.output}}?" }).click();
  await expect(input).toHaveValue("About {{trigger.output.topic}} by {{Research.output}}");
  await expect(panel(page).getByRole("alert")).toBeHidden();
  // What was typed into the text before this one is not taken back out of it.
  await input.press("Control+z");
  await expect(input).toHaveValue("About {{trigger.output.topic}} by {{Research.output}}");
  await expect(preview).toContainText(`About looms by Echo: ${INPUT}`);
}

async function valuesAreInserted(page: Page): Promise<void> {
  const input = field(page, "Input");
  const preview = panel(page).getByRole("figure", { name: "Preview" });
  const tree = panel(page).getByRole("list", { name: "Connections" });
  await input.fill("One: ");
  await expect(preview).toBeHidden(); // what moves the tree has happened
  await tree.getByRole("button", { name: "What is inside trigger.output", exact: true }).click();
  await tree.getByRole("button", { name: "What is inside trigger.output.items" }).click();
  await tree.getByRole("button", { name: "Insert trigger.output.items[1]" }).click();
  await expect(input).toHaveValue("One: {{trigger.output.items[1]}}");
  await expect(preview).toContainText("One: weft");
  await expect(page.getByRole("listbox", { name: "Values" })).toBeHidden();
  await page.keyboard.press("Control+z");
  await expect(input).toHaveValue("One: ");
  await page.keyboard.press("Control+Shift+z");
  await expect(input).toHaveValue("One: {{trigger.output.items[1]}}");
  await input.fill("");
  await expect(preview).toBeHidden();
  await tree.getByRole("button", { name: "Insert Research.output" }).dragTo(input);
  await expect(input).toHaveValue("{{Research.output}}");
  await page.keyboard.press("Control+z");
  await expect(input).toHaveValue("");
  await input.fill("{{Resarch.output}} {{Research.output}}");
  await expect(panel(page).getByRole("button", { name: /Did you mean/ })).toBeVisible();
  await expectNoFaults(page);
  await panel(page).getByRole("tab", { name: "Last run" }).click();
  await expect(panel(page)).toContainText("Echo: x");
  await expectNoFaults(page);
  await panel(page).getByRole("tab", { name: "Settings" }).click();
}

async function conditionIsTried(page: Page): Promise<void> {
  await node(page, "Branch Long").click();
  const condition = field(page, "Condition");
  const trial = panel(page).getByRole("status", { name: "Trial" });
  await expect(trial).toHaveText("With last run True");
  await expectNoFaults(page);
  await condition.fill('"silk" in output');
  await expect(trial).toHaveText("With last run False");
  // One that runs in a process of its own.
  await condition.fill('re.search("l(o+)ms", trigger_output) and node_outputs["Scout"].startswith("Echo")');
  await expect(trial).toHaveText("With last run True");
  await condition.fill('node_outputs["Nobody"] == ""');
  await expect(trial).toBeHidden();
  await expect(panel(page)).toContainText("Nobody");
  await condition.fill("output = 1");
  await expect(trial).toBeHidden();
  // Longer than an address can be.
  await condition.fill(`"${"x".repeat(5000)}" in output`);
  await expect(trial).toHaveText("With last run False");

  // The tree writes Python here. What is said of an empty condition moves it first.
  await condition.fill("");
  await expect(condition).toHaveAttribute("aria-invalid", "true");
  const tree = panel(page).getByRole("list", { name: "Connections" });
  await tree.getByRole("button", { name: "What is inside trigger.output", exact: true }).click();
  await tree.getByRole("button", { name: "Insert trigger.output.topic" }).click();
  await condition.press("End");
  await condition.pressSequentially(' == "looms"');
  await expect(condition).toHaveValue('json.loads(trigger_output)["topic"] == "looms"');
  await expect(trial).toHaveText("With last run True");
}

async function othersAreSeen(page: Page): Promise<void> {
  await node(page, "Review Check").click();
  await panel(page).getByRole("button", { name: "Preview the approval page" }).click();
  const approval = page.getByRole("dialog", { name: "Preview of the approval page" });
  await expect(approval.getByRole("heading", { name: "Send it about looms?" })).toBeVisible();
  await expect(approval.getByRole("region", { name: "Content to review" })).toContainText("Echo: ");
  await expect(approval).toContainText("Without a decision it counts as rejected in 4 h");
  for (const name of ["Approve", "Reject"]) await expect(approval.getByRole("button", { name })).toBeDisabled();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await page.keyboard.press("Escape");

  // The tab stays while one walks along the relations.
  await panel(page).getByRole("tab", { name: "Relations" }).click();
  await panel(page).getByRole("list", { name: "Before" }).getByRole("button", { name: /Long/ }).click();
  await expect(panel(page).getByRole("textbox", { name: "Node name" })).toHaveValue("Long");
  await panel(page).getByRole("list", { name: "After" }).getByRole("button", { name: /Write/ }).click();
  await expect(panel(page).getByRole("tab", { name: "Relations" })).toHaveAttribute("aria-selected", "true");
  await expectNoFaults(page);
  await panel(page).getByRole("tab", { name: "Last run" }).click();
  await expect(panel(page).getByRole("tabpanel", { name: "Output" })).toContainText("Echo: x");
  await panel(page).getByRole("tab", { name: "Input" }).click();
  await expect(panel(page).getByRole("tabpanel", { name: "Input" })).toContainText("x");
  await expect(panel(page).getByRole("link", { name: "Open run" })).toHaveAttribute("href", /\/runs\//);
}

test("the run form is previewed, and an agent is made and changed, without leaving the workflow", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  llmKey,
  workflow,
}) => {
  await llmKey();
  const start = trigger({ kind: "params", parameters: [] });
  const flow = await workflow({ nodes: [start, agentNode("Write", 330, "")], edges: [edge("t", "Write")] });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Trigger Start").click();
  await panel(page).getByRole("button", { name: "Add parameter" }).click();
  await field(page, "Name").fill("topic");
  await field(page, "Label").fill("About what?");
  await panel(page).getByRole("checkbox", { name: "Must be filled in" }).click();
  await panel(page).getByText("Preview of the run form").click();
  const preview = panel(page).getByRole("form", { name: "Preview of the run form" });
  await expect(preview.getByRole("textbox", { name: "About what?" })).toHaveAttribute("aria-required", "true");
  await expect(preview.getByRole("button", { name: "Start run" })).toBeDisabled();

  await node(page, "Agent Write").click();
  await panel(page).getByRole("button", { name: "Create agent…" }).click();
  const dialog = page.getByRole("dialog", { name: "New agent" });
  // There is one key, and nothing to lose yet.
  await expect(dialog.getByRole("combobox", { name: "LLM key" })).toContainText("Stand-in");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await panel(page).getByRole("button", { name: "Create agent…" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("Weaver");
  // Half an agent is not lost by a slip.
  await page.keyboard.press("Escape");
  await expect(page.getByText("Kept as a draft")).toBeVisible();
  await panel(page).getByRole("button", { name: "Create agent…" }).click();
  await expect(dialog.getByLabel("Name", { exact: true })).toHaveValue("Weaver");
  await dialog.getByRole("combobox", { name: "Model" }).fill("echo");
  await page.keyboard.press("Tab");
  await dialog.getByRole("button", { name: "Create agent", exact: true }).click();
  await expect(dialog).toBeHidden();
  await expect(panel(page).getByRole("combobox", { name: "Agent" })).toContainText("Weaver");
  await expect(node(page, "Agent Write")).toContainText("Weaver");
  await expect(page).toHaveURL(new RegExp(`/workflows/${flow.id}`));

  await panel(page).getByRole("button", { name: "Edit agent…" }).click();
  const change = page.getByRole("dialog", { name: "Agent Weaver" });
  await change.getByLabel("Name", { exact: true }).fill("Spinner");
  await change.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Version 2 published", { exact: true })).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(node(page, "Agent Write")).toContainText("Spinner");
  await page.context().setOffline(true);
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Not published")).toBeVisible();
  await page.context().setOffline(false);
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("Version 2 published")).toBeVisible();
  const saved = async () => (await api.get(`/workflows/${flow.id}`, { schema: Workflow })).body;
  await expect.poll(async () => (await saved()).nodes.find(({ id }) => id === "Write")?.data.agent_id).toMatch(/^[\da-f-]{36}$/);
});
