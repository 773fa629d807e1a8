import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

const saved = (page: Page) => page.locator("header").getByText("Saved", { exact: true }).first();
const input = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" }).getByLabel("Input", { exact: true });

const at = (x: number) => ({ x, y: 0 });
const trigger = { id: "t", type: "triggerNode", position: at(0), data: { label: "Start", kind: "manual" } };
const agentNode = (id: string, x: number, agent_id: string) => ({ id, type: "agentNode", position: at(x), data: { label: id, agent_id } });
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });

async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  if (!a || !b) throw new Error("nothing to drag");
  await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 12 });
}

test("an edge that closes a cycle is refused with the reason, by mouse and by keyboard", async ({
  signedInPage: page,
  agent,
  workflow,
}) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  const nodes = [trigger, agentNode("First", 330, id), agentNode("Second", 660, id)];
  const flow = await workflow({ nodes, edges: [edge("t", "First"), edge("First", "Second")] });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent Second")).toBeVisible();
  const edges = canvas(page).locator(".react-flow__edge");
  await expect(edges).toHaveCount(2);

  await drag(
    page,
    node(page, "Agent Second").locator(".react-flow__handle.source"),
    node(page, "Agent First").locator(".react-flow__handle.target"),
  );
  await expect(page.getByText("This would make a circle").first()).toBeVisible();
  await page.mouse.up();
  await expect(edges).toHaveCount(2);

  await node(page, "Agent Second").click();
  await node(page, "Agent Second").press("c");
  const first = page.getByRole("option", { name: /First/ });
  await expect(first).toBeDisabled();
  await expect(first).toContainText("circle");
});

test("undo and redo of an added node and of what was typed", async ({ signedInPage: page, agent, workflow }) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  const flow = await workflow({ nodes: [trigger, agentNode("First", 330, id)], edges: [edge("t", "First")] });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Agent First").click();
  await input(page).fill("hello");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(input(page)).toHaveValue("");
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(input(page)).toHaveValue("hello");
  await node(page, "Agent First").press("Delete");
  await expect(node(page, "Agent First")).toBeHidden();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(node(page, "Agent First")).toBeVisible();
});

test("what would stop a run is listed, leads to the field, and holds Run back", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ nodes: [trigger, agentNode("First", 330, "")], edges: [edge("t", "First")] });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent First")).toBeVisible();
  const run = page.getByRole("button", { name: "Run", exact: true });
  await expect(run).toHaveAttribute("aria-disabled", "true");
  await page.getByRole("button", { name: "1 problem", exact: true }).click();
  await expect(page.getByText("Choose an agent.").first()).toBeVisible();
  await page.getByRole("button", { name: /Go to fix/ }).click();
  await expect(page.getByRole("complementary", { name: "Nodes and settings" }).getByText("Choose an agent.")).toBeVisible();
});

test("a second tab that saves an older version is told, and loses nothing", async ({ signedInPage: one, api, agent, workflow }) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  const flow = await workflow({ nodes: [trigger, agentNode("First", 330, id)], edges: [edge("t", "First")] });
  const two = await one.context().newPage();
  for (const page of [one, two]) {
    await page.goto(`/workflows/${flow.id}`);
    await node(page, "Agent First").click();
  }
  await input(one).fill("typed in the first tab");
  await expect(one.getByText("Saved", { exact: true }).first()).toBeVisible();
  await one.keyboard.press("Control+s");
  await expect(one.getByText("Version 2 published")).toBeVisible();

  await input(two).fill("typed in the second tab");
  await expect(two.getByText(/changed this draft at/)).toBeVisible();
  await expect(input(two)).toHaveValue("typed in the second tab");
  await two.getByRole("button", { name: "Keep mine" }).click();
  await expect(two.getByText(/changed this draft at/)).toBeHidden();
  await two.keyboard.press("Control+s");
  await expect(two.getByText("Version 3 published")).toBeVisible();
  const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
  expect(body.nodes.find((item) => item.id === "First")?.data.input).toBe("typed in the second tab");
});

test("publishing over a version that somebody else published meanwhile asks first", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
}) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  const flow = await workflow({ nodes: [trigger, agentNode("First", 330, id)], edges: [edge("t", "First")] });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Agent First").click();
  await input(page).fill("mine");
  await expect(saved(page)).toBeVisible();
  const theirs = { ...agentNode("First", 330, id), position: { x: 660, y: 0 } };
  const put = { description: "changed over REST", nodes: [trigger, theirs], edges: [edge("t", "First")] };
  await api.put(`/workflows/${flow.id}`, put, { schema: Workflow });
  await page.keyboard.press("Control+s");
  const dialog = page.getByRole("dialog", { name: "Version 2 was published meanwhile" });
  await expect(dialog).toContainText("published version 2");
  await dialog.getByRole("button", { name: "Keep mine" }).click();
  const now = async () => (await api.get(`/workflows/${flow.id}`, { schema: Workflow })).body;
  await expect.poll(async () => (await now()).version).toBe(3);
  const body = await now();
  expect(body.description).toBe("changed over REST");
  expect(body.nodes.find((item) => item.id === "First")?.data.input).toBe("mine");
});

test("an autosave that cannot reach the server says so, tries again, and nothing is lost", async ({
  signedInPage: page,
  agent,
  workflow,
}) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  const flow = await workflow({ nodes: [trigger, agentNode("First", 330, id)], edges: [edge("t", "First")] });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Agent First").click();
  await page.route("**/api/trpc/workflows.saveDraft*", (route) => route.abort());
  await input(page).fill("written while the line was down");
  await expect(page.getByText(/Autosave failed, retrying in \d+ s/)).toBeVisible();
  await page.unroute("**/api/trpc/workflows.saveDraft*");
  await expect(saved(page)).toBeVisible();
  await page.reload();
  await node(page, "Agent First").click();
  await expect(input(page)).toHaveValue("written while the line was down");
});

test("Stop ends a run: the node under way is stopped, the rest are skipped", async ({
  signedInPage: page,
  agent,
  workflow,
  modelServer,
}) => {
  const gate = `stop-${crypto.randomUUID()}`;
  const { id } = await agent({ name: "Scout", model: `gate-${gate}` });
  const nodes = [{ ...trigger, data: { ...trigger.data, default_input: gate } }, agentNode("First", 330, id), agentNode("Second", 660, id)];
  const flow = await workflow({ nodes, edges: [edge("t", "First"), edge("First", "Second")] });
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Start run" }).click();
  await expect(node(page, "Agent First")).toHaveAccessibleDescription(/Running/);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(node(page, "Agent First")).toHaveAccessibleDescription(/Stopped/);
  await expect(node(page, "Agent Second")).toHaveAccessibleDescription(/Skipped/);
  await expect(page.getByRole("region", { name: "Run", exact: true })).toContainText("Cancelled");
  await expect.poll(async () => (await modelServer.calls({ contains: gate }))[0]?.outcome).toBe("aborted");
});

test("a failed node is red, says why in the provider's words, and the run page opens on it", async ({
  signedInPage: page,
  agent,
  workflow,
}) => {
  const { id } = await agent({ name: "Scout", model: "late-status-401" });
  const flow = await workflow({
    nodes: [trigger, agentNode("First", 330, id), agentNode("Second", 660, id)],
    edges: [edge("t", "First"), edge("First", "Second")],
  });
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Start run" }).click();
  await expect(node(page, "Agent First")).toHaveAccessibleDescription(/Failed/);
  await expect(node(page, "Agent Second")).toHaveAccessibleDescription(/Skipped/);
  const panel = page.getByRole("region", { name: "Run", exact: true });
  await expect(panel).toContainText("401");
  await panel.getByRole("link", { name: /Open run/ }).click();
  await expect(page).toHaveURL(/\/runs\//);
  await expect(page.getByRole("main")).toContainText("401");
});

test("on a phone the run sheet leaves the workflow in view", async ({ signedInPage: page, workflow }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const nodes = [trigger, { id: "o", type: "outputNode", position: at(330), data: { label: "Result", value: "done" } }];
  const flow = await workflow({ nodes, edges: [edge("t", "o")] });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output Result")).toBeVisible();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("region", { name: "Run", exact: true })).toContainText("Completed");
  await expect(node(page, "Output Result")).toBeInViewport({ ratio: 0.9 });
  /** The room between the card and the sheet; the view is fitted a moment after the sheet has opened. */
  const room = async () => {
    const [card, sheet] = await Promise.all([
      node(page, "Output Result").boundingBox(),
      page.getByRole("region", { name: "Run", exact: true }).boundingBox(),
    ]);
    return (sheet?.y ?? 0) - (card?.y ?? 0) - (card?.height ?? 0);
  };
  await expect.poll(room).toBeGreaterThanOrEqual(0);
});
