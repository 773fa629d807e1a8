import type { Locator, Page } from "@playwright/test";
import type { ApiClient } from "#e2e/api-client.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { ExecuteResult } from "#server/schemas/execution.ts";
import { Workflow } from "#server/schemas/workflow.ts";

const saved = (page: Page) => page.locator("header").getByText("Saved", { exact: true }).first();

const make = (id: string, type: string, x: number, y: number, data: Record<string, unknown> = {}) => ({
  ...{ id, type: `${type}Node`, position: { x, y } },
  data: { label: id, ...data },
});
const edge = (source: string, target: string, sourceHandle?: string) => ({
  ...{ id: `${source}-${target}`, source, target },
  ...(sourceHandle && { sourceHandle }),
});

/** Start → Each { Check → Yes | No } → All */
const loop = {
  nodes: [
    make("Start", "trigger", 0, 0, { kind: "manual", default_input: '["a","b"]' }),
    make("Each", "loop", 330, -40, { items_expression: "{{trigger.output}}" }),
    make("Check", "branch", 470, 60, { condition: "'a' in output" }),
    make("Yes", "output", 800, 40, { value: "yes" }),
    make("No", "output", 800, 200, { value: "no" }),
    make("All", "output", 1250, 0, { value: "{{Each.output}}" }),
  ],
  edges: [
    ...[edge("Start", "Each"), edge("Each", "Check", "body"), edge("Check", "Yes", "true"), edge("Check", "No", "false")],
    edge("Each", "All", "done"),
  ],
};

/** Drags something by a point near its upper left corner, in pixels. */
async function drag(page: Page, what: Locator, by: { x: number; y: number }): Promise<void> {
  const box = await what.boundingBox();
  if (!box) throw new Error("nothing to drag");
  const from = { x: box.x + 40, y: box.y + 8 };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + by.x / 2, from.y + by.y / 2, { steps: 4 });
  await page.mouse.move(from.x + by.x, from.y + by.y, { steps: 4 });
  await page.mouse.up();
}

/** What Save makes of the canvas. */
async function savedGraph(page: Page, api: ApiClient, id: string, version: number) {
  await page.keyboard.press("Control+s");
  await expect(page.getByText(`Version ${version} saved`)).toBeVisible();
  const { body } = await api.get(`/workflows/${id}`, { schema: Workflow });
  const links = body.edges.map(({ source, sourceHandle, target }) => `${source}${sourceHandle ? `.${sourceHandle}` : ""}>${target}`);
  const at = (name: string) => body.nodes.find((item) => item.id === name)?.position ?? { x: Number.NaN, y: Number.NaN };
  return { links: links.sort(), at, nodes: body.nodes };
}

test("a loop is a frame: it takes its body along, a node is dropped out of it and into it, and it collapses", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const flow = await workflow(loop);
  await page.goto(`/workflows/${flow.id}`);
  const frame = node(page, "Loop Each");
  await expect(frame).toBeVisible();
  await expect(node(page, "Output No")).toBeVisible();
  const [outer, inner] = [await frame.boundingBox(), await node(page, "Output No").boundingBox()];
  expect(outer && inner && inner.y + inner.height < outer.y + outer.height && inner.x > outer.x).toBe(true);

  await drag(page, frame, { x: 20, y: -40 });
  const moved = await savedGraph(page, api, flow.id, 2);
  expect(moved.at("Yes").y).toBeLessThan(40);
  expect(moved.at("Yes").y - moved.at("No").y).toBe(-160);
  expect(moved.at("All")).toEqual({ x: 1250, y: 0 });
  expect(moved.links).toHaveLength(5);

  await drag(page, node(page, "Output No"), { x: 0, y: 150 });
  await expect(page.getByText("No taken out of Each")).toBeAttached();
  expect((await savedGraph(page, api, flow.id, 3)).links).toEqual(["Check.true>Yes", "Each.body>Check", "Each.done>All", "Start>Each"]);
  await page.getByRole("button", { name: "Undo" }).click();
  const back = await savedGraph(page, api, flow.id, 4);
  expect(back.links).toContain("Check.false>No");
  expect(back.at("No")).toEqual(moved.at("No"));

  await drag(page, node(page, "Output No"), { x: 0, y: 150 });
  await expect(page.getByText("No taken out of Each")).toBeAttached();
  const [target, lone] = [await node(page, "Output Yes").boundingBox(), await node(page, "Output No").boundingBox()];
  if (!target || !lone) throw new Error("a card is gone");
  await drag(page, node(page, "Output No"), { x: target.x + 4 - lone.x, y: target.y + target.height - 20 - lone.y });
  await expect(page.getByText("No put into Each")).toBeAttached();
  expect((await savedGraph(page, api, flow.id, 5)).links).toContain("Check.false>No");

  // The toolbar of the card under the pointer goes when the pointer does.
  await page.mouse.move(4, 500);
  await expect(page.getByRole("toolbar", { name: "Node actions" })).toBeHidden();
  await page.getByRole("button", { name: "Collapse loop" }).click();
  await expect(node(page, "Branch Check")).toBeHidden();
  await expect(canvas(page).locator(".react-flow__edge")).toHaveCount(2);
  await node(page, "Loop Each").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Expand loop" }).click();
  await expect(node(page, "Branch Check")).toBeVisible();
});

test("the menu of a node and of a selection: disable, align, duplicate, delete with what is inside", async ({
  signedInPage: page,
  api,
  workflow,
  finished,
}) => {
  const flow = await workflow({
    nodes: [
      make("Start", "trigger", 0, 0, { kind: "manual", default_input: "tea" }),
      make("First", "output", 330, 30, { value: "first" }),
      make("Second", "output", 660, -20, { value: "second {{First.output}}" }),
    ],
    edges: [edge("Start", "First"), edge("First", "Second")],
  });
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Output First").click({ button: "right" });
  await page.getByRole("menu", { name: "Node actions" }).getByRole("menuitem", { name: "Disable" }).click();
  await expect(node(page, "Output First")).toHaveAccessibleDescription(/Disabled/);
  await savedGraph(page, api, flow.id, 2);
  const { body } = await api.post(`/workflows/${flow.id}/execute`, {}, { schema: ExecuteResult, status: 202 });
  const run = await finished(body.execution_id);
  expect(run).toMatchObject({ status: "completed", output: "second tea" });

  // A key switches it on again; the toolbar above the card says the same.
  await node(page, "Output First").click();
  await expect(page.getByRole("toolbar", { name: "Node actions" }).getByRole("button", { name: "Enable" })).toBeVisible();
  await node(page, "Output First").press("d");
  await expect(node(page, "Output First")).not.toHaveAccessibleDescription(/Disabled/);

  await node(page, "Output Second").click({ modifiers: ["ControlOrMeta"] });
  await node(page, "Output Second").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Align top" }).click();
  const aligned = await savedGraph(page, api, flow.id, 3);
  expect([aligned.at("First").y, aligned.at("Second").y]).toEqual([-20, -20]);
  await node(page, "Output Second").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await expect(node(page, "Output First 2")).toBeVisible();
  expect((await savedGraph(page, api, flow.id, 4)).nodes).toHaveLength(5);
});

test("with V one selects by dragging, and what is selected keeps to the grid when it is moved", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const flow = await workflow(loop);
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output All")).toBeVisible();
  await page.keyboard.press("v");
  const [start, box] = [await node(page, "Trigger Start").boundingBox(), await canvas(page).boundingBox()];
  if (!start || !box) throw new Error("nothing to select");
  await page.mouse.move(start.x - 20, start.y - 30);
  await page.mouse.down();
  await page.mouse.move(start.x + start.width + 10, start.y + start.height + 20, { steps: 5 });
  await page.mouse.up();
  await expect(node(page, "Trigger Start")).toHaveClass(/selected/);
  await expect(node(page, "Output All")).not.toHaveClass(/selected/);
  await page.keyboard.press("h");
  await drag(page, node(page, "Trigger Start"), { x: -7, y: 33 });
  await expect(saved(page)).toBeVisible();
  const { at } = await savedGraph(page, api, flow.id, 2);
  expect(at("Start").y).toBeGreaterThan(0);
  expect([Math.abs(at("Start").x % 10), at("Start").y % 10]).toEqual([0, 0]);
});
