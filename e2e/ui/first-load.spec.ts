import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { scriptBytes } from "#e2e/script-bytes.ts";
import { Canvas } from "#server/features/canvases/schema.ts";
import { Rag } from "#server/features/knowledge/schema.ts";

// What each page asks for until it asks for nothing more by itself, in kB of compressed scripts, and that it has nothing to say to the
// console. A page without a bound of its own has the general one.

const MOST_KB = 250;
const BOUNDS: Record<string, number> = {
  // What is drawn at once is a graph, with all that its cards and its types of nodes know, or a dashboard that can be arranged.
  editor: 392,
  run: 389,
  canvas: 270,
  // What a review shows is Markdown here, and a fourth of what this page has beyond every page are the fields that filter it.
  approvals: 257,
};

test("the first load of each page stays small, and no page has anything to say to the console", async ({
  browser,
  baseURL,
  person,
  api,
  agent,
  workflow,
  executed,
  execute,
  waiting,
}) => {
  test.setTimeout(180_000); // some thirty pages, each in a window that has loaded nothing yet
  const { id: agentId } = await agent({ name: "Scout", model: "echo" });
  const graph = graphOf({ Start: ["trigger"], Ask: ["agent", { agent_id: agentId }], Result: ["output"] }, ["Start>Ask", "Ask>Result"]);
  const flow = await workflow({ name: "Leads", ...graph });
  const [run, other] = [await executed(flow, { input: "tea" }), await executed(flow, { input: "milk" })];
  const asks = graphOf({ Start: ["trigger"], Check: ["humanLoop", { title: "Good?", display_value: "# A draft" }] }, ["Start>Check"]);
  await waiting(await execute(await workflow({ name: "Drafts", ...asks })));
  const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { schema: Rag, status: 201 });
  const { body: canvas } = await api.post("/canvases", { name: "Numbers" }, { schema: Canvas, status: 201 });
  const lists = ["workflows", "runs", "approvals", "agents", "canvases", "knowledge", "mcp", "skills", "keys", "docs", "docs/api"];
  const settings = ["project", "members", "limits", "usage", "budgets", "credentials", "service-accounts", "audit"];
  const ownSettings = ["profile", "security", "sessions", "notifications", "api-keys"];
  const pages = new Map([
    ["home", "/"],
    ["editor", `/workflows/${flow.id}`],
    ["run", `/runs/${run.id}`],
    ["compare", `/runs/${run.id}/compare/${other.id}`],
    ["canvas", `/canvases/${canvas.id}`],
    ["knowledge base", `/knowledge/${rag.id}`],
    ["templates", "/workflows/templates"],
    ["assistant", "/bridge"],
    ["new agent", "/agents/new"],
    ["agent", `/agents/${agentId}`],
    ["sign-in", "/sign-in"],
    ...lists.map((name) => [name, `/${name}`] as const),
    ...[...settings, ...ownSettings].map((name) => [`${name} settings`, `/settings/${name}`] as const),
  ]);
  const storageState = await person.browser.storageState();
  const heavy: string[] = [];
  const said: string[] = [];
  for (const [name, path] of pages) {
    const window = await browser.newContext({ baseURL, ...(name !== "sign-in" && { storageState }) });
    const page = await window.newPage();
    page.on("console", (message) => said.push(`${name}: ${message.text()}`));
    page.on("pageerror", (error) => said.push(`${name}: ${error}`));
    const bytes = await scriptBytes(page, async () => {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    });
    expect(bytes, name).toBeGreaterThan(0);
    const bound = BOUNDS[name] ?? MOST_KB;
    if (bytes / 1000 > bound) heavy.push(`${name}: ${(bytes / 1000).toFixed(1)} kB of ${bound}`);
    await window.close();
  }
  // A development server sends everything whole, with what it needs for itself.
  const isDevelopment = (await (await person.browser.get("/")).text()).includes("hmr");
  if (!isDevelopment) expect(heavy).toEqual([]);
  expect(said).toEqual([]);
});
