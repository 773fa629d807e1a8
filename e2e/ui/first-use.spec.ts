import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

// What the editor is not drawn with is loaded when it is first asked for: what was asked for before it is there happens when it is.

const CHUNKS = "**/_next/static/chunks/**";

/** Holds back every further script of a page that is open, until `release`. */
async function holdScripts(page: Page): Promise<{ release: () => Promise<void>; held: () => number }> {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  await page.route(CHUNKS, async (route) => {
    held += 1;
    await gate.promise;
    await route.continue();
  });
  return {
    held: () => held,
    // While requests pass through a test, the browser takes nothing out of its cache.
    async release() {
      gate.resolve();
      await page.unrouteAll({ behavior: "wait" });
    },
  };
}

const graph = graphOf(
  { Start: ["trigger", { kind: "manual", default_input: "tea" }], Result: ["output", { value: "{{trigger.output}}" }], Other: ["output"] },
  ["Start>Result", "Result>Other"],
);

test("keys that are pressed while a search or a menu is on its way are not the canvas's", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ name: "Keys", ...graph });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output Result")).toBeVisible();

  await test.step("what is typed into a search that was just asked for is searched", async () => {
    const editor = await holdScripts(page);
    await page.keyboard.press("Control+f");
    const search = page.getByRole("textbox", { name: "Search in canvas" });
    await page.keyboard.type("dres");
    await expect(search).toHaveValue("dres");
    await expect(node(page, "Output Result")).not.toHaveAccessibleDescription(/Disabled/i);
    await search.fill("resu");
    await expect(canvas(page).getByRole("status").filter({ hasText: "1 found" })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(search).toBeHidden();
    await editor.release();
  });

  await test.step("a menu opens where it was asked for", async () => {
    const editor = await holdScripts(page);
    await node(page, "Output Result").click({ button: "right", position: { x: 30, y: 20 } });
    const card = await node(page, "Output Result").boundingBox();
    await expect.poll(editor.held).toBeGreaterThan(0);
    await page.keyboard.press("d");
    await page.keyboard.press("Delete");
    await editor.release();
    const menu = page.getByRole("menu", { name: "Node actions" });
    await expect(menu).toBeVisible();
    const box = await menu.boundingBox();
    expect(Math.abs((box?.x ?? 0) - (card?.x ?? 0) - 30)).toBeLessThan(40);
    await expect(menu.getByRole("menuitem", { name: "Disable" })).toBeVisible();
  });
});

test("a name that is to be changed, a save and a run wait for their parts", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ name: "Rename", ...graph });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output Result")).toBeVisible();

  await test.step("a name that is to be changed waits for its field", async () => {
    const editor = await holdScripts(page);
    await node(page, "Output Result").focus();
    await page.keyboard.press("F2");
    await expect.poll(editor.held).toBeGreaterThan(0);
    await editor.release();
    await expect(page.getByRole("textbox", { name: "Node name" })).toBeFocused();
  });

  await test.step("a save and a run wait for their parts", async () => {
    const editor = await holdScripts(page);
    await node(page, "Output Other").focus();
    await page.keyboard.press("d");
    await page.keyboard.press("Control+s");
    await expect(page.getByRole("button", { name: "Publish", exact: true })).toHaveText("Published");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("dialog", { name: "Run workflow" })).toBeVisible();
    await expect.poll(editor.held).toBeGreaterThan(0);
    await editor.release();
    await expect(page.getByText("Version 2 published")).toBeVisible();
    await expect(page.getByRole("dialog", { name: "Run workflow" }).getByRole("textbox")).toBeFocused();
  });
});

test("a part that does not come says so, and is there after another try; the page goes on", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ name: "Offline", ...graph });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output Result")).toBeVisible();
  const notice = page.getByRole("alert").filter({ hasText: "could not be loaded" });
  await page.route(CHUNKS, (route) => route.abort("internetdisconnected"));
  await node(page, "Output Result").click({ button: "right", position: { x: 30, y: 20 } });
  await expect(notice).toBeVisible();
  await expect(node(page, "Output Result")).toBeVisible();
  await notice.getByRole("button", { name: "Try again" }).click({ trial: true }); // a pointer reaches it
  await page.unroute(CHUNKS);
  // Another part may be found missing a moment later, and asks for itself.
  const menu = page.getByRole("menu", { name: "Node actions" });
  // Not by the pointer, which would close a menu that has just opened, and not an action that waits for a button: what fetches scripts
  // tries again by itself too, and the button may be gone.
  const tryAgain = () =>
    notice.getByRole("button", { name: "Try again" }).evaluateAll((buttons: HTMLElement[]) => {
      for (const button of buttons) button.click();
    });
  await expect(async () => {
    await tryAgain();
    await expect(menu).toBeVisible({ timeout: 1000 });
  }).toPass({ timeout: 15_000 });
  await page.keyboard.press("Escape");
  await expect(async () => {
    await tryAgain();
    await expect(notice).toBeHidden({ timeout: 1000 });
  }).toPass({ timeout: 15_000 });

  // Where the part stands in a dialog that has been moved into its place, the notice is in sight all the same.
  await node(page, "Output Other").focus();
  await page.keyboard.press("d");
  await page.route(CHUNKS, (route) => route.abort("internetdisconnected"));
  await page.getByRole("button", { name: "What would be published" }).click();
  await expect(notice).toBeInViewport({ ratio: 1 });
});
