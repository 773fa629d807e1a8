import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { UpdatedAgent } from "#server/features/agents/schema.ts";
import { UpdatedWorkflow } from "#server/features/workflows/schema.ts";

const header = (page: Page) => page.locator("header").filter({ has: page.getByRole("tablist", { name: "Views" }) });
const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const middleOf = async (page: Page, name: string) => {
  const box = await node(page, name).boundingBox();
  if (!box) throw new Error(`${name} is not there`);
  return { x: box.x + box.width / 2, y: box.y + 14 };
};
/** The window is come back to, as far as a page can tell. */
const comeBack = (page: Page) =>
  page.evaluate(() => {
    dispatchEvent(new Event("visibilitychange"));
    dispatchEvent(new Event("focus"));
  });

test("the editor shows what is so: unknown names, states in the minimap, changed agents, what others saved, the whole in a new width", async ({
  signedInPage: page,
  agent,
  workflow,
  api,
}) => {
  const { id } = await agent({ name: "Echo", model: "echo" });
  const graph = graphOf(
    {
      t: ["trigger", { label: "Start", default_input: "tea" }],
      A: ["agent", { agent_id: id }],
      o: ["output", { value: "{{A.output}} {{Elsewhere.output}}" }],
    },
    ["t>A", "A>o"],
  );
  const flow = await workflow(graph);
  await page.goto(`/workflows/${flow.id}`);

  // An expression that names nothing is marked on the card, with the reason.
  const wrong = node(page, "Output o").getByTitle("{{Elsewhere.output}} names nothing in this workflow.");
  await expect(wrong).toHaveText("Elsewhere.output");
  await expect(node(page, "Output o").locator("[title]")).toHaveCount(1);

  // Nothing is offered on a connection while something is drawn or dragged across it.
  const [start, end] = [await middleOf(page, "Trigger Start"), await middleOf(page, "Agent A")];
  const between = { x: (start.x + end.x) / 2, y: start.y + 6 };
  const insert = page.getByRole("button", { name: "Insert a node here" });
  await node(page, "Agent A").locator(".react-flow__handle-right").hover();
  await page.mouse.down();
  await page.mouse.move(between.x, between.y - 60, { steps: 3 });
  await page.mouse.move(between.x, between.y + 30, { steps: 30 });
  await expect(insert).toHaveCount(0);
  await page.mouse.move(end.x, end.y, { steps: 3 });
  await page.mouse.up();
  await page.mouse.move(between.x, between.y - 60);
  await page.mouse.move(between.x, between.y + 30, { steps: 30 });
  await page.mouse.move(between.x, between.y, { steps: 10 });
  await expect(insert).toHaveCount(1);

  // In a window that becomes narrow and wide again, the whole is in view as it was: as wide as it was first, when the name of the
  // agent had not made its card higher yet, and from then on the very same.
  const view = () =>
    canvas(page)
      .locator(".react-flow__viewport")
      .evaluate((layer) => layer.style.transform);
  const width = async () => (await view()).replace(/, .*\) /, ") ");
  const narrowAndWide = async (seen: () => Promise<string>) => {
    const first = await seen();
    await page.setViewportSize({ width: 700, height: 900 });
    await expect.poll(seen).not.toBe(first);
    await expect(node(page, "Output o")).toBeInViewport({ ratio: 0.9 });
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect.poll(seen).toBe(first);
  };
  // Nothing is selected, so no panel takes room from the canvas.
  await page.mouse.click(between.x, between.y - 200);
  await expect(panel(page)).toBeHidden();
  await narrowAndWide(width);
  await narrowAndWide(view);

  // Beside the assistant the whole workflow is still in view, and as it was once that is closed.
  const last = node(page, "Output o");
  const [first, place] = [await view(), await last.boundingBox()];
  await page.keyboard.press("Control+j");
  const assistant = page.getByRole("complementary", { name: "Assistant" });
  /** How far a card that stands there goes under the assistant. */
  const under = async (card: typeof place) => {
    const panel = await assistant.boundingBox();
    return card && panel ? card.x + card.width - panel.x : Number.NaN;
  };
  await expect.poll(async () => under(await last.boundingBox())).toBeLessThan(0);
  expect(await under(place)).toBeGreaterThan(0);
  await page.keyboard.press("Control+j");
  await expect.poll(view).toBe(first);

  await node(page, "Output o").click();
  await panel(page).getByRole("textbox", { name: "Value", exact: true }).fill("{{A.output}}");
  await expect(wrong).toHaveCount(0);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Start run" }).click();
  const mapped = canvas(page).locator(".react-flow__minimap-node");
  await expect(mapped.and(page.locator("[data-status=complete]"))).toHaveCount(3);

  // Who has moved the view keeps it.
  const fitted = await view();
  await page.mouse.move(between.x, between.y - 100);
  await page.mouse.wheel(0, 60);
  await expect.poll(view).not.toBe(fitted);
  const moved = await view();
  await page.setViewportSize({ width: 800, height: 900 });
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
  expect(await view()).toBe(moved);

  // What the agent answered before it was changed is out of date.
  await expect(node(page, "Agent A")).not.toHaveAccessibleDescription(/Out of date/);
  await api.put(`/agents/${id}`, { system_prompt: "Be brief." }, { schema: UpdatedAgent });
  await comeBack(page);
  await expect(node(page, "Agent A")).toHaveAccessibleDescription(/Out of date: Its agent was changed after this run/);
  await expect(node(page, "Output o")).toHaveAccessibleDescription(/Out of date: “A” before it changed/);

  // Somebody else's work is told where "Saved" stood, looked at, and taken over.
  await expect(header(page)).toContainText("Saved");
  const theirs = { ...graph, nodes: graph.nodes.map((one) => (one.id === "o" ? { ...one, data: { ...one.data, value: "theirs" } } : one)) };
  await api.put(`/workflows/${flow.id}`, theirs, { schema: UpdatedWorkflow });
  await comeBack(page);
  await header(page).getByText("Changed in another tab").waitFor();
  await header(page).getByRole("button", { name: "Show what was changed" }).click();
  const comparison = page.getByRole("region", { name: "Comparison" });
  await expect(comparison).toContainText("By you: nothing · by them: 1 changed");
  await comparison.getByRole("button", { name: "Load theirs" }).click();
  await expect(node(page, "Output o")).toContainText("theirs");
  await expect(header(page)).not.toContainText("Changed in another tab");

  // On a phone a toast stands above the bar at the foot.
  await page.setViewportSize({ width: 390, height: 844 });
  await node(page, "Output o").focus();
  await page.keyboard.press("d");
  await page.keyboard.press("Control+s");
  await page.getByText("Version 3 published").waitFor();
  const bar = page.getByRole("toolbar", { name: "Canvas" });
  const above = async () => {
    const [toast, foot] = [await page.locator("[data-sonner-toast]").boundingBox(), await bar.boundingBox()];
    return toast && foot ? foot.y - (toast.y + toast.height) : Number.NaN;
  };
  await expect.poll(above).toBeGreaterThan(0);
});

test("a window that is wide again before its canvas was measured shows the whole as it was", async ({ signedInPage, workflow }) => {
  const nodes = Object.fromEntries(Array.from({ length: 4 }, (_, at) => [`n${at}`, ["output"] as [string]]));
  const flow = await workflow(graphOf({ t: ["trigger"], ...nodes }, ["t>n0", "n0>n1", "n1>n2", "n2>n3"]));
  const page = await signedInPage.context().newPage(); // it is told of its size late: no page for the test after this one
  await page.addInitScript((late) => {
    window.ResizeObserver = class extends ResizeObserver {
      constructor(tell: ResizeObserverCallback) {
        super((entries, observer) => setTimeout(() => tell(entries, observer), late));
      }
    };
    const listen = window.addEventListener.bind(window);
    window.addEventListener = (type: string, tell: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions) =>
      listen(type, type === "resize" && typeof tell === "function" ? (event) => setTimeout(tell, late, event) : tell, options);
  }, 400);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output n3")).toBeInViewport({ ratio: 0.9 });
  const view = canvas(page).locator(".react-flow__viewport");
  const first = await view.evaluate((layer) => layer.style.transform);
  await page.setViewportSize({ width: 700, height: 900 });
  // In the very frame: the end of a move is told a moment after it.
  await view.evaluate((layer, before) => {
    const isFitted = (resolve: () => void) =>
      requestAnimationFrame(() => (layer.style.transform === before ? isFitted(resolve) : resolve()));
    return new Promise<void>(isFitted);
  }, first);
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect.poll(() => view.evaluate((layer) => layer.style.transform)).toBe(first);
});
