import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaults } from "#e2e/axe.ts";
import { test as base, expect } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { reviewToken } from "#server/features/reviews/link.ts";
import { Review, ReviewPage } from "#server/features/reviews/schema.ts";

const test = base.extend<{
  /** Starts a run of a workflow with so many reviews that wait side by side. */
  asking(name: string, reviews: number, config?: object): Promise<string>;
}>({
  asking: async ({ workflow, execute, waiting }, use) =>
    use(async (name, count, config = {}) => {
      const names = Array.from({ length: count }, (_, index) => `Check ${index}`);
      const nodes = Object.fromEntries(
        names.map((label) => [label, ["humanLoop", { title: `${name}?`, display_value: "The draft", ...config }]]),
      );
      const graph = graphOf(
        { Start: ["trigger", { kind: "manual" }], ...nodes } as Parameters<typeof graphOf>[0],
        names.map((label) => `Start>${label}`),
      );
      const run = await execute(await workflow({ name, ...graph }), { input: "x" });
      await waiting(run, count);
      return run;
    }),
});

const list = (page: Page) => page.getByRole("region", { name: "Reviews" });
const rows = (page: Page) => list(page).getByRole("listitem");
const isWithin = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

test("a hundred and ten reviews: read and decided by keys, taken back, many at once, and sent when the page is left", async ({
  signedInPage: page,
  asking,
  api,
}) => {
  test.setTimeout(120_000);
  const urgent = await asking("Urgent", 2, { timeout_hours: 2 });
  for (let run = 0; run < 6; run++) await asking(`Desk ${run}`, 18); // with these more than are read, and answered, at once: 100
  const count = async (status: string) => (await api.get(`/reviews?status=${status}&per_page=1`, { schema: ReviewPage })).body.total;
  await page.goto("/approvals");
  await expect(rows(page)).toHaveCount(50);
  // What ends first stands first, and is open beside the list.
  await expect(rows(page).first()).toContainText("Urgent");
  const card = page.getByRole("article");
  await expect(card).toContainText("Rejected in 2 h without a decision");

  await page.keyboard.press("j");
  await expect(rows(page).nth(1).locator("[aria-current]")).toBeVisible();
  await page.keyboard.press("e");
  await expect(card.getByLabel("Comment")).toBeFocused();
  await page.keyboard.type("a good one"); // letters are letters where one types
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Approvals" }).click();
  await page.keyboard.press("r");
  await expect(page.getByText("Reject: Urgent?")).toBeVisible();
  await page.keyboard.press("u");
  await expect(page.getByText("Reject: Urgent?")).toBeHidden();
  expect(await count("waiting")).toBe(110);
  // What was typed is there still.
  await rows(page).nth(1).getByRole("button").click();
  await expect(card.getByLabel("Comment")).toHaveValue("a good one");
  // A key that is held answers one of them; what cannot be sent is said, and sent again.
  await page.route("**/reviews.decide**", (route) => route.abort(), { times: 1 });
  for (const key of ["k", "j", "a", "a", "a"]) await page.keyboard.down(key);
  await page.keyboard.up("a");
  await expect(page.getByText("Approve: Urgent?")).toBeVisible();
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByRole("alert").getByRole("button", { name: "Send again" }).click();
  await until(async () => (await count("decided")) === 1);
  const { body } = await api.get("/reviews?status=decided", { schema: ReviewPage });
  expect(body.items[0]).toMatchObject({ status: "approved", comment: "a good one" });

  // Somebody is first at one of them: the others are taken all the same.
  await page.getByRole("button", { name: "Select all" }).click();
  await expect(page.getByText("109 selected")).toBeVisible();
  await page.getByRole("button", { name: "Approve 109" }).click();
  await expect(page.getByText("109 reviews answered.")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("109 reviews answered.")).toBeHidden();
  await page.getByRole("button", { name: "Select all" }).click();
  await page.getByRole("button", { name: "Approve 109" }).click();
  await api.post(`/executions/${urgent}/cancel`, {}, { status: 200 });
  await page.getByRole("button", { name: "Send now" }).click();
  const outcome = page.getByRole("alert").filter({ hasText: "108 of 109 answers were taken" });
  await expect(outcome).toContainText("was withdrawn", { timeout: 60_000 }); // each answer wakes a run
  expect(await count("waiting")).toBe(0);

  await asking("Last", 1);
  await page.goto("/approvals");
  await expect(page.getByRole("article", { name: "Last?" })).toBeVisible();
  // What is more urgent comes to stand above it; what a key answers is still what one reads.
  await asking("Sooner", 1, { timeout_hours: 1 });
  await expect(async () => {
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await expect(rows(page).first()).toContainText("Sooner", { timeout: 200 });
  }).toPass();
  await page.keyboard.press("a");
  await expect(page.getByText("Approve: Last?")).toBeVisible();
  await page.goto("about:blank");
  await until(async () => (await count("waiting")) === 1);
});

test("on a phone a review is read and answered with the thumb, by its link too, with choices and a text of its own", {
  tag: "@main",
}, async ({ signedInPage: page, asking, api }) => {
  const choices = [
    { id: "send", label: "Send it", style: "primary" },
    { id: "again", label: "Write it again", style: "neutral" },
    { id: "drop", label: "Drop it", style: "danger" },
  ];
  const config = { choices, text: "Dear **Ada**,", editable: true, description: "Mind the *tone*." };
  await page.setViewportSize({ width: 390, height: 844 });
  const first = await asking("Answer a customer", 1, config);
  await page.goto("/approvals");
  await expect(rows(page)).toHaveCount(1);
  expect(await isWithin(page)).toBe(true);
  expect(await axeFaults(page)).toEqual([]);
  await rows(page).first().getByRole("button").click();
  await expect(list(page)).toBeHidden();
  await page.goBack();
  await expect(list(page)).toBeVisible();
  await page.getByRole("button", { name: "Due: Due at any time" }).click();
  await page.getByRole("menuitemradio", { name: "Due within a day" }).click();
  await expect(page.getByText("No review matches these filters.")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await rows(page).first().getByRole("button").click();
  const card = page.getByRole("article", { name: "Answer a customer?" });
  expect(await isWithin(page)).toBe(true);
  for (const { label } of choices) {
    const box = await card.getByRole("button", { name: label }).boundingBox();
    expect(box?.height, label).toBeGreaterThanOrEqual(44);
  }
  await card.getByLabel("Text").fill("Dear Ada, thank you.");
  expect(await axeFaults(page)).toEqual([]);
  await card.getByRole("button", { name: "Write it again" }).click();
  await expect(list(page)).toBeVisible();
  await expect(page.getByText("Write it again: Answer a customer?")).toBeVisible();
  await page.getByRole("button", { name: "Send now" }).click();
  const reviewOf = async (execution: string) => {
    const { body } = await api.get(`/reviews?execution_id=${execution}`, { schema: ReviewPage });
    return (await api.get(`/reviews/${body.items[0]?.id}`, { schema: Review })).body;
  };
  await until(async () => (await reviewOf(first)).status !== "waiting");
  expect(await reviewOf(first)).toMatchObject({ status: "approved", choice: "again", text: "Dear Ada, thank you.", via: "ui" });

  const { id } = await reviewOf(await asking("By mail", 1, { ...config, notification_email: "pat@example.com" }));
  await page.goto(`/review/${reviewToken(id, new Date(Date.now() + 60_000))}`);
  await expect(page.getByText("Mind the tone.")).toBeVisible();
  expect(await isWithin(page)).toBe(true);
  expect(await axeFaults(page)).toEqual([]);
  await page.getByLabel("Text").fill("Dear Ada, goodbye.");
  await page.getByRole("button", { name: "Send it" }).click();
  await expect(page.getByText(/“Send it”, chosen by pat@example.com/)).toBeVisible();
  await expect(page.getByText("Dear Ada, goodbye.")).toBeVisible();
});

test("on a phone, Back right after opening a review leads to the list", async ({ signedInPage: page, asking }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await asking("At once", 1);
  await page.goto("/approvals");
  await expect(rows(page)).toHaveCount(1);
  await rows(page)
    .first()
    .getByRole("button")
    .evaluate((row: HTMLElement) => {
      row.click();
      history.back();
    });
  await page.waitForURL((url) => !url.searchParams.has("review"));
  await expect(list(page)).toBeVisible();
});
