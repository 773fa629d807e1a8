import type { BrowserContext, CDPSession, Page } from "@playwright/test";
import { installSettings, personalSettings, projectSettings } from "#components/shell/settings-pages.ts";
import { graphOf } from "#e2e/api/graphs.ts";
import { signIn } from "#e2e/api/people.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, newWindow, type Person, test } from "#e2e/fixtures.ts";
import { scriptBytes } from "#e2e/script-bytes.ts";
import { smallTargets } from "#e2e/ui/small-targets.ts";
import { until } from "#e2e/until.ts";
import { Canvas } from "#server/features/canvases/schema.ts";
import { Rag } from "#server/features/knowledge/schema.ts";

// What holds for every page, each opened once: one title, in one place; no fault that axe finds in either theme; nothing said to the
// console; few scripts; on a phone nothing to scroll sideways, and nothing too small for a thumb.

// Each opens some fifteen pages, in one window after the other: what it has read of our scripts it need not read again.
test.describe.configure({ mode: "default", timeout: 180_000 });

/** Compressed scripts that a page asks for until it asks for nothing more by itself, in kB. */
const MOST_KB = 253;
/** The same for a graph, with all that its cards and its types of nodes know. */
const GRAPH_KB = 405;

/** Where a title stands from the upper left corner of its column, and its size. */
const TITLE = "32 32 24px";

interface PageToOpen {
  path: string;
  mostKb?: number | undefined;
  /** Whether its title stands elsewhere: on a canvas, in the guide, on a page without a frame. */
  hasOwnTitle?: boolean;
  /** Whether what the address names is not there. */
  isMissing?: boolean;
}

/** What is wrong with a page, a line for each. */
async function faultsOf({ path, mostKb = MOST_KB, hasOwnTitle, isMissing }: PageToOpen): Promise<string[]> {
  const faults: string[] = [];
  page.on("console", (message) => {
    const isOfBrowser = isMissing && message.text().includes("the server responded with a status of 4");
    if (!isOfBrowser) faults.push(`said to the console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${error}`));
  const title = page.getByRole("heading", { level: 1 });
  const bytes = await scriptBytes(page, async () => {
    await page.goto(path);
    await expect(title, path).toBeVisible();
  });
  expect(bytes, path).toBeGreaterThan(0);
  // A development server sends everything whole, with what it needs for itself.
  const isDevelopment = async () => (await page.content()).includes("hmr");
  if (bytes > mostKb * 1000 && !(await isDevelopment()))
    faults.push(`${(bytes / 1000).toFixed(1)} kB of scripts, and ${mostKb} are the most`);
  await expect(title, path).toHaveCount(1);
  const place = () =>
    title.evaluate((heading) => {
      const [at, column] = [heading.getBoundingClientRect(), document.querySelector("main")?.getBoundingClientRect()];
      return [at.x - (column?.x ?? 0), at.y - (column?.y ?? 0), getComputedStyle(heading).fontSize].join(" ");
    });
  // What the server drew may just give way to what the browser draws.
  if (!hasOwnTitle) await expect.poll(place, { message: path }).toBe(TITLE);
  faults.push(...(await axeFaultsInBothThemes(page)));
  await page.setViewportSize({ width: 390, height: 844 });
  const outside = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await expect.poll(outside, { message: `${path} on a phone` }).toBeLessThanOrEqual(0);
  await devtools.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  faults.push(...(await smallTargets(page)).map((target) => `too small for a thumb: ${target}`));
  await devtools.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const event of ["console", "pageerror"]) page.removeAllListeners(event);
  return faults.map((fault) => `${path}: ${fault}`);
}

let ownWindow: BrowserContext;
let page: Page;
let devtools: CDPSession;

// Playwright's clock, once it is put forward, is so in all pages of a window, also in those that come later.
test.beforeAll(async ({ browser }) => {
  ownWindow = await newWindow(browser);
  page = await ownWindow.newPage();
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.clock.install();
  devtools = await ownWindow.newCDPSession(page);
});
test.afterAll(() => ownWindow.close());

/** The faults of all these pages, as somebody sees them, or who is signed in nowhere. */
async function expectNoFaults(somebody: Pick<Person, "browser"> | undefined, pages: PageToOpen[]): Promise<void> {
  await page.goto("/icon.svg"); // no script of ours runs here
  await page.evaluate(() => {
    for (const kept of [localStorage, sessionStorage]) kept.clear();
  });
  await ownWindow.clearCookies();
  if (somebody) await ownWindow.addCookies((await somebody.browser.storageState()).cookies);
  const faults: string[] = [];
  for (const each of pages) faults.push(...(await faultsOf(each)));
  expect(faults).toEqual([]);
}

const paths = (...all: string[]): PageToOpen[] => all.map((path) => ({ path }));

test("lists that are empty", async ({ person }) => {
  const lists = ["workflows", "runs", "approvals", "agents", "canvases", "knowledge", "mcp", "skills", "keys"];
  await expectNoFaults(person, [
    ...paths("/", ...lists.map((name) => `/${name}`), "/agents/new", "/workflows/templates", "/bridge"),
    { path: "/runs/nothing", mostKb: GRAPH_KB, isMissing: true },
    { path: "/agents/nothing", isMissing: true },
    { path: "/workflows/nothing", mostKb: GRAPH_KB, isMissing: true },
    { path: "/nothing", hasOwnTitle: true, isMissing: true },
  ]);
});

test("settings", async ({ person }) => {
  await expectNoFaults(person, paths(...[...personalSettings, ...projectSettings].map(({ href }) => href)));
  const owner = await signIn({ email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" });
  await expectNoFaults(owner, paths(...installSettings.map(({ href }) => href)));
});

test("what has something in it", async ({ person, api, agent, workflow, executed, execute, waiting }) => {
  const { id: agentId } = await agent({
    name: "Scout",
    model: "echo",
    description: "Reads what others have written, and says in three lines what is to be changed",
  });
  const graph = graphOf(
    {
      Start: ["trigger"],
      Ask: ["agent", { agent_id: agentId }],
      Each: ["loop", { items_expression: '["a", "b"]' }],
      Step: ["set", { fields: [{ name: "x", value: "1", type: "number" }] }],
      Enough: ["branch", { condition: "True" }],
      Result: ["output"],
      Stop: ["terminate"],
    },
    ["Start>Ask", "Ask>Each", "Each.body>Step", "Each.done>Enough", "Enough.true>Result", "Enough.false>Stop"],
  );
  const flow = await workflow({ name: "Leads", ...graph });
  const [run, other] = [await executed(flow, { input: "tea" }), await executed(flow, { input: "milk" })];
  const asks = graphOf({ Start: ["trigger"], Check: ["humanLoop", { title: "Good?", display_value: "# A draft" }] }, ["Start>Check"]);
  await waiting(await execute(await workflow({ name: "Drafts", ...asks })));
  const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { schema: Rag, status: 201 });
  const { body: canvas } = await api.post("/canvases", { name: "Numbers" }, { schema: Canvas, status: 201 });
  await expectNoFaults(person, [
    ...paths("/", "/workflows", "/runs", "/approvals", "/agents", "/keys", "/settings/usage"),
    ...paths(`/runs/${run.id}/compare/${other.id}`, `/agents/${agentId}`, `/knowledge/${rag.id}`),
    { path: `/runs/${run.id}/fork`, mostKb: GRAPH_KB },
    { path: `/runs/${run.id}`, mostKb: GRAPH_KB },
    { path: `/canvases/${canvas.id}`, mostKb: 275, hasOwnTitle: true },
    { path: `/workflows/${flow.id}`, mostKb: GRAPH_KB, hasOwnTitle: true },
  ]);
});

test("pages for who is signed in nowhere", async () => {
  const pages = ["/sign-in", "/sign-up", "/reset-password", "/docs", "/docs/api"].map((path) => ({ path, hasOwnTitle: true }));
  const missing = ["/invite/nothing", "/review/nothing", "/reset-password/nothing", "/emails/nothing", "/shared/nothing"];
  await expectNoFaults(undefined, [...pages, ...missing.map((path) => ({ path, hasOwnTitle: true, isMissing: true }))]);
});

test("a page whose own script comes late is not disturbed by what the frame around it has read meanwhile", async ({
  signedInPage: page,
  workflow,
  execute,
  waiting,
}) => {
  const asks = graphOf({ Start: ["trigger"], Check: ["humanLoop", { title: "Good?" }] }, ["Start>Check"]);
  await waiting(await execute(await workflow({ name: "Drafts", ...asks })));
  const said: string[] = [];
  page.on("pageerror", (error) => said.push(`${error}`));
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = 0;
  await page.route("**/_next/static/chunks/*.js", async (route) => {
    const response = await route.fetch();
    const isOfPage = (await response.text()).includes("Nothing waits for a decision");
    held += Number(isOfPage);
    if (isOfPage) await isReleased;
    await route.fulfill({ response });
  });
  // All else has come, and the frame has asked for what it shows, if it can do so already.
  let underWay = 0;
  page.on("request", () => underWay++);
  page.on("requestfinished", () => underWay--);
  page.on("requestfailed", () => underWay--);
  await page.goto("/approvals", { waitUntil: "commit" });
  for (let round = 0; round < 3; round++) {
    await until(() => held === 1 && underWay === 1);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  }
  release();
  await expect(page.getByRole("tab", { name: "Waiting 1 for you" })).toBeVisible();
  expect(held).toBe(1);
  expect(said).toEqual([]);
});
