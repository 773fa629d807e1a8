import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

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

test("a circle is refused, steps are taken back and come again, and what cannot be saved is kept and tried again", {
  tag: "@main",
}, async ({ signedInPage: page, agent, workflow }) => {
  const { id } = await agent({ name: "Scout", model: "echo" });
  const nodes = [trigger, agentNode("First", 330, id), agentNode("Second", 660, id)];
  const flow = await workflow({ nodes, edges: [edge("t", "First"), edge("First", "Second")] });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent Second")).toBeVisible();

  await test.step("an edge that closes a circle is refused with the reason, by mouse and by keyboard", async () => {
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
    await page.keyboard.press("Escape");
  });

  await test.step("undo and redo of what was typed and of a node", async () => {
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

  await test.step("an autosave that cannot reach the server says so, tries again, and nothing is lost", async () => {
    await expect(saved(page)).toBeVisible();
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
});
