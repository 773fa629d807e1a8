import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

// What the editor is not drawn with is loaded when it is first asked for: what was asked for before it is there happens when it is.

const CHUNKS = "**/_next/static/chunks/**";

/** Opens the page, and holds back every further script until `release`. */
async function openHeld(page: Page, path: string): Promise<{ release: () => void; held: () => number }> {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  // While requests pass through a test, the browser takes nothing out of its cache.
  await page.unroute(CHUNKS);
  await page.goto(path);
  await expect(node(page, "Output Result")).toBeVisible();
  await page.route(CHUNKS, async (route) => {
    held += 1;
    await gate.promise;
    await route.continue();
  });
  return { release: gate.resolve, held: () => held };
}

const graph = graphOf(
  { Start: ["trigger", { kind: "manual", default_input: "tea" }], Result: ["output", { value: "{{trigger.output}}" }], Other: ["output"] },
  ["Start>Result", "Result>Other"],
);

test("a menu opens where it was asked for, and keys pressed meanwhile are not the canvas's", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ name: "Menu", ...graph });
  const editor = await openHeld(page, `/workflows/${flow.id}`);
  await node(page, "Output Result").click({ button: "right", position: { x: 30, y: 20 } });
  const card = await node(page, "Output Result").boundingBox();
  await expect.poll(editor.held).toBeGreaterThan(0);
  await page.keyboard.press("d");
  await page.keyboard.press("Delete");
  editor.release();
  const menu = page.getByRole("menu", { name: "Node actions" });
  await expect(menu).toBeVisible();
  const box = await menu.boundingBox();
  expect(Math.abs((box?.x ?? 0) - (card?.x ?? 0) - 30)).toBeLessThan(40);
  await expect(menu.getByRole("menuitem", { name: "Disable" })).toBeVisible();
});

test("what is typed into a search that was just asked for is searched", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ name: "Search", ...graph });
  await openHeld(page, `/workflows/${flow.id}`);
  await page.keyboard.press("Control+f");
  await page.keyboard.type("dres");
  await expect(page.getByRole("textbox", { name: "Search in canvas" })).toHaveValue("dres");
  await expect(node(page, "Output Result")).not.toHaveAccessibleDescription(/Disabled/i);
  await page.getByRole("textbox", { name: "Search in canvas" }).fill("resu");
  await expect(canvas(page).getByRole("status").filter({ hasText: "1 found" })).toBeVisible();
});

test("a name that is to be changed, a save and a run wait for their parts", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ name: "Rename", ...graph });
  const editor = await openHeld(page, `/workflows/${flow.id}`);
  await node(page, "Output Result").focus();
  await page.keyboard.press("F2");
  await expect.poll(editor.held).toBeGreaterThan(0);
  editor.release();
  const name = page.getByRole("textbox", { name: "Node name" });
  await expect(name).toBeFocused();

  const again = await openHeld(page, `/workflows/${flow.id}`);
  await node(page, "Output Other").focus();
  await page.keyboard.press("d");
  await page.keyboard.press("Control+s");
  await expect(page.getByRole("button", { name: "Publish", exact: true })).toHaveText("Published");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("dialog", { name: "Run workflow" })).toBeVisible();
  again.release();
  await expect(page.getByText("Version 2 published")).toBeVisible();
  await expect(page.getByRole("dialog", { name: "Run workflow" }).getByRole("textbox")).toBeFocused();
});

test("a part that does not come says so, and is there after another try; the page goes on", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ name: "Offline", ...graph });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Output Result")).toBeVisible();
  await page.route("**/_next/static/chunks/**", (route) => route.abort("internetdisconnected"));
  await node(page, "Output Result").click({ button: "right", position: { x: 30, y: 20 } });
  const notice = page.getByRole("alert").filter({ hasText: "could not be loaded" });
  await expect(notice).toBeVisible();
  await expect(node(page, "Output Result")).toBeVisible();
  await notice.getByRole("button", { name: "Try again" }).click({ trial: true }); // a pointer reaches it
  await page.unroute("**/_next/static/chunks/**");
  // Another part may be found missing a moment later, and asks for itself.
  const menu = page.getByRole("menu", { name: "Node actions" });
  const tryAgain = async () => {
    // Not by the pointer: what fetches scripts tries again by itself too, and a press beside a menu that has just come would close it.
    for (const button of await notice.getByRole("button", { name: "Try again" }).all()) await button.dispatchEvent("click");
  };
  await expect(async () => {
    await tryAgain();
    await expect(menu).toBeVisible({ timeout: 1000 });
  }).toPass({ timeout: 15_000 });
  await page.keyboard.press("Escape");
  await expect(async () => {
    await tryAgain();
    await expect(notice).toBeHidden({ timeout: 1000 });
  }).toPass({ timeout: 15_000 });
});
