import type { Locator, Page } from "@playwright/test";
import { graphOf, manyKinds } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

const side = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const told = (page: Page) => canvas(page).locator("[data-announcer]");
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };

/** Looks for faults by axe, in both themes. */
const examiner = (page: Page, faults: string[]) => async (state: string, within?: string) => {
  for (const fault of await axeFaultsInBothThemes(page, within)) faults.push(`${state}, ${fault}`);
};

test("no state of the editor has a fault by axe, in neither theme", async ({ signedInPage: page, agent, workflow }) => {
  test.setTimeout(240_000); // some twenty states are examined, each in two themes
  const faults: string[] = [];
  const examine = examiner(page, faults);
  const { id } = await agent({ name: "Scout", model: "echo" });
  const flow = await workflow({ name: "Everything", ...manyKinds(id) });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent Ask")).toBeVisible();
  await examine("filled");
  // Other types are examined where they are filled in: nodes.spec.ts, node-fields.spec.ts.
  for (const name of [
    "Trigger Start",
    "Agent Ask",
    "Branch Enough",
    "Loop Each",
    "Review Approve",
    "Output Result",
    "Terminate Stop",
    "Note Remark",
  ]) {
    await node(page, name).focus();
    await page.keyboard.press("Enter");
    await expect(side(page).getByRole("textbox", { name: "Node name" })).toHaveValue(name.split(" ")[1] ?? "");
    await examine(`panel of ${name}`, "aside[aria-label='Nodes and settings']");
  }

  // Of each kind one is examined with the page behind it: the same list, dialog or popover with other words is examined by itself.
  const dialog = "[role=dialog]";
  const surfaces: [state: string, open: () => Promise<void>, shown: Locator, within?: string][] = [
    ["palette", () => page.keyboard.press("n"), page.getByRole("dialog", { name: "Add node" })],
    ["connect picker", () => page.keyboard.press("c"), page.getByRole("dialog", { name: "Connect Ask to" }), dialog],
    ["node menu", () => page.keyboard.press("Shift+F10"), page.getByRole("menu")],
    ["search", () => page.keyboard.press("Control+f"), page.getByRole("textbox", { name: "Search in canvas" }), "search"],
    ["shortcuts", () => page.keyboard.press("?"), page.getByRole("dialog", { name: "Keyboard shortcuts" })],
    [
      "problems",
      () =>
        canvas(page)
          .getByRole("button", { name: /problem/i })
          .last()
          .click(),
      page.getByRole("dialog", { name: "Problems" }),
    ],
    ["run form", () => page.keyboard.press("Control+Enter"), page.getByRole("dialog", { name: "Run workflow" }), dialog],
  ];
  for (const [state, open, shown, within] of surfaces) {
    await node(page, "Agent Ask").focus();
    await page.keyboard.press("Enter");
    await open();
    await expect(shown.first()).toBeVisible();
    if (state === "search") await page.keyboard.type("ask");
    await examine(state, within);
    await page.keyboard.press("Escape");
    await expect(shown.first()).toBeHidden();
    // The keyboard goes on where it was.
    await expect.poll(() => page.evaluate(() => document.activeElement !== document.body), `focus after ${state}`).toBe(true);
  }
  await page.getByRole("button", { name: "Outline", exact: true }).click();
  await expect(page.getByRole("treeitem", { name: "Agent Ask" })).toBeVisible();
  await examine("outline", "aside[aria-label='Nodes and settings']");

  await page.setViewportSize(PHONE);
  await expect(page.getByRole("button", { name: "Close the panel" })).toBeVisible();
  await examine("outline on a phone");
  await page.getByRole("button", { name: "Close the panel" }).click();
  await examine("phone");
  expect(faults).toEqual([]);
});

test("no state of a run has a fault by axe, and each is told", async ({ signedInPage: page, agent, workflow, modelServer }) => {
  test.setTimeout(180_000); // five states, each in two themes
  const faults: string[] = [];
  const examine = examiner(page, faults);
  const gate = crypto.randomUUID();
  const held = await agent({ name: "Held", model: `gate-${gate}` });
  const flow = await workflow({
    name: "Run",
    ...graphOf(
      {
        Start: ["trigger", { kind: "manual", default_input: gate }],
        Ask: ["agent", { agent_id: held.id }],
        Enough: ["branch", { condition: "True" }],
        Approve: ["humanLoop", { title: "Good?", display_value: "{{Ask.output}}" }],
        Other: ["output"],
        Result: ["output"],
      },
      ["Start>Ask", "Ask>Enough", "Enough.true>Approve", "Enough.false>Other", "Approve.approved>Result"],
    ),
  });
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Start run" }).click();
  await expect(told(page)).toContainText("Run started");
  await expect(node(page, "Agent Ask")).toHaveAccessibleDescription(/Running/);
  await examine("running");
  await modelServer.release(gate);
  await expect(node(page, "Review Approve")).toHaveAccessibleDescription(/Waiting/);
  await expect(node(page, "Output Other")).toHaveAccessibleDescription(/Skipped/);
  await expect(page.getByRole("button", { name: "Approve", exact: true }).first()).toBeVisible();
  await examine("waiting and skipped");
  // A phone is enough to decide.
  await page.setViewportSize(PHONE);
  const approve = page.getByRole("region", { name: "Run", exact: true }).getByRole("button", { name: "Approve", exact: true });
  await approve.scrollIntoViewIfNeeded();
  await examine("waiting on a phone");
  await approve.click();
  await expect(node(page, "Output Result")).toHaveAccessibleDescription(/Complete/);
  await expect(told(page)).toContainText("Run completed");
  await examine("complete on a phone");
  await page.setViewportSize(DESK);
  await examine("complete");
  expect(faults).toEqual([]);
});

test("the canvas is worked by keyboard alone: found, moved, inserted into, connected, deleted", { tag: "@main" }, async ({
  signedInPage: page,
  agent,
  workflow,
}) => {
  const { id: agent_id } = await agent({ name: "Scout", model: "echo" });
  const graph = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Research: ["agent", { agent_id, input: "Find sources about {{trigger.output}}" }],
      Write: ["agent", { agent_id, input: "Use {{Research.output}}" }],
      Result: ["output"],
    },
    ["Start>Research", "Research>Write", "Write>Result"],
  );
  const flow = await workflow({ name: "Report", ...graph });
  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent Research")).toBeVisible(); // before it is measured it takes no focus
  await node(page, "Agent Research").focus();

  // Searching: by the words of a prompt, with Enter from one to the next, and Esc back into the canvas.
  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Search in canvas" }).fill("research");
  await expect(canvas(page).getByRole("status").filter({ hasText: "2 found" })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(canvas(page).getByRole("status").filter({ hasText: "1 of 2" })).toBeVisible();
  await page.keyboard.press("Shift+Enter");
  await expect(page.getByText("Input: Use {{Research.output}}")).toBeVisible();
  await expect(node(page, "Agent Write")).toHaveClass(/selected/);
  await page.keyboard.press("Escape");
  await expect(node(page, "Agent Write")).toBeFocused();

  // A burst of arrow keys is one step of undo.
  const place = () => node(page, "Agent Write").evaluate((element) => (element as HTMLElement).style.transform);
  const before = await place();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect.poll(place).not.toBe(before);
  await page.keyboard.press("Control+z");
  await expect.poll(place).toBe(before);
  await expect(told(page)).toContainText("Undone: move Agent Write");

  // Into a connection, and a connection away.
  const edge = canvas(page).getByRole("group", { name: "Connection from Research to Write" });
  await edge.focus();
  await page.keyboard.press("n");
  await page.getByRole("combobox", { name: "Search nodes" }).fill("review");
  await page.keyboard.press("Enter");
  await expect(canvas(page).getByRole("group", { name: "Connection from Research to Review" })).toBeAttached();
  await expect(node(page, "Review")).toBeFocused();
  await canvas(page).getByRole("group", { name: "Connection from Write to Result" }).focus();
  await page.keyboard.press("Delete");
  await expect(told(page)).toContainText("connection deleted");
  await node(page, "Agent Write").focus();
  await page.keyboard.press("c");
  await page.getByRole("combobox", { name: "Connect Write to…" }).fill("Result");
  await page.keyboard.press("Enter");
  await expect(told(page)).toContainText("Agent Write connected to Output Result");
  await expect(node(page, "Agent Write")).toBeFocused();
  await page.keyboard.press("Delete");
  await expect(told(page)).toContainText("Agent Write deleted");
  await expect(canvas(page)).toBeFocused();

  // Keys of one character can be switched off.
  await page.keyboard.press("?");
  await page.getByRole("switch", { name: "Single-key shortcuts" }).click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await expect(page.getByRole("dialog", { name: "Add node" })).toBeHidden();
  await page.keyboard.press("Control+z");
  await expect(node(page, "Agent Write")).toBeVisible();
});
