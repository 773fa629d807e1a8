import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";

/** One run in which every state of a card is on the canvas at once; its pictures are kept as artifacts, one for each theme. */
test("every state of a node, in words and in pictures", async ({ signedInPage: page, agent, workflow, modelServer }, testInfo) => {
  const gate = `states-${crypto.randomUUID()}`;
  const echo = (await agent({ name: "Echo", model: "echo" })).id;
  const slow = (await agent({ name: "Slow", model: `gate-${gate}` })).id;
  const broken = (await agent({ name: "Broken", model: "late-status-401" })).id;
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
      each: ["loop", { items_expression: '["a","b","c"]', label: "Each" }],
      item: ["output", { label: "Item", value: "{{Each.current_item}}" }],
    },
    [
      ...["t>done", "done>off", "off>pin", "t>fails", "t>if", "if.true>not", "t>asks", "t>works", "works>next"],
      ...["t>each", "each.body>item"],
    ],
  );
  const rows: Record<string, [number, number]> = {
    ...{ t: [0, 300], done: [340, 0], off: [680, 0], pin: [1020, 0], fails: [340, 150], if: [340, 320], not: [680, 320] },
    ...{ asks: [340, 480], works: [340, 680], next: [680, 680], each: [1020, 200], item: [1120, 280] },
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
  await modelServer.release(gate);
  await expect(node(page, "Output Queued")).toHaveAccessibleDescription(/Complete/);
});
