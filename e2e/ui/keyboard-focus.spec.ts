import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

const told = (page: Page) => canvas(page).locator("[data-announcer]");
const output = (id: string, x: number, y: number) => ({ id, type: "outputNode", position: { x, y }, data: { label: id } });
const isSelected = /(^| )selected( |$)/;

/** A trigger, a loop with a step in it, an agent that is not chosen yet, and a step far below the others. */
const graph = {
  nodes: [
    { id: "start", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } },
    { id: "each", type: "loopNode", position: { x: 300, y: 0 }, data: { label: "Each", items_expression: '["a"]' } },
    output("Inner", 400, 80),
    output("Done", 900, 0),
    { id: "ask", type: "agentNode", position: { x: 0, y: 300 }, data: { label: "Ask" } },
    output("Far", 0, 3000),
  ],
  edges: [
    { id: "e1", source: "start", target: "each" },
    { id: "e2", source: "each", target: "Inner", sourceHandle: "body" },
    { id: "e3", source: "each", target: "Done", sourceHandle: "done" },
    { id: "e4", source: "start", target: "ask" },
  ],
};

/** Where a node stands on the canvas; unlike its box, the same at every view. */
const placeOf = (found: Locator) => found.evaluate((element) => (element as HTMLElement).style.transform);
const isInSight = async (page: Page, found: Locator) => {
  const [box, view] = [await found.boundingBox(), await canvas(page).boundingBox()];
  if (!box || !view) return false;
  const isWide = box.x >= view.x && box.x + box.width <= view.x + view.width;
  return isWide && box.y >= view.y && box.y + box.height <= view.y + view.height - 48;
};

test("the keyboard goes on with what an edit made or brought back, comes to what is in view, and its focus is never lost", async ({
  signedInPage: page,
  agent,
  workflow,
}) => {
  await agent({ name: "Scout", model: "echo" });
  const flow = await workflow({ name: "Keys", ...graph });
  await page.goto(`/workflows/${flow.id}`);
  const done = node(page, "Output Done");
  const copy = node(page, "Output Done 2");
  await expect(done).toBeVisible();

  await test.step("the way to a field leads there at the first time too, while the side panel shows what can be added", async () => {
    await page
      .getByRole("button", { name: /^\d+ problems?(, \d+ warnings?)?$/ })
      .last()
      .focus();
    await page.keyboard.press("Enter");
    await page.getByRole("listitem").filter({ hasText: "Ask" }).getByRole("button", { name: "Go to fix" }).first().press("Enter");
    await expect(page.getByRole("complementary", { name: "Nodes and settings" }).getByRole("combobox", { name: "Agent" })).toBeFocused();
  });

  await test.step("a copy is what the next key acts on, at once and later", async () => {
    await done.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("ControlOrMeta+d");
    await expect(copy).toBeFocused();
    await expect(copy).toHaveClass(isSelected);
    const before = [await placeOf(done), await placeOf(copy)];
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => placeOf(copy)).not.toBe(before[1]);
    expect(await placeOf(done)).toBe(before[0]);
    await page.keyboard.press("Delete");
    await expect(told(page)).toContainText("Output Done 2 deleted");
    await expect(canvas(page)).toBeFocused();
    await done.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("ControlOrMeta+d");
    await page.keyboard.press("Delete");
    await expect(told(page)).toContainText("Output Done 2 deleted");
    await done.focus();
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Duplicate" }).press("Enter");
    await expect(copy).toBeFocused();
  });

  await test.step("back and forth, only what the step brought is selected; taken back, the focus is on the canvas", async () => {
    await page.keyboard.press("ControlOrMeta+z");
    await expect(copy).toBeHidden();
    await expect(canvas(page)).toBeFocused();
    await page.keyboard.press("ControlOrMeta+Shift+z");
    await expect(copy).toBeFocused();
    await expect(canvas(page).locator(".react-flow__node.selected")).toHaveCount(1);
    await page.keyboard.press("ControlOrMeta+z");
    await expect(copy).toBeHidden();
  });

  await test.step("text that stayed selected elsewhere is not what one copies on the canvas", async () => {
    const clipboard = () =>
      page.evaluate(() => {
        const data = new DataTransfer();
        const event = new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true });
        document.activeElement?.dispatchEvent(event);
        return data.getData("text/plain");
      });
    await done.focus();
    await page.keyboard.press("Enter");
    await page.evaluate(() => {
      const words = document.body.appendChild(document.createElement("p"));
      words.textContent = "some old words";
      words.style.userSelect = "text";
      getSelection()?.selectAllChildren(words);
    });
    await done.focus();
    expect(await page.evaluate(() => getSelection()?.toString())).toContain("some old words");
    const copied = await clipboard();
    expect(copied).toContain('"Done"');
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      document.activeElement?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, copied);
    await expect(copy).toBeFocused();
    await page.keyboard.press("Delete");
    await expect(told(page)).toContainText("Output Done 2 deleted");
    await expect(done).toBeVisible();
  });

  await test.step("a palette that is given up gives the focus back to the connection it was opened on, a name to its node", async () => {
    const edge = canvas(page).getByRole("group", { name: "Connection from Each (done) to Done" });
    await edge.focus();
    await page.keyboard.press("n");
    await expect(page.getByRole("combobox", { name: "Search nodes" })).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(edge).toBeFocused();
    const name = page.getByRole("textbox", { name: "Node name" });
    for (const last of ["Escape", "Enter"]) {
      await done.focus();
      await page.keyboard.press("F2");
      await expect(name).toBeFocused();
      if (last === "Enter") await page.keyboard.type(" more");
      await page.keyboard.press(last);
      await expect(node(page, last === "Enter" ? "Output Done more" : "Output Done")).toBeFocused();
    }
    await page.keyboard.press("ControlOrMeta+z");
    await expect(done).toBeFocused();
  });

  await test.step("from the bare canvas arrow keys move what is selected, as one step", async () => {
    await canvas(page).focus();
    await page.keyboard.press("ControlOrMeta+a");
    await expect(canvas(page)).toBeFocused();
    const all = ["Trigger Start", "Output Inner", "Output Done"].map((each) => node(page, each));
    const places = await Promise.all(all.map(placeOf));
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    for (const [index, each] of all.entries()) await expect.poll(() => placeOf(each)).not.toBe(places[index]);
    await page.keyboard.press("ControlOrMeta+z");
    for (const [index, each] of all.entries()) await expect.poll(() => placeOf(each)).toBe(places[index]);
  });

  await test.step("until the trigger there is nothing to run", async () => {
    await page.keyboard.press("Escape");
    const start = node(page, "Trigger Start");
    // The browser opens a menu where the node is: it must stand still, once the panel has given its room to the canvas.
    await expect(page.getByRole("complementary", { name: "Nodes and settings" })).toBeHidden();
    await start.click({ trial: true });
    await start.focus();
    await page.keyboard.press("Shift+F10");
    await expect(page.getByRole("menuitem", { name: "Connect to…" })).toBeVisible();
    await expect(page.getByRole("menuitem", { name: "Run until here" })).toBeHidden();
    await page.keyboard.press("Escape");
  });

  await test.step("what the keyboard comes to is brought into view, with its controls", async () => {
    await page.keyboard.press("Escape"); // nothing is selected: no panel takes room from the canvas
    await expect(page.getByRole("complementary", { name: "Nodes and settings" })).toBeHidden();
    const [start, far] = [node(page, "Trigger Start"), node(page, "Output Far")];
    await page.getByRole("button", { name: /^Zoom \d+ %, set to 100 %$/ }).click();
    await expect(page.getByRole("button", { name: "Zoom 100 %, set to 100 %" })).toBeVisible(); // the view has arrived
    await page.getByRole("button", { name: "Fit to screen" }).focus();
    // One key, so that the browser shows the focus as it does for a keyboard.
    await page.keyboard.press("Shift");
    await start.focus();
    await expect.poll(() => isInSight(page, start)).toBe(true);
    for (const found of [far, start, done]) {
      await found.focus();
      await expect.poll(() => isInSight(page, found)).toBe(true);
    }

    // Nearly out of sight is out of sight: a sliver of a card, and a button of a frame of which only the left is seen.
    const view = await canvas(page).boundingBox();
    if (!view) throw new Error("no canvas");
    const collapse = canvas(page).getByRole("button", { name: "Collapse loop" });
    const scrollTo = async (found: Locator, right: number) => {
      const away = async () => Math.round(((await found.boundingBox())?.x ?? 0) - (view.x + view.width - right));
      await page.mouse.move(view.x + view.width / 2, view.y + 20);
      await expect(async () => {
        // A wheel moves the canvas by half of what it says.
        await page.mouse.wheel(2 * (await away()), 0);
        await expect.poll(async () => Math.abs(await away()), { timeout: 500 }).toBeLessThan(2);
      }).toPass();
    };
    await scrollTo(done, 12);
    await page.keyboard.press("Shift");
    await page.getByRole("button", { name: "Fit to screen" }).focus();
    await done.focus();
    await expect.poll(() => isInSight(page, done)).toBe(true);
    await scrollTo(collapse, -40);
    await page.keyboard.press("Shift");
    await collapse.focus();
    await expect.poll(() => isInSight(page, collapse)).toBe(true);

    // Collapsed, the loop keeps the focus that its button had.
    await page.keyboard.press("Enter");
    await expect(node(page, "Loop Each")).toBeFocused();
  });

  await test.step("a dialog that a menu opens has the focus in its field, and gives it back to the menu's button", async () => {
    const button = page.getByRole("button", { name: /switch project/ });
    // At the first time the dialog is loaded, at the second it is there at once.
    for (const _ of [1, 2]) {
      await button.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "New project" }).focus();
      await page.keyboard.press("Enter");
      await expect(page.getByRole("dialog", { name: "New project" }).getByRole("textbox", { name: "Name" })).toBeFocused();
      await page.keyboard.press("Escape");
      await expect(button).toBeFocused();
    }
  });

  await test.step("whoever goes on in a field the moment something over the page closes stays in it", async () => {
    const name = page.getByLabel("Workflow name"); // also behind what lies over the page
    await canvas(page).focus();
    await page.keyboard.press("ControlOrMeta+z");
    await node(page, "Trigger Start").click();
    const start = page.getByRole("complementary", { name: "Nodes and settings" }).getByRole("combobox").first();
    const surfaces: [role: "dialog" | "menu" | "listbox", open: () => Promise<void>][] = [
      [
        "dialog",
        () =>
          page
            .getByRole("button", { name: /^\d+ problems?(, \d+ warnings?)?$/ })
            .last()
            .press("Enter"),
      ],
      ["menu", () => page.getByRole("button", { name: "More", exact: true }).press("Enter")],
      ["listbox", () => start.press("Enter")],
      ["dialog", () => page.keyboard.press("ControlOrMeta+k")],
    ];
    for (const [role, open] of surfaces) {
      await canvas(page).focus();
      await open();
      await expect(page.getByRole(role).last()).toBeVisible();
      const watched = await name.evaluateHandle((field, surface) => {
        const { promise: isThere, resolve } = Promise.withResolvers<boolean>();
        new MutationObserver((_, watch) => {
          if (document.querySelector(surface)) return;
          watch.disconnect();
          field.focus();
          // What gives the focus back does it in a task of its own, which is before these.
          setTimeout(() => setTimeout(() => resolve(document.activeElement === field)));
        }).observe(document.body, { childList: true, subtree: true });
        return { isThere };
      }, `[role=${role}]`);
      await page.keyboard.press("Escape");
      expect(await watched.evaluate(({ isThere }) => isThere), role).toBe(true);
    }
  });
});
