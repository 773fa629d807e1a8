import type { Page } from "@playwright/test";
import { axeFaults } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, keptDraft, node } from "#e2e/ui/locators.ts";
import { UpdatedWorkflow, Workflow, WorkflowVersionPage } from "#server/features/workflows/schema.ts";

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
  await api.put(`/workflows/${flow.id}`, { nodes, edges: [edge("t", "Result"), edge("t", "Extra")] }, { schema: UpdatedWorkflow });
  return flow;
}

test("versions are looked at as a diff, named, restored as one step and undone, published with a note; a viewer only looks", {
  tag: "@main",
}, async ({ signedInPage: page, api, workflow, newUser, pageOf }) => {
  const flow = await twoVersions({ api, workflow });
  const versions = async () => (await api.get(`/workflows/${flow.id}/versions`, { schema: WorkflowVersionPage })).body.items;
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output Extra")).toBeVisible();

  await test.step("a version is named, and looked at as a diff", async () => {
    await page.getByRole("button", { name: "History", exact: true }).click();
    await expect(version(page, 2)).toContainText("Current");
    await expect(version(page, 2)).toContainText("1 added, 1 changed, 1 removed, 2 connections");
    await expect(version(page, 1)).toContainText("Robin Weaver");
    await expect(version(page, 1).locator("time")).toHaveAttribute("title", /\d{4}, \d\d:\d\d:\d\d/);

    const name = history(page).getByLabel("Name of version 1");
    await name.fill("Before the rewrite");
    await name.press("Enter");
    await expect.poll(async () => (await versions())[1]?.name).toBe("Before the rewrite");

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
  });

  await test.step("it is restored as one step, and undone", async () => {
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

  await test.step("what would be published is listed, and gets a note", async () => {
    // Both nodes that came back are selected: the one that is pressed is meant.
    await expect(canvas(page).locator(".react-flow__node.selected")).toHaveCount(2);
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
    await publish.getByRole("button", { name: "Publish version 4" }).click();
    await expect(page.getByText("Version 4 published")).toBeVisible();
    await expect(publish).toBeHidden();
    expect((await versions())[0]).toMatchObject({ version: 4, note: "Fewer words" });
  });

  await test.step("a viewer looks: versions are compared with the one before, and nothing can be changed", async () => {
    const other = await pageOf(await newUser({ role: "viewer" }));
    await other.goto(`/workflows/${flow.id}`);
    await other.getByRole("button", { name: "History", exact: true }).click();
    await expect(history(other)).toContainText("Before the rewrite");
    await expect(history(other)).toContainText("Fewer words");
    await expect(history(other).getByRole("textbox")).toHaveCount(0);
    await version(other, 2).click();
    await other.getByRole("combobox", { name: "Compare with" }).click();
    await other.getByRole("option", { name: "With the one before" }).click();
    await expect(changes(other)).toContainText("Output Extra");
    await expect(changes(other)).not.toContainText("third");
    await expect(other.getByRole("button", { name: "Restore" })).toHaveCount(0);
  });
});

test("a conflict is shown as who changed what, and nothing is lost: a side is chosen, or both are kept, in the draft and over a version", async ({
  signedInPage: one,
  workflow,
  api,
}) => {
  const nodes = [trigger, output("Result", 330, "common words"), output("Other", 330, "nothing yet", 160)];
  const flow = await workflow({ nodes, edges: [edge("t", "Result"), edge("t", "Other")] });
  const now = async () => (await api.get(`/workflows/${flow.id}`, { schema: Workflow })).body;
  const resultOf = ({ nodes }: Workflow) => nodes.find(({ id }) => id === "Result")?.data.value;
  const isSaved = (page: Page) => expect(page.locator("header").getByText("Saved", { exact: true }).first()).toBeVisible();
  const two = await one.context().newPage();
  for (const page of [one, two]) {
    await page.goto(`/workflows/${flow.id}`);
    await node(page, "Output Result").click();
  }

  await test.step("both have changed the same node: one side is chosen", async () => {
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
  });

  await test.step("edits of different nodes are both kept, as one step", async () => {
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
  });

  await test.step("a tab whose draft is older than what another one published is told, and keeps what was typed in it", async () => {
    await value(two).fill("typed in the second tab");
    await isSaved(two);
    await two.keyboard.press("Control+s");
    await expect(two.getByText("Version 2 published")).toBeVisible();
    await node(one, "Output Result").click();
    await value(one).fill("typed in the first tab");
    await expect(one.getByText(/changed this draft at/)).toBeVisible();
    await expect(value(one)).toHaveValue("typed in the first tab");
    await one.getByRole("button", { name: "Keep mine" }).click();
    await expect(one.getByText(/changed this draft at/)).toBeHidden();
    await one.keyboard.press("Control+s");
    await expect(one.getByText("Version 3 published")).toBeVisible();
    expect(resultOf(await now())).toBe("typed in the first tab");
  });

  const dialog = (number: number) => one.getByRole("dialog", { name: `Version ${number} was published meanwhile` });
  await test.step("over a version that somebody published meanwhile, theirs is looked at, taken over and given back", async () => {
    await value(one).fill("my words");
    await isSaved(one);
    const [start] = nodes;
    const theirs = [start, output("Result", 330, "typed in the first tab"), output("Other", 330, "over REST", 160)];
    await api.put(`/workflows/${flow.id}`, { nodes: theirs }, { schema: UpdatedWorkflow });
    await one.getByRole("button", { name: "Publish", exact: true }).click();
    await expect(dialog(4).getByRole("definition")).toHaveText(["1 changed since version 3", "1 changed since version 3"]);
    expect(await axeFaults(one, "[role=dialog]")).toEqual([]);
    await dialog(4).getByRole("button", { name: "See what differs" }).click();
    await expect(one.getByRole("list", { name: "Changes by you" }).locator("del")).toHaveText("typed in the first tab");
    await comparison(one).getByRole("button", { name: "Back" }).click();
    await dialog(4).getByRole("button", { name: "See what differs" }).click();
    await comparison(one).getByRole("button", { name: "Load theirs" }).click();
    await expect(comparison(one)).toBeHidden();
    await expect(dialog(4)).toBeHidden();
    await node(one, "Output Result").click();
    await expect(value(one)).toHaveValue("typed in the first tab");
    await one.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Undo" }).click();
    await expect(value(one)).toHaveValue("my words");
  });

  await test.step("or one's own is published over it, once that is said", async () => {
    await value(one).fill("mine");
    await isSaved(one);
    const theirs = [trigger, output("Result", 660, "theirs"), output("Other", 330, "over REST", 160)];
    await api.put(`/workflows/${flow.id}`, { description: "changed over REST", nodes: theirs }, { schema: UpdatedWorkflow });
    await one.keyboard.press("Control+s");
    await expect(dialog(5)).toContainText("published version 5");
    await dialog(5).getByRole("button", { name: "Keep mine" }).click();
    await expect.poll(async () => (await now()).version).toBe(6);
    const kept = await now();
    expect(kept.description).toBe("changed over REST");
    expect(resultOf(kept)).toBe("mine");
  });
});

test("on a phone the comparison stands above the sheet of versions, and the sheet of a run leaves the workflow in view", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
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

  await page.getByRole("button", { name: "Run", exact: true }).click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await expect(run).toContainText("Completed");
  await expect(node(page, "Output Result")).toBeInViewport({ ratio: 0.9 });
  /** The room between the card and the sheet; the view is fitted a moment after the sheet has opened. */
  const room = async () => {
    const [card, sheet] = await Promise.all([node(page, "Output Result").boundingBox(), run.boundingBox()]);
    return (sheet?.y ?? 0) - (card?.y ?? 0) - (card?.height ?? 0);
  };
  await expect.poll(room).toBeGreaterThanOrEqual(0);
});
