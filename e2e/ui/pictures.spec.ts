import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Canvas } from "#server/features/canvases/schema.ts";
import type { Graph } from "#server/workflow/schema.ts";

// The pictures of the README and the guide, made anew after a change of what they show:
//
//   UPDATE_SCREENSHOTS=1 npx playwright test --config e2e/playwright.config.ts e2e/ui/pictures.spec.ts

const folder = join(import.meta.dirname, "../../app/docs/images");
/** In the guide they are shown at two thirds of this. */
const SIZE = { width: 1160, height: 720 };

/** Once there is what it is of. */
async function take(page: Page, name: string, shown: Locator): Promise<void> {
  await expect(shown).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: /^Loading/ })).toHaveCount(0);
  await page.mouse.move(-1, -1);
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
}

/** One after the other, as far apart as tidying up puts them. */
function inRow({ nodes, edges }: Pick<Graph, "nodes" | "edges">) {
  return { nodes: nodes.map((node, index) => ({ ...node, position: { x: 330 * index, y: 0 } })), edges };
}

test.skip(!process.env.UPDATE_SCREENSHOTS, "Pictures are made when they are asked for.");

test("a run in the editor, with a loop as a frame", async ({ signedInPage: page, agent, workflow, modelServer }) => {
  const gate = `picture-${crypto.randomUUID()}`;
  const scout = await agent({ name: "Scout", model: `brief-${gate}` });
  const author = await agent({ name: "Author", model: "parrot" });
  const graph = graphOf(
    {
      start: ["trigger", { label: "Start", kind: "manual", default_input: '["Looms", "Patterns", "Silk"]' }],
      each: ["loop", { label: "Each topic", items_expression: "{{trigger.output}}", concurrency: 2 }],
      research: ["agent", { label: "Research", agent_id: scout.id, input: "Find news about {{Each topic.current_item}}" }],
      write: ["agent", { label: "Write", agent_id: author.id, input: "Write a paragraph: {{Research.output}}" }],
      approve: ["humanLoop", { label: "Approve", title: "Publish this brief?" }],
    },
    ["start>each", "each.body>research", "research>write", "each.done>approve"],
  );
  const places = { start: [0, 90], each: [330, 0], research: [430, 80], write: [760, 80], approve: [1140, 20] } as const;
  const nodes = graph.nodes.map((node) => {
    const [x, y] = places[node.id as keyof typeof places];
    return { ...node, position: { x, y } };
  });
  const flow = await workflow({ name: "Weaving news", nodes, edges: graph.edges });
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Start run" }).click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await expect(run).toContainText("restarted its Jacquard looms");
  await run.getByRole("button", { name: /^Research/ }).click();
  await take(page, "editor", page.getByRole("complementary", { name: "Nodes and settings" }).getByLabel("Input", { exact: true }));
  await modelServer.release(gate);
});

test("an agent that is tried, a run's timeline, a review and a canvas", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  execute,
  executed,
  waiting,
  modelServer,
}) => {
  await page.setViewportSize(SIZE);
  await modelServer.release("news");
  const priced = ["brief-*", "parrot"].map((model) => ({ model, input_per_million: 2, output_per_million: 8 }));
  await api.put("/prices", { items: priced.map((price) => ({ provider: "openai_compatible", ...price })) });
  const scout = await agent({
    name: "Scout",
    model: "brief-news",
    system_prompt: "You find news about a subject.\n\n- Say where each comes from.\n- At most three.",
  });
  const writer = await agent({ name: "Writer", model: "parrot" });
  const asks = { agent_id: writer.id };
  const desk = await workflow({
    name: "Customer letters",
    ...inRow(
      graphOf(
        {
          Start: ["trigger", { kind: "manual" }],
          Draft: ["agent", { ...asks, input: "Dear Ada, {{trigger.output}}" }],
          Check: [
            "humanLoop",
            {
              title: "Send this letter?",
              display_value: "{{Draft.output}}",
              description: "She has waited for **two weeks**.",
              timeout_hours: 20,
            },
          ],
          Sent: ["output", { value: "{{Draft.output}}" }],
        },
        ["Start>Draft", "Draft>Check", "Check.approved>Sent"],
      ),
    ),
  });
  for (const input of ["your loom is mended and waits for you.", "the silk arrives on Monday.", "thank you for the pattern."])
    await waiting(await execute(desk, { input }));

  await page.goto(`/agents/${scout.id}`);
  const chat = page.getByRole("region", { name: "Try it" });
  await chat.getByRole("textbox", { name: "Message" }).fill("What is new about looms?");
  await chat.getByRole("button", { name: "Send" }).click();
  await take(page, "agent", chat.getByText("the cloth counts to eight."));

  await page.goto("/approvals");
  await take(page, "approvals", page.getByRole("article", { name: "Send this letter?" }).getByText("Dear Ada"));

  const languages = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Languages: ["loop", { items_expression: '["German", "French", "Polish"]', concurrency: 3 }],
      Translate: ["agent", { ...asks, input: "Into {{Languages.current_item}}: {{trigger.output}}" }],
      Check: ["agent", { ...asks, input: "{{Translate.output}}" }],
      All: ["output", { value: "{{Languages.output}}" }],
    },
    ["Start>Languages", "Languages.body>Translate", "Translate>Check", "Languages.done>All"],
  );
  const run = await executed(await workflow({ name: "Translation", ...languages }), { input: "Your order is on its way." });
  await page.goto(`/runs/${run.id}`);
  // By the mouse, as the browser knows once it was pressed: no ring then shows where the keys are.
  await page.getByRole("heading", { level: 1 }).click();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await take(page, "run", page.getByRole("treeitem", { name: /Languages/ }));

  const value = `{"total": {{Start.output}}, "months": [{"name": "Jan", "sum": 12}, {"name": "Feb", "sum": 30}, {"name": "Mar", "sum": 18}, {"name": "Apr", "sum": 24}, {"name": "May", "sum": 21}], "cloths": [{"name": "Silk", "sum": 40}, {"name": "Linen", "sum": 30}, {"name": "Wool", "sum": 20}, {"name": "Hemp", "sum": 10}], "report": "**A good month.** Silk is up by a third, and linen sells as it did."}`;
  const sales = await workflow({
    name: "Sales",
    ...inRow(graphOf({ Start: ["trigger", { kind: "manual" }], Sales: ["output", { value, format: "json" }] }, ["Start>Sales"])),
  });
  for (const input of ["100", "120", "90", "140", "160"]) await executed(sales, { input });
  const of = (id: string, title: string, [x, y, w, h]: [number, number, number, number]) => ({
    ...{ id, title, workflow_id: sales.id, output_label: "Sales" },
    layout: { x, y, w, h },
  });
  const widgets = [
    { ...of("total", "Revenue", [0, 0, 3, 3]), type: "number", options: { path: "$.total", unit: "€" } },
    { ...of("runs", "Run by run", [0, 3, 3, 3]), type: "chart", options: { kind: "line", over: "runs", range: "24h", y: "$.total" } },
    { ...of("bars", "By month", [3, 0, 5, 6]), type: "chart", options: { kind: "bar", x: "$.months[*].name", y: "$.months[*].sum" } },
    { ...of("shares", "By cloth", [8, 0, 4, 6]), type: "chart", options: { kind: "pie", x: "$.cloths[*].name", y: "$.cloths[*].sum" } },
    { ...of("rows", "Months", [0, 6, 6, 5]), type: "table", options: { path: "$.months" } },
    { ...of("report", "Report", [6, 6, 6, 5]), type: "markdown", options: { path: "$.report" } },
  ];
  const { body: canvas } = await api.post("/canvases", { name: "The mill", widgets }, { schema: Canvas, status: 201 });
  await page.goto(`/canvases/${canvas.id}`);
  await expect(page.getByText("Past runs are being read.")).toHaveCount(0);
  await take(page, "canvas", page.getByText("A good month."));
});
