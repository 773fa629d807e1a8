import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

const SIZE = 132;
const COLUMNS = 12;
const STEP = { x: 330, y: 220 };

const place = (index: number) => ({ x: (index % COLUMNS) * STEP.x, y: Math.floor(index / COLUMNS) * STEP.y });
const nodes = Array.from({ length: SIZE }, (_, index) => ({
  ...{ id: `n${index}`, position: place(index) },
  ...(index === 0
    ? { type: "triggerNode", data: { label: "Start", kind: "manual", default_input: "tea" } }
    : { type: "outputNode", data: { label: `Part ${index}`, value: `words ${index}` } }),
}));
const edges = nodes.slice(2).map(({ id }, index) => ({ id: `e${index + 2}`, source: `n${index + 1}`, target: id }));

test("a large workflow: cards out of sight are drawn in part, and what begins after a move finds the view where it is", async ({
  signedInPage: page,
  api,
}) => {
  const graph = { nodes, edges: [{ id: "e1", source: "n0", target: "n1" }, ...edges.slice(0, -1)] };
  const { id } = (await api.post("/workflows", { name: `Large ${Date.now()}`, ...graph }, { schema: Workflow, status: 201 })).body;
  await page.goto(`/workflows/${id}`);

  // From far every card is there by name, and none in full.
  await expect(node(page, "Trigger Start")).toBeInViewport();
  await page.getByRole("button", { name: "Fit to screen" }).click();
  await expect(node(page, "Output Part 131")).toBeInViewport();
  await expect(canvas(page).getByText("words 1", { exact: true })).toHaveCount(0);

  await canvas(page)
    .getByRole("button", { name: /^Zoom \d+ %/ })
    .click();
  await expect(canvas(page).getByRole("button", { name: /^Zoom 100 %/ })).toBeVisible();
  const [shown, hidden] = [node(page, "Output Part 66"), node(page, "Output Part 131")];
  await expect(shown).toContainText("words 66");
  await expect(hidden).not.toBeInViewport();
  await expect(hidden).toBeAttached();
  await expect(hidden).not.toContainText("words 131");

  // By the wheel to the last card, which is whole when it is seen.
  const box = await canvas(page).boundingBox();
  if (!box) throw new Error("The canvas is not there.");
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  await expect(async () => {
    const at = await hidden.boundingBox();
    if (!at) throw new Error("The card is not there.");
    // The wheel moves the view by half of what it turns.
    await page.mouse.wheel((at.x + 125 - middle.x) * 2, (at.y + 80 - middle.y) * 2);
    await expect(hidden).toBeInViewport({ ratio: 1, timeout: 500 });
  }).toPass();
  await expect(hidden).toContainText("words 131");

  // A card that is taken hold of while the view still moves stays under the pointer.
  const before = await hidden.boundingBox();
  if (!before) throw new Error("The card is not there.");
  await page.mouse.wheel(80, 0);
  const start = { x: before.x - 40 + 60, y: before.y + 20 };
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + 30, start.y + 60, { steps: 5 });
  await page.mouse.wheel(0, 40);
  await page.mouse.move(start.x + 40, start.y + 80, { steps: 5 });
  await page.mouse.up();
  const after = await hidden.boundingBox();
  expect(Math.abs((after?.x ?? 0) - (before.x - 40 + 40))).toBeLessThan(12);
  expect(Math.abs((after?.y ?? 0) - (before.y + 80))).toBeLessThan(12);

  // A click right behind the wheel meets what is under the pointer.
  await page.mouse.click(middle.x, middle.y);
  await page.mouse.move(start.x + 40, start.y + 80);
  await page.mouse.wheel(0, 20);
  await page.mouse.click(start.x + 40, start.y + 70);
  await expect(hidden).toHaveClass(/selected/);

  // Its port is there, where it belongs: the card before it is connected by hand.
  const from = node(page, "Output Part 130").locator(".react-flow__handle-right");
  await from.dragTo(hidden.locator(".react-flow__handle-left"));
  await expect(page.getByRole("group", { name: "Connection from Part 130 to Part 131" })).toBeAttached();
});
