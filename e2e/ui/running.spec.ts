import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvas, node } from "#e2e/ui/locators.ts";
import { UpdatedWorkflow, Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, ExecutionSummary } from "#server/runs/schema.ts";

const panel = (page: Page) => page.getByRole("complementary", { name: "Nodes and settings" });
const run = (page: Page) => page.getByRole("region", { name: "Run", exact: true });
const action = (page: Page, name: string) => page.getByRole("toolbar", { name: "Node actions" }).getByRole("button", { name });
const runStateOf = (page: Page, from: string, to: string) =>
  canvas(page)
    .getByRole("group", { name: `Connection from ${from} to ${to}` })
    .locator(".flow-line");

/** Opens a node's panel and values; the pointer stays on the card, so the toolbar is its. */
async function select(page: Page, name: string): Promise<void> {
  await node(page, name).click({ position: { x: 90, y: 14 } });
}

/** Presses Run, and gives the form what it asks for. */
async function start(page: Page, input?: string): Promise<void> {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  if (input === undefined) return;
  await page.getByRole("dialog").getByRole("textbox").fill(input);
  await page.getByRole("button", { name: "Start run" }).click();
}
const ended = (page: Page) => expect(run(page).getByRole("heading", { name: /Result|Why it failed/ })).toBeVisible();

test("an output is pinned, changed by hand and taken by the next run instead of a call; every way to unpin leads back", {
  tag: "@main",
}, async ({ signedInPage: page, agent, workflow, api, modelServer }) => {
  const { id } = await agent({ name: "Echo", model: "echo" });
  const word = `pin-${crypto.randomUUID()}`;
  const graph = graphOf(
    { t: ["trigger", { label: "Start" }], A: ["agent", { agent_id: id, input: word }], o: ["output", { value: "<{{A.output}}>" }] },
    ["t>A", "A>o"],
  );
  const flow = await workflow(graph);
  await page.goto(`/workflows/${flow.id}`);
  await start(page);
  await ended(page);
  await select(page, "Agent A");
  await run(page).getByRole("button", { name: "Pin output" }).click();
  await expect(node(page, "Agent A")).toHaveAccessibleDescription(/Pinned/);
  const text = panel(page).getByRole("textbox", { name: "Pinned output" });
  await expect(text).toHaveValue(`Echo: ${word}`);
  await text.fill('{"a":1}');
  await panel(page).getByRole("button", { name: "Indent JSON" }).click();
  await expect(text).toHaveValue('{\n  "a": 1\n}');
  // The pin says something else than the run on the screen did.
  await expect(node(page, "Agent A")).toHaveAccessibleDescription(/Out of date: Its pinned output/);
  await expect(node(page, "Output o")).toHaveAccessibleDescription(/Out of date/);

  await start(page);
  await expect(run(page)).toContainText('<{ "a": 1 }>');
  await expect(node(page, "Output o")).not.toHaveAccessibleDescription(/Out of date/);
  expect(await modelServer.calls({ contains: word })).toHaveLength(1);

  // The pin is part of the workflow, and no run but those of the editor takes it.
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect.poll(async () => (await api.get(`/workflows/${flow.id}`, { schema: Workflow })).body.version).toBe(2);
  const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
  expect(body.nodes.find((one) => one.id === "A")?.data.pinned).toEqual({ output: '{\n  "a": 1\n}' });

  await page.getByRole("button", { name: "1 pinned output" }).click();
  await page.getByRole("button", { name: "Unpin A" }).click();
  await expect(node(page, "Agent A")).not.toHaveAccessibleDescription(/Pinned/);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(node(page, "Agent A")).toHaveAccessibleDescription(/Pinned/);
  await select(page, "Agent A");
  await action(page, "Unpin output").click();
  await expect(page.getByRole("button", { name: /pinned output/ })).toBeHidden();
});

test("a problem holds Run back and leads to its field; a run goes as far as one node, and from a changed node on; what no longer holds says so", {
  tag: "@main",
}, async ({ signedInPage: page, agent, workflow, modelServer }) => {
  const { id } = await agent({ name: "Echo", model: "echo" });
  const word = `part-${crypto.randomUUID()}`;
  const flow = await workflow(
    graphOf(
      {
        t: ["trigger", { label: "Start" }],
        A: ["agent", { agent_id: id, input: `first ${word} {{trigger.output}}` }],
        B: ["agent", { agent_id: id, input: "second {{A.output}}" }],
        C: ["agent", {}],
      },
      ["t>A", "A>B", "B>C"],
    ),
  );
  await page.goto(`/workflows/${flow.id}`);
  await test.step("what would stop a run is listed, leads to the field, and holds Run back", async () => {
    await expect(node(page, "Agent C")).toBeVisible();
    await expect(page.getByRole("button", { name: "Run", exact: true })).toHaveAttribute("aria-disabled", "true");
    await page.getByRole("button", { name: "1 problem", exact: true }).click();
    await expect(page.getByText("Choose an agent.").first()).toBeVisible();
    await page.getByRole("button", { name: /Go to fix/ }).click();
    await expect(panel(page).getByText("Choose an agent.")).toBeVisible();
  });

  await select(page, "Agent B");
  await action(page, "Run until here").click();
  const dialog = page.getByRole("dialog", { name: "Run until “B”" });
  await dialog.getByRole("textbox").fill("x");
  await dialog.getByRole("button", { name: "Start run" }).click();
  await ended(page);
  await expect(node(page, "Agent B")).toHaveAccessibleDescription(/Complete/);
  await expect(node(page, "Agent C")).toHaveAccessibleDescription(/Skipped/);
  await expect(run(page)).toContainText(`Echo: second Echo: first ${word} x`);

  await panel(page).getByRole("textbox", { name: "Input", exact: true }).fill("zweitens {{A.output}}");
  await expect(node(page, "Agent B")).toHaveAccessibleDescription(/Out of date: Its settings changed/);
  await expect(node(page, "Agent B").locator("[data-status]")).toHaveClass(/border-waiting/);
  await expect(node(page, "Agent A")).not.toHaveAccessibleDescription(/Out of date/);

  // The menu of the node has the same, and says why something cannot be done.
  await node(page, "Agent C").click({ button: "right", position: { x: 50, y: 14 } });
  await expect(page.getByRole("menuitem", { name: /Pin output/ })).toContainText("no output of it on the screen");
  await page.keyboard.press("Escape");
  await panel(page).getByRole("button", { name: "Pin an output" }).click();
  await panel(page).getByRole("textbox", { name: "Pinned output" }).fill("mock");
  await select(page, "Agent B");
  await run(page).getByRole("button", { name: "Run from here" }).click();
  await expect(node(page, "Agent C")).toHaveAccessibleDescription(/Pinned.*Complete/);
  await expect(run(page).getByRole("listitem").filter({ hasText: "A" }).first()).toContainText("Reused");
  await run(page).getByRole("button", { name: /^B/ }).click();
  await expect(run(page).getByRole("tabpanel", { name: "Output" })).toContainText(`Echo: zweitens Echo: first ${word} x`);
  await expect(node(page, "Agent B")).not.toHaveAccessibleDescription(/Out of date/);
  expect(await modelServer.calls({ contains: `first ${word}` })).toHaveLength(3);
});

test("reviews are decided at their cards, several in the run's panel; edges tell which way was taken", async ({
  signedInPage: page,
  workflow,
}) => {
  const flow = await workflow(
    graphOf(
      {
        t: ["trigger", { label: "Start", default_input: '["a", "b"]' }],
        Way: ["branch", { condition: "False" }],
        Check: ["humanLoop", { title: "Go on?" }],
        Each: ["loop", { items_expression: '["a", "b"]', concurrency: 2 }],
        Item: ["humanLoop", { title: "This one?" }],
        o: ["output", { value: "done" }],
      },
      ["t>Way", "Way.true>o", "Way.false>Check", "Check.approved>o", "o>Each", "Each.body>Item"],
    ),
  );
  await page.goto(`/workflows/${flow.id}`);
  await start(page, '["a", "b"]'); // asked for, since it is what comes to the review
  const decide = page.getByRole("toolbar", { name: "Decide Check" });
  await expect(decide.getByRole("button", { name: "Approve" })).toBeVisible();
  await expect(run(page).getByRole("button", { name: "Add a comment" })).toBeVisible();
  await decide.getByRole("button", { name: "Read it, and comment" }).click();
  await expect(run(page).getByLabel("Comment")).toBeFocused();
  await decide.getByRole("button", { name: "Approve" }).click();
  await expect(decide).toBeHidden();
  await expect(runStateOf(page, "Way (false)", "Check")).toHaveAttribute("data-run-state", "taken");
  // Its target did run, by the other way.
  await expect(runStateOf(page, "Way (true)", "o")).toHaveAttribute("data-run-state", "skipped");
  await expect(runStateOf(page, "Check (approved)", "o")).toHaveAttribute("data-run-state", "taken");

  await page.getByRole("toolbar", { name: "Decide Item" }).getByRole("button", { name: "2 waiting" }).click();
  const cards = run(page).getByRole("article", { name: "This one?" });
  await expect(cards).toHaveCount(2);
  await cards.first().getByRole("button", { name: "Approve" }).click();
  const last = page.getByRole("toolbar", { name: "Decide Item" });
  await last.getByRole("button", { name: "Approve" }).click();
  await expect(run(page).getByText("Completed", { exact: true }).first()).toBeVisible();
});

test("an earlier run is opened on the canvas as it was: its graph, and its outputs as pins", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  executed,
  finished,
}) => {
  const echo = await agent({ name: "Echo", model: "echo" });
  const graph = graphOf(
    { t: ["trigger", { label: "Start" }], A: ["agent", { agent_id: echo.id, input: "one" }], o: ["output", { value: "{{A.output}}" }] },
    ["t>A", "A>o"],
  );
  const flow = await workflow(graph);
  const { id } = await executed(flow, { input: "x" });
  const changed = graph.nodes.map((one) => (one.id === "A" ? { ...one, data: { ...one.data, input: "two" } } : one));
  await api.put(`/workflows/${flow.id}`, { nodes: changed, edges: graph.edges }, { schema: UpdatedWorkflow });

  await page.goto(`/workflows/${flow.id}`);
  await expect(node(page, "Agent A")).toContainText("two");
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.getByRole("button", { name: "Show on canvas" }).click();
  const bar = page.getByRole("region", { name: "This run and the canvas" });
  await expect(bar).toContainText("This run used version 1; the canvas has changed since.");
  await expect(node(page, "Agent A")).toHaveAccessibleDescription(/Out of date: Its settings changed/);
  await bar.getByRole("button", { name: "Load its graph" }).click();
  await expect(node(page, "Agent A")).toContainText("one");
  await expect(bar).toBeHidden();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(node(page, "Agent A")).toContainText("two");
  await expect(bar).toBeVisible();
  await bar.getByRole("link", { name: "Open run" }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${id}`));
  await expect(node(page, "Agent A")).toContainText("one");

  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await page.getByRole("menuitem", { name: /Debug in editor/ }).click();
  await expect(page.getByRole("button", { name: "1 pinned output" })).toBeVisible();
  await expect(node(page, "Agent A")).toHaveAccessibleDescription(/Pinned/);
  // The pin is what the run left there, so its output holds although the settings changed.
  await expect(node(page, "Agent A")).not.toHaveAccessibleDescription(/Out of date/);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const latest = async () => (await api.get(`/workflows/${flow.id}/executions?limit=1`, { schema: ExecutionSummary.array() })).body[0];
  await expect.poll(async () => (await latest())?.version).toBeNull();
  const again = await finished((await latest())?.id ?? "");
  expect(again).toMatchObject({ output: "Echo: one", node_results: { A: { pinned: true } } });
});

test("the view follows the node at work, until one moves it oneself; Stop stops that node, and the rest are skipped", {
  tag: "@main",
}, async ({ signedInPage: page, agent, workflow, modelServer }) => {
  const gates = [crypto.randomUUID(), crypto.randomUUID()];
  const [first, second] = await Promise.all(gates.map((gate) => agent({ model: `gate-${gate}` })));
  const graph = graphOf(
    {
      t: ["trigger", { label: "Start" }],
      A: ["agent", { agent_id: first?.id, input: "a" }],
      B: ["agent", { agent_id: second?.id, input: gates[1] }],
      C: ["output"],
    },
    ["t>A", "A>B", "B>C"],
  );
  const flow = await workflow({ ...graph, nodes: graph.nodes.map((one, at) => ({ ...one, position: { x: at * 1500, y: 0 } })) });
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: /^Zoom \d+ %/ }).click();
  await expect(page.getByRole("button", { name: /^Zoom 100 %/ })).toBeVisible();
  const follow = page.getByRole("button", { name: "Follow run" });
  await follow.click();
  await start(page);
  await expect(node(page, "Agent A")).toBeInViewport({ ratio: 1 });
  await modelServer.release(gates[0] ?? "");
  await expect(node(page, "Agent B")).toBeInViewport({ ratio: 1 });
  await expect(node(page, "Agent A")).not.toBeInViewport();
  const box = await canvas(page).boundingBox();
  const [x, y] = [(box?.x ?? 0) + 60, (box?.y ?? 0) + 60];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 90, y + 20, { steps: 5 });
  await page.mouse.up();
  await expect(follow).toHaveAttribute("aria-pressed", "false");

  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(node(page, "Agent B")).toHaveAccessibleDescription(/Stopped/);
  await expect(node(page, "Output C")).toHaveAccessibleDescription(/Skipped/);
  await expect(run(page)).toContainText("Cancelled");
  await expect.poll(async () => (await modelServer.calls({ contains: gates[1] ?? "" }))[0]?.outcome).toBe("aborted");
});

test("a run opened by its address that answers late does not cover one started meanwhile", async ({
  signedInPage: page,
  workflow,
  api,
}) => {
  const flow = await workflow(graphOf({ t: ["trigger"], o: ["output", { value: "It was {{trigger.output}}." }] }, ["t>o"]));
  const earlier = (await api.post(`/workflows/${flow.id}/execute`, { input: "earlier" }, { schema: ExecuteResult, status: 202 })).body;
  const asked = Promise.withResolvers<void>();
  const mayAnswer = Promise.withResolvers<void>();
  await page.route(
    (url) => url.pathname.includes("executions.view") && decodeURIComponent(url.search).includes(earlier.execution_id),
    async (route) => {
      asked.resolve();
      await mayAnswer.promise;
      await route.continue();
    },
  );
  await page.goto(`/workflows/${flow.id}?run=${earlier.execution_id}`);
  await asked.promise;
  await start(page, "later");
  await expect(run(page)).toContainText("It was later.");
  const answered = page.waitForResponse((response) => decodeURIComponent(response.url()).includes(earlier.execution_id));
  mayAnswer.resolve();
  await (await answered).finished();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await expect(run(page)).toContainText("It was later.");
  await expect(page).not.toHaveURL(new RegExp(earlier.execution_id));
});

test("a press that began on Run stops no run that came on the screen meanwhile; the keyboard stays where it was", async ({
  signedInPage: page,
  agent,
  workflow,
  execute,
  finished,
  modelServer,
}) => {
  const gate = crypto.randomUUID();
  const { id: agent_id } = await agent({ model: `gate-${gate}` });
  const flow = await workflow(graphOf({ t: ["trigger"], A: ["agent", { agent_id, input: "x" }] }, ["t>A"]));
  const id = await execute(flow);
  const mayAnswer = Promise.withResolvers<void>();
  await page.route(
    (url) => url.pathname.includes("workflows.executions"),
    async (route) => {
      await mayAnswer.promise;
      await route.continue();
    },
  );
  await page.goto(`/workflows/${flow.id}`);
  const cancels: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("executions.cancel")) cancels.push(request.url());
  });
  const button = (name: "Run" | "Stop") => page.getByRole("button", { name, exact: true });
  await button("Run").hover();
  await page.mouse.down();
  await expect(button("Run")).toBeFocused();
  mayAnswer.resolve();
  await expect(button("Stop")).toBeFocused();
  await page.mouse.up();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await expect(button("Stop")).not.toHaveAttribute("aria-busy");
  expect(cancels).toEqual([]);
  await modelServer.release(gate);
  expect(await finished(id)).toMatchObject({ status: "completed" });
});
