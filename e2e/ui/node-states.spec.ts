import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

const told = (page: Page) => canvas(page).locator("[data-announcer]");

/** One run in which every state of a card is on the canvas at once; its pictures are kept as artifacts, one for each theme. */
test("every state of a node, in words, in pictures and in the outline; a run that fails says why in the provider's words", async ({
  signedInPage: page,
  agent,
  workflow,
  modelServer,
}, testInfo) => {
  const gate = `states-${crypto.randomUUID()}`;
  const echo = (await agent({ name: "Echo", model: "echo" })).id;
  const slow = (await agent({ name: "Slow", model: `gate-${gate}` })).id;
  const [broken, refused] = (await Promise.all(["403", "401"].map((status) => agent({ model: `late-status-${status}` })))).map(
    ({ id }) => id,
  );
  const graph = graphOf(
    {
      t: ["trigger", { label: "Start", default_input: gate }],
      done: ["agent", { agent_id: echo, label: "Complete" }],
      off: ["agent", { agent_id: echo, label: "Off", disabled: true }],
      pin: ["agent", { agent_id: echo, label: "Pinned", pinned: { output: "kept" } }],
      fails: ["agent", { agent_id: broken, label: "Failed", on_error: "continue", retries: 0 }],
      if: ["branch", { condition: "False", label: "Which" }],
      not: ["output", { label: "Skipped" }],
      asks: ["humanLoop", { title: "Send it?", label: "Waiting" }],
      works: ["agent", { agent_id: slow, label: "Running" }],
      next: ["output", { label: "Queued" }],
      last: ["agent", { agent_id: refused, label: "Last" }],
      never: ["agent", { agent_id: echo, label: "Never" }],
      each: ["loop", { items_expression: '["a","b","c"]', label: "Each" }],
      item: ["output", { label: "Item", value: "{{Each.current_item}}" }],
    },
    [
      ...["t>done", "done>off", "off>pin", "t>fails", "t>if", "if.true>not", "t>asks", "t>works", "works>next"],
      ...["next>last", "last>never", "t>each", "each.body>item"],
    ],
  );
  const rows: Record<string, [number, number]> = {
    ...{ t: [0, 300], done: [340, 0], off: [680, 0], pin: [1020, 0], fails: [340, 150], if: [340, 320], not: [680, 320] },
    ...{ asks: [340, 480], works: [340, 680], next: [680, 680], each: [1020, 200], item: [1120, 280] },
    ...{ last: [1020, 680], never: [1360, 680] },
  };
  const nodes = graph.nodes.map((item) => ({ ...item, position: { x: rows[item.id]?.[0] ?? 0, y: rows[item.id]?.[1] ?? 0 } }));
  const flow = await workflow({ nodes, edges: graph.edges });
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Start run" }).click();

  const states: [string, RegExp][] = [
    ["Agent Complete", /Complete/],
    ["Agent Off", /Disabled/],
    ["Agent Pinned", /Pinned/],
    ["Agent Failed", /Failed/],
    ["Output Skipped", /Skipped/],
    ["Review Waiting", /Waiting/],
    ["Agent Running", /Running/],
    ["Output Queued", /Queued/],
    ["Loop Each", /3/],
  ];
  for (const [name, words] of states) await expect(node(page, name)).toHaveAccessibleDescription(words);
  await page.keyboard.press("Shift+Digit1");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const path = testInfo.outputPath(`node-states-${colorScheme}.png`);
    await canvas(page).screenshot({ path });
    await testInfo.attach(`node-states-${colorScheme}`, { path, contentType: "image/png" });
  }

  await test.step("the run is followed in the outline in words", async () => {
    const line = (name: string | RegExp) => page.getByRole("tree", { name: "Outline of the workflow" }).getByRole("treeitem", { name });
    await page.getByRole("button", { name: "Outline", exact: true }).click();
    await expect(line("Agent Running, Running")).toBeVisible();
    await expect(line("Output Queued, Queued")).toBeVisible();
    await modelServer.release(gate);
    await expect(line(/^Agent Running, Complete/)).toBeVisible();
    await expect(line(/^Agent Last, Failed\. .*401/)).toBeVisible();
    await expect(told(page)).toContainText("Run failed");
  });

  await test.step("a failed node says so, the rest are skipped, and the run's page opens on it", async () => {
    await expect(node(page, "Output Queued")).toHaveAccessibleDescription(/Complete/);
    await expect(node(page, "Agent Last")).toHaveAccessibleDescription(/Failed/);
    await expect(node(page, "Agent Never")).toHaveAccessibleDescription(/Skipped/);
    // As near as a failed card says more than its name.
    await page.getByRole("button", { name: /^Zoom \d+ %/ }).click();
    await page.keyboard.press("Shift"); // so that the browser shows the focus as it does for a keyboard
    await node(page, "Agent Last").focus();
    await expect(node(page, "Agent Last")).toBeInViewport({ ratio: 1 });
    expect(await axeFaultsInBothThemes(page)).toEqual([]);
    const run = page.getByRole("region", { name: "Run", exact: true });
    await expect(run).toContainText("401");
    await run.getByRole("link", { name: /Open run/ }).click();
    await expect(page).toHaveURL(/\/runs\//);
    await expect(page.getByRole("main")).toContainText("401");
  });
});
