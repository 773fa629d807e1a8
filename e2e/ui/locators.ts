import type { Locator, Page } from "@playwright/test";

// Where things are, by the names that stay fixed.

export const canvas = (page: Page) => page.getByRole("region", { name: "Workflow canvas" });
/** A node by its accessible name, e.g. "Agent Research". */
export const node = (page: Page, name: string) => canvas(page).getByRole("group", { name, exact: true });

/** Chooses from the menu of a row. */
export async function chooseOf(page: Page, row: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions of ${row}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** Drags something by a point near its upper left corner, in pixels. */
export async function drag(page: Page, what: Locator, by: { x: number; y: number }): Promise<void> {
  const box = await what.boundingBox();
  if (!box) throw new Error("nothing to drag");
  const from = { x: box.x + 40, y: box.y + 8 };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + by.x / 2, from.y + by.y / 2, { steps: 4 });
  await page.mouse.move(from.x + by.x, from.y + by.y, { steps: 4 });
  await page.mouse.up();
}

/** When the server has the draft that says this: one with what was written before may still be under way. */
export const keptDraft = (page: Page, words: string) =>
  page.waitForResponse(
    (answer) => answer.url().includes("workflows.saveDraft") && answer.ok() && answer.request().postData()?.includes(words) === true,
  );
