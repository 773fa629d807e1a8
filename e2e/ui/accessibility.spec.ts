import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { lengthOf } from "#e2e/length.ts";

/** No fault that axe finds by the rules of WCAG 2.2 AA, contrast in both themes included: on the page, or in one part of it. */
async function expectAccessible(page: Page, within?: string): Promise<void> {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect(await axeFaultsInBothThemes(page, within)).toEqual([]);
}

/** A view of a run, by the end of its id: what is around it is examined with another one. */
const viewOf = (name: string) => `[role=tabpanel][id$="-${name.toLowerCase()}"]`;

test("the guide: it has no fault by axe, and for whoever wishes for less motion nothing changes gradually", async ({ pageOf }) => {
  const page = await pageOf();
  test.setTimeout(120_000); // up to some twenty pages are examined
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.goto("/docs");

  await test.step("no colour changes gradually, not even for a moment", async () => {
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    const changes = await page.evaluateHandle(() => {
      const seen: string[] = [];
      addEventListener("transitionrun", ({ target, propertyName }) => seen.push(`${(target as Element).tagName}: ${propertyName}`));
      return seen;
    });
    await page.emulateMedia({ colorScheme: "dark" });
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect(await changes.jsonValue()).toEqual([]);
  });

  const chapters = await page.getByRole("navigation", { name: "Guide" }).getByRole("link").all();
  const paths = await Promise.all(chapters.map((link) => link.getAttribute("href")));
  expect(paths).toEqual(
    expect.arrayContaining(["/docs/agents", "/docs/knowledge", "/docs/credentials", "/docs/administration", "/docs/api"]),
  );
  // All are made of the same parts, so a third of them does for the short form. The pages of nodes are listed while that chapter is open.
  // The first chapter and the reference of the API are examined in every-page.spec.ts.
  const chaptersBetween = paths.filter((path) => path !== "/docs" && path !== "/docs/api");
  const each = lengthOf({ short: 3, long: 1 });
  const examined = chaptersBetween.filter((_, index) => index % each === 0);
  for (const path of [...examined, "/docs/nodes", "/docs/nodes/http"]) {
    await page.getByRole("navigation", { name: "Guide" }).locator(`[href="${path}"]`).click();
    await expect(page).toHaveURL(path ?? "");
    await expect(page).toHaveTitle(/Treadle/); // for a moment between two pages there is none
    await expectAccessible(page);
  }
  await expect(page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "Fields" })).toHaveAttribute(
    "href",
    "#fields",
  );
  // Found by its words, with what was looked for marked; what nobody wrote of says so.
  const search = page.getByRole("searchbox", { name: "Search the guide" });
  await search.fill("rate limits");
  await search.press("Enter");
  await expect(page.getByRole("main").getByRole("link").first()).toHaveAttribute("href", "/docs/administration#limits");
  await expect(page.locator("mark").first()).toHaveText(/rate|limit/i);
  await expectAccessible(page);
  // How many there are is said, and none is left out in silence.
  await search.fill("run");
  await search.press("Enter");
  // Until then the results of the search before are shown, which may be as many.
  await expect(page.getByRole("heading", { name: "“run” in the guide", exact: true })).toBeVisible();
  const found = page.getByRole("main").getByRole("listitem");
  await expect(found).toHaveCount(20);
  const all = page.getByRole("link", { name: /^Show all \d+$/ });
  const count = Number((await all.textContent())?.replace(/\D/g, ""));
  await expect(page.getByText(`${count} sections, the best first`)).toBeVisible();
  await all.click();
  await expect(found).toHaveCount(count);
  await expect(all).toHaveCount(0);
  await search.fill("zeppelin");
  await search.press("Enter");
  await expect(page.getByText("No page has these words.")).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/docs/security");
  await expect(page.getByRole("navigation", { name: "Guide" }).getByRole("link", { name: "Security" })).toBeInViewport({ ratio: 1 });
});

test("an agent's tool calls in a run", { tag: "@main" }, async ({ signedInPage: page, api, agent, workflow, executed }) => {
  const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { status: 201 });
  const scout = await agent({ name: "Scout", model: "tool-search_knowledge", rag_ids: [rag.id] });
  const graph = graphOf({ Start: ["trigger", { kind: "manual" }], Ask: ["agent", { agent_id: scout.id }] }, ["Start>Ask"]);
  const flow = await workflow({ name: "Look it up", ...graph });
  const { id } = await executed(flow, { input: "looms" });
  await page.goto(`/runs/${id}`);
  await page.getByRole("region", { name: "Workflow canvas" }).getByText("Ask", { exact: true }).first().click();
  await page.getByRole("tab", { name: "Tool calls 1" }).click();
  const calls = page.getByRole("tabpanel", { name: "Tool calls" });
  await calls.getByText("search_knowledge", { exact: true }).click();
  await expect(calls).toContainText("Nothing was found. Try other words.");
  await expectAccessible(page, "aside[aria-label=Values]");
  await page.getByRole("tab", { name: "Log" }).click();
  const log = page.getByRole("tabpanel", { name: "Log" });
  await log.getByText("search_knowledge", { exact: true }).click();
  await expect(log).toContainText("Nothing was found. Try other words.");
  await expectAccessible(page, viewOf("Log"));
  await page.goto(`/agents/${scout.id}`);
  await expectAccessible(page);
});

test("a run that waits for people inside a loop", async ({ signedInPage: page, workflow, execute, waiting }) => {
  const graph = graphOf(
    {
      Start: ["trigger", { kind: "manual" }],
      Each: ["loop", { items_expression: '["tea", "milk"]', concurrency: 2 }],
      Check: ["humanLoop", { title: "Order {{Each.current_item}}?", display_value: "# {{Each.current_item}}", timeout_hours: 24 }],
    },
    ["Start>Each", "Each.body>Check"],
  );
  const flow = await workflow({ name: "Orders", ...graph });
  const id = await execute(flow);
  await waiting(id, 2);
  await page.goto("/approvals");
  // Two are listed, and one is open beside the list.
  for (const item of ["tea", "milk"]) await expect(page.getByRole("button", { name: new RegExp(`Order ${item}\\?`) })).toBeVisible();
  await page.getByRole("button", { name: /Order tea\?/ }).click();
  await expectAccessible(page);
  await page.getByRole("article", { name: "Order tea?" }).getByRole("button", { name: "Approve" }).click();
  await page.getByRole("button", { name: "Send now" }).click();
  await expect(page.getByRole("button", { name: /Order tea\?/ })).toBeHidden();
  await page
    .getByRole("article", { name: "Order milk?" })
    .getByRole("link", { name: /Orders/ })
    .click();
  await expect(page).toHaveURL(new RegExp(`/runs/${id}`));
  await expect(page.getByRole("button", { name: "Approve" })).toBeVisible();
  await expectAccessible(page);
  for (const tab of ["Timeline", "Log", "Reviews"]) {
    await page.getByRole("tab", { name: tab }).click();
    await expect(page.getByRole("tabpanel", { name: tab })).toContainText(tab === "Reviews" ? "Order milk?" : "Each");
    await expectAccessible(page, viewOf(tab));
  }
  await page.getByRole("button", { name: /^Notifications/ }).click();
  await expect(page.getByRole("dialog", { name: "Notifications" })).toBeVisible();
  await expectAccessible(page, "[role=dialog]");
});
