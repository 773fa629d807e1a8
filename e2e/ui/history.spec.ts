import type { Page } from "@playwright/test";
import { axeFaults } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, keptDraft, node } from "#e2e/ui/locators.ts";
import { Workflow, WorkflowVersionPage, WorkflowVersionSummary } from "#server/features/workflows/schema.ts";

const history = (page: Page) => page.getByRole("complementary", { name: "History" });
const comparison = (page: Page) => page.getByRole("region", { name: "Comparison" });
const changes = (page: Page) => page.getByRole("list", { name: "Changes" });
const version = (page: Page, number: number) => history(page).getByRole("button", { name: new RegExp(`^Version ${number}\\b`) });
const value = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" }).getByLabel("Value", { exact: true });

const trigger = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } };
const output = (id: string, x: number, text: string, y = 0) => ({
  id,
  type: "outputNode",
  position: { x, y },
  data: { label: id, value: text },
});
const branch = { id: "Check", type: "branchNode", position: { x: 330, y: 160 }, data: { label: "Check", condition: "True" } };
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });

/** A workflow with two versions: the second changes Result, drops Check and adds Extra. */
async function twoVersions({ api, workflow }: Pick<Parameters<Parameters<typeof test>[2]>[0], "api" | "workflow">) {
  const flow = await workflow({
    nodes: [trigger, output("Result", 330, "first words"), branch],
    edges: [edge("t", "Result"), edge("t", "Check")],
  });
  const nodes = [trigger, output("Result", 330, "second words"), output("Extra", 330, "more", 320)];
  await api.put(`/workflows/${flow.id}`, { nodes, edges: [edge("t", "Result"), edge("t", "Extra")] }, { schema: Workflow });
  return flow;
}

test("a version is looked at as a diff, named, restored as one step, and undone", async ({ signedInPage: page, api, workflow }) => {
  const flow = await twoVersions({ api, workflow });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output Extra")).toBeVisible();
  await page.getByRole("button", { name: "History", exact: true }).click();
  await expect(version(page, 2)).toContainText("Current");
  await expect(version(page, 2)).toContainText("1 added, 1 changed, 1 removed, 2 connections");
  await expect(version(page, 1)).toContainText("Robin Weaver");
  await expect(version(page, 1).locator("time")).toHaveAttribute("title", /\d{4}, \d\d:\d\d:\d\d/);

  const name = history(page).getByLabel("Name of version 1");
  await name.fill("Before the rewrite");
  await name.press("Enter");
  const nameOf = async () => (await api.get(`/workflows/${flow.id}/versions`, { schema: WorkflowVersionPage })).body.items[1]?.name;
  await expect.poll(nameOf).toBe("Before the rewrite");

  await version(page, 1).click();
  await expect(comparison(page)).toContainText("1 added, 1 changed, 1 removed, 2 connections");
  await expect(node(page, "Output Extra")).toHaveAccessibleDescription(/New/);
  await expect(node(page, "Output Result")).toHaveAccessibleDescription(/Changed/);
  await expect(node(page, "Branch Check")).toHaveAccessibleDescription(/Removed/);
  const gone = canvas(page).getByRole("group", { name: /^Connection from Start to Check, removed/ });
  await expect(gone.locator(".flow-line")).toHaveCSS("stroke-dasharray", "10px, 5px");
  const result = changes(page).getByRole("listitem").filter({ hasText: "Output Result" });
  await expect(result.locator("del")).toHaveText("first");
  await expect(result.locator("ins")).toHaveText("second");
  // What is looked at is not edited: neither by a key, nor by dragging.
  await node(page, "Output Extra").click();
  await page.keyboard.press("Delete");
  await expect(node(page, "Output Extra")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);

  // Leaving gives the draft back as it was.
  await comparison(page).getByRole("button", { name: "Close" }).click();
  await expect(node(page, "Branch Check")).toBeHidden();
  await expect(history(page).getByRole("button", { name: /^Draft/ })).toContainText("The same as version 2");

  await version(page, 1).click();
  await comparison(page).getByRole("button", { name: "Restore" }).click();
  await expect(node(page, "Branch Check")).toBeVisible();
  await expect(node(page, "Output Extra")).toBeHidden();
  await page.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Undo" }).click();
  await expect(node(page, "Output Extra")).toBeVisible();
  await expect(node(page, "Branch Check")).toBeHidden();
  await page.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Redo" }).click();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Version 3 published")).toBeVisible();
  const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
  expect(body.nodes).toMatchObject([{ id: "t" }, { id: "Result", data: { value: "first words" } }, { id: "Check" }]);
});

test("a version gets a note and a name, versions are compared with the one before, and a viewer only looks", async ({
  signedInPage: page,
  api,
  workflow,
  newUser,
  pageOf,
}) => {
  const flow = await twoVersions({ api, workflow });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Output Result").click();
  await value(page).fill("third words");
  await page.getByRole("button", { name: "What would be published" }).click();
  const publish = page.getByRole("dialog", { name: "Publish" });
  await expect(publish.getByRole("list", { name: "Changes" })).toHaveText("ChangedOutput Result");
  await publish.getByLabel("Note").fill("Fewer words");
  // What was written is there again.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "What would be published" }).click();
  await expect(publish.getByLabel("Note")).toHaveValue("Fewer words");
  expect(await axeFaults(page, "[role=dialog]")).toEqual([]);
  await publish.getByRole("button", { name: "Publish version 3" }).click();
  await expect(page.getByText("Version 3 published")).toBeVisible();
  await expect(publish).toBeHidden();
  const named = await api.put(`/workflows/${flow.id}/versions/3`, { name: "Shorter" }, { schema: WorkflowVersionSummary });
  expect(named.body).toMatchObject({ name: "Shorter", note: "Fewer words" });

  const viewer = await newUser({ role: "viewer" });
  const other = await pageOf(viewer);
  await other.goto(`/workflows/${flow.id}`);
  await other.getByRole("button", { name: "History", exact: true }).click();
  await expect(history(other)).toContainText("Shorter");
  await expect(history(other)).toContainText("Fewer words");
  await expect(history(other).getByRole("textbox")).toHaveCount(0);
  await version(other, 2).click();
  await other.getByRole("combobox", { name: "Compare with" }).click();
  await other.getByRole("option", { name: "With the one before" }).click();
  await expect(changes(other)).toContainText("Output Extra");
  await expect(changes(other)).not.toContainText("third");
  await expect(other.getByRole("button", { name: "Restore" })).toHaveCount(0);
  await other.keyboard.press("Escape");
});

test("a conflict is shown as who changed what: a side is chosen, or both are kept", async ({ signedInPage: one, workflow, api }) => {
  const nodes = [trigger, output("Result", 330, "common words"), output("Other", 330, "nothing yet", 160)];
  const flow = await workflow({ nodes, edges: [edge("t", "Result"), edge("t", "Other")] });
  const two = await one.context().newPage();
  for (const page of [one, two]) {
    await page.goto(`/workflows/${flow.id}`);
    await node(page, "Output Result").click();
  }
  const isKept = keptDraft(one, "their words");
  await value(one).fill("their words");
  await isKept;
  await value(two).fill("my words");
  await two.getByRole("button", { name: "See what differs" }).click();
  await expect(node(two, "Output Result")).toHaveAccessibleDescription(/Changed by both/);
  await expect(comparison(two)).toContainText("By you: nothing · by them: nothing · by both: 1 changed");
  await expect(comparison(two).getByRole("button", { name: "Keep both, mine where both changed" })).toBeVisible();
  const panel = two.getByRole("complementary", { name: "What differs" });
  await expect(panel.locator("dd", { hasText: "Theirs" })).toContainText("their");
  await expect(panel.locator("dd", { hasText: "Yours" })).toContainText("my");
  const isMine = keptDraft(two, "my words");
  await comparison(two).getByRole("button", { name: "Keep mine" }).click();
  await expect(comparison(two)).toBeHidden();
  await expect(value(two)).toHaveValue("my words");
  await isMine;

  // Edits of different nodes are both kept, as one step.
  await one.reload();
  await node(one, "Output Other").click();
  const isKeptToo = keptDraft(one, "their other words");
  await value(one).fill("their other words");
  await isKeptToo;
  await node(two, "Output Result").click();
  await value(two).fill("my last words");
  await expect(two.getByText("By you: 1 changed · by them: 1 changed · by both: nothing.")).toBeVisible();
  await two.getByRole("button", { name: "See what differs" }).click();
  await expect(node(two, "Output Other")).toHaveAccessibleDescription(/Changed by them/);
  await expect(two.getByRole("list", { name: "Changes by you" }).locator("ins")).toHaveText("last words");
  await expect(two.getByRole("list", { name: "Changes by them" }).locator("ins")).toHaveText("their other words");
  expect(await axeFaults(two)).toEqual([]);
  const isMerged = keptDraft(two, "their other words");
  await comparison(two).getByRole("button", { name: "Keep both", exact: true }).click();
  await isMerged;
  await expect(value(two)).toHaveValue("my last words");
  await node(two, "Output Other").click();
  await expect(value(two)).toHaveValue("their other words");
  await two.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Undo" }).click();
  await expect(value(two)).toHaveValue("nothing yet");
  await node(two, "Output Result").click();
  await expect(value(two)).toHaveValue("my last words");
  await value(two).fill("my words");

  // The same over a version: somebody published one of which this tab does not know.
  await expect(two.locator("header").getByText("Saved", { exact: true })).toBeVisible();
  const [start, result] = nodes;
  await api.put(`/workflows/${flow.id}`, { nodes: [start, result, output("Other", 330, "over REST", 160)] }, { schema: Workflow });
  await two.getByRole("button", { name: "Publish", exact: true }).click();
  const dialog = two.getByRole("dialog", { name: "Version 2 was published meanwhile" });
  await expect(dialog.getByRole("definition")).toHaveText(["1 changed since version 1", "1 changed since version 1"]);
  expect(await axeFaults(two, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "See what differs" }).click();
  await expect(two.getByRole("list", { name: "Changes by you" }).locator("del")).toHaveText("common");
  await comparison(two).getByRole("button", { name: "Back" }).click();
  await dialog.getByRole("button", { name: "See what differs" }).click();
  await comparison(two).getByRole("button", { name: "Load theirs" }).click();
  await expect(comparison(two)).toBeHidden();
  await expect(dialog).toBeHidden();
  await node(two, "Output Result").click();
  await expect(value(two)).toHaveValue("common words");
  await two.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Undo" }).click();
  await expect(value(two)).toHaveValue("my words");
});

test("on a phone the comparison stands above the sheet of versions", async ({ signedInPage: page, api, workflow }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const flow = await twoVersions({ api, workflow });
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "What would be published" }).click();
  await page.getByRole("dialog", { name: "Publish" }).getByRole("button", { name: "History" }).click();
  await version(page, 1).click();
  await expect(changes(page)).toContainText("Output Extra");
  await expect(node(page, "Output Extra")).toBeInViewport({ ratio: 0.9 });
  await expect(node(page, "Branch Check")).toBeInViewport({ ratio: 0.9 });
  const [area, sheet] = await Promise.all([canvas(page).boundingBox(), history(page).boundingBox()]);
  expect((area?.y ?? 0) + (area?.height ?? 0)).toBeLessThanOrEqual((sheet?.y ?? 0) + 1);
  await comparison(page).getByRole("button", { name: "Restore" }).click();
  await expect(node(page, "Branch Check")).toBeVisible();
  await expect(history(page)).toBeHidden();
});
