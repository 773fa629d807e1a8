import { axeFaults } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";

const trigger = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } };
const far = { id: "o", type: "outputNode", position: { x: 2200, y: 0 }, data: { label: "Far", value: "x" } };
const remark = { id: "r", type: "noteNode", position: { x: 0, y: 260 }, data: { label: "Remark", content: "# Read me" } };

test("a note is written where it stands, as one step of undo; a new one opens for it at once", async ({ signedInPage: page, workflow }) => {
  const flow = await workflow({ nodes: [trigger, remark, far], edges: [] });
  await page.goto(`/workflows/${flow.id}`);
  const note = node(page, "Note Remark");
  await expect(note).toContainText("Read me");
  await page.getByRole("button", { name: "Fit to screen" }).click();
  const text = note.getByRole("textbox", { name: "Text of Remark" });
  await note.dblclick({ position: { x: 20, y: 8 } });
  await expect(text).toBeFocused();
  // From far nobody could read what is written: the note comes near.
  await expect.poll(async () => (await text.boundingBox())?.width).toBeGreaterThan(250);
  await page.keyboard.type("\nMore", { delay: 5 });
  await page.keyboard.press("ControlOrMeta+z");
  await expect(text).not.toHaveValue(/More/);
  await text.fill("Rewritten");
  await page.keyboard.type(" by hand");
  expect(await axeFaults(page, "[data-id=r]")).toEqual([]); // the rest is looked at elsewhere
  await page.keyboard.press("Escape");
  await expect(note).toBeFocused();
  await expect(note).toHaveText("Rewritten by hand");
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(note).toContainText("Read me");
  await note.focus();
  await page.keyboard.press("F2");
  await expect(text).toBeFocused();
  await page.getByRole("button", { name: "Add node" }).click();
  await page.getByRole("option", { name: /^Note/ }).click();
  const fresh = node(page, "Note");
  await expect(fresh.getByRole("textbox")).toBeFocused();
  await page.keyboard.type("Just here");
  await page.getByRole("button", { name: "Fit to screen" }).click();
  await expect(fresh).toHaveText("Just here");
});
