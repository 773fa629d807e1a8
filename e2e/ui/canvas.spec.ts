import type { Locator, Page } from "@playwright/test";
import type { ApiClient } from "#e2e/api-client.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, drag, node } from "#e2e/ui/locators.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

// The canvas moves as it does for most people: what is dragged or pressed comes to rest first.
test.use({ contextOptions: { reducedMotion: "no-preference" } });

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

/** What Publish makes of the canvas. */
async function savedGraph(page: Page, api: ApiClient, id: string, version: number) {
  await page.keyboard.press("Control+s");
  await expect(page.getByText(`Version ${version} published`)).toBeVisible();
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
  await page.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Undo" }).click();
  const back = await savedGraph(page, api, flow.id, 4);
  expect(back.links).toContain("Check.false>No");
  expect(back.at("No")).toEqual(moved.at("No"));

  await drag(page, node(page, "Output No"), { x: 0, y: 150 });
  await expect(page.getByText("No taken out of Each")).toBeAttached();
  const [target, lone] = [await node(page, "Output Yes").boundingBox(), await node(page, "Output No").boundingBox()];
  if (!target || !lone) throw new Error("a card is gone");
  await drag(page, node(page, "Output No"), { x: target.x + 4 - lone.x, y: target.y + target.height - 20 - lone.y });
  await expect(page.getByText("No put into Each")).toBeAttached();
  const inside = await savedGraph(page, api, flow.id, 5);
  expect(inside.links).toContain("Check.false>No");

  // The toolbar of the card under the pointer goes when the pointer does.
  const leave = () => page.mouse.move(4, 500).then(() => expect(page.getByRole("toolbar", { name: "Node actions" })).toBeHidden());
  // A card that is dragged about in its own frame takes the frame along, which makes way: one step.
  await leave();
  await drag(page, node(page, "Output Yes"), { x: 120, y: 0 });
  const wide = await savedGraph(page, api, flow.id, 6);
  expect([wide.links, ...["Yes", "All"].map((name) => wide.at(name).x > inside.at(name).x)]).toEqual([inside.links, true, true]);
  await page.getByRole("toolbar", { name: "Canvas" }).getByRole("button", { name: "Undo" }).click();
  expect((await savedGraph(page, api, flow.id, 7)).nodes).toEqual(inside.nodes);
  await leave();
  await page.getByRole("button", { name: "Collapse loop" }).click();
  await expect(node(page, "Branch Check")).toBeHidden();
  await expect(canvas(page).locator(".react-flow__edge")).toHaveCount(2);
  await node(page, "Loop Each").getByRole("button", { name: "Expand loop" }).click();
  await expect(node(page, "Branch Check")).toBeVisible();

  await test.step("with V one selects by dragging, and what is selected keeps to the grid when it is moved", async () => {
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
    const { at } = await savedGraph(page, api, flow.id, 8);
    expect(at("Start").y).toBeGreaterThan(0);
    expect([Math.abs(at("Start").x % 10), at("Start").y % 10]).toEqual([0, 0]);
  });
});

test("what is selected goes into a loop and out of it as one, and each frame shows what it would take or lose", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const flow = await workflow({
    nodes: [
      make("Start", "trigger", 0, 0, { kind: "manual", default_input: "[]" }),
      make("Each", "loop", 330, 0, { items_expression: "{{trigger.output}}" }),
      make("In", "output", 430, 80, { value: "x" }),
      make("First", "output", 430, 360, { value: "a" }),
      make("Second", "output", 760, 360, { value: "{{First.output}}" }),
    ],
    edges: [edge("Start", "Each"), edge("Each", "In", "body"), edge("Start", "First"), edge("First", "Second")],
  });
  await page.goto(`/workflows/${flow.id}`);
  const frame = node(page, "Loop Each");
  await node(page, "Output First").click();
  // The panel has come over its middle.
  await node(page, "Output Second").click({ modifiers: ["ControlOrMeta"], position: { x: 24, y: 12 } });
  /** Takes hold of First by its head and brings the pointer to this height of the frame, without letting go. */
  const takeTo = async (share: number) => {
    const [around, first] = [await frame.boundingBox(), await node(page, "Output First").boundingBox()];
    if (!around || !first) throw new Error("a card is gone");
    const [x, y] = [first.x + 40, first.y + 8];
    await page.mouse.move(x, y);
    await page.mouse.down();
    // A drag begins where the pointer is after its first few pixels.
    await page.mouse.move(x, y - 4);
    await page.mouse.move(x + 10, around.y + around.height * share, { steps: 6 });
  };
  // Second stays right of the frame.
  await takeTo(0.8);
  await expect(frame.getByText("Put into this loop")).toBeVisible();
  await page.mouse.up();
  await expect(page.getByText("Disconnected from Start")).toBeVisible();
  const inside = await savedGraph(page, api, flow.id, 2);
  expect(inside.links).toContain("First>Second");
  expect(inside.links).not.toContain("Start>First");

  await takeTo(-0.5);
  await expect(frame.getByText("Taken out of this loop")).toBeVisible();
  await page.mouse.up();
  await expect(frame.getByText("Taken out of this loop")).toBeHidden();
  await expect(canvas(page).getByLabel("Connection from First to Second")).toBeAttached();
  const undo = page
    .getByRole("listitem")
    .filter({ hasText: /Disconnected from (?!Start)/ })
    .getByRole("button", { name: "Undo" });
  await undo.click();
  await expect(page.getByText("Disconnected from")).toHaveCount(0);

  // From the panel: shown while it is over the frame, and not when it has left again.
  await page.getByRole("tab", { name: "Add" }).click();
  const around = await frame.boundingBox();
  if (!around) throw new Error("the frame is gone");
  await page
    .getByRole("complementary", { name: "Nodes and settings" })
    .getByRole("button", { name: /^Output/ })
    .hover();
  await page.mouse.down();
  /** What is entered is told that something is over it at the next move only. */
  const over = async (y: number) => {
    await page.mouse.move(around.x + 60, y, { steps: 5 });
    await page.mouse.move(around.x + 62, y);
  };
  await over(around.y + 40);
  await expect(frame.getByText("Put into this loop")).toBeVisible();
  await over(around.y - 40);
  await expect(frame.getByText("Put into this loop")).toBeHidden();
  await over(around.y + 60);
  await page.mouse.up();
  await expect(node(page, "Output")).toBeVisible();
  await expect(frame.getByText("Put into this loop")).toBeHidden();
  const added = await savedGraph(page, api, flow.id, 3);
  expect(added.links.filter((link) => inside.links.includes(link))).toEqual(inside.links);
  expect(added.links).toHaveLength(inside.links.length + 1);
});

test("the menu of a node and of a selection: disable, align, duplicate, delete with what is inside", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  workflow,
  executed,
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
  const run = await executed(flow);
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

test("a note is made larger by its corner and in its panel, one step each; the run panel takes no room before a run", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const remark = make("Remark", "note", 0, 260, { content: "# Read me\n\nWhat this is for." });
  const flow = await workflow({ nodes: [make("Start", "trigger", 0, 0, { kind: "manual" }), remark], edges: [] });
  await page.goto(`/workflows/${flow.id}`);
  const note = node(page, "Note Remark");
  await expect(note).toContainText("Read me");
  const run = page.getByRole("region", { name: "Run", exact: true });
  const heightOf = async (what: Locator) => (await what.boundingBox())?.height ?? 0;
  expect(await heightOf(run)).toBeLessThan(40);

  const before = await note.boundingBox();
  await note.hover();
  const corner = await note.locator(".react-flow__resize-control").boundingBox();
  if (!before || !corner) throw new Error("no corner to drag");
  expect(Math.min(corner.width, corner.height)).toBeGreaterThanOrEqual(24);
  await page.mouse.move(corner.x + 12, corner.y + 12);
  await page.mouse.down();
  await page.mouse.move(corner.x + 132, corner.y + 112, { steps: 8 });
  await page.mouse.up();
  await expect.poll(async () => (await note.boundingBox())?.width).toBeGreaterThan(before.width + 60);
  const dragged = (await savedGraph(page, api, flow.id, 2)).nodes.find(({ id }) => id === "Remark");
  expect(dragged).toMatchObject({ width: expect.any(Number), height: expect.any(Number), position: remark.position });
  expect([dragged?.width, dragged?.height].every(Number.isInteger)).toBe(true);

  await note.click({ position: { x: 12, y: 12 } });
  const panel = page.getByRole("complementary", { name: "Nodes and settings" });
  await expect(panel.getByLabel("Width", { exact: true })).toHaveValue(String(dragged?.width));
  await panel.getByLabel("Width", { exact: true }).fill("500");
  await panel.getByLabel("Height", { exact: true }).fill("5");
  await expect(panel.getByLabel("Height", { exact: true })).toHaveAttribute("aria-invalid", "true");
  await panel.getByLabel("Height", { exact: true }).fill("300");
  expect((await savedGraph(page, api, flow.id, 3)).nodes.find(({ id }) => id === "Remark")).toMatchObject({ width: 500, height: 300 });
  await panel.getByRole("button", { name: "As large as its text" }).click();
  await expect.poll(async () => (await note.boundingBox())?.width).toBe(before.width);
  for (let step = 0; step < 4; step++) await page.getByRole("button", { name: "Undo", exact: true }).click();
  await expect.poll(async () => (await note.boundingBox())?.width).toBe(before.width);
  expect((await savedGraph(page, api, flow.id, 4)).nodes.find(({ id }) => id === "Remark")).not.toHaveProperty("width");

  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(run).toContainText("Completed");
  expect(await heightOf(run)).toBeGreaterThan(150);
  // As it was left: open for a run that the address names, closed where there is none.
  await page.reload();
  await expect(run).toContainText("Completed");
  expect(await heightOf(run)).toBeGreaterThan(150);
  await page.goto(`/workflows/${flow.id}`);
  await expect(note).toBeVisible();
  expect(await heightOf(run)).toBeLessThan(40);
});
