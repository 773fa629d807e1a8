import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";

const graph = graphOf(
  {
    Start: ["trigger", { kind: "manual" }],
    Draft: ["output", { value: "# First words", format: "markdown" }],
    Check: ["humanLoop", { title: "Is it good?" }],
    Again: ["humanLoop", { title: "Is it short?" }],
    Print: ["output"],
  },
  ["Start>Draft", "Draft>Check", "Draft>Again", "Again.approved>Print"],
);

test("a run shows what it has put out while it waits and when it was cancelled, and its log who decided", async ({
  signedInPage: page,
  workflow,
  execute,
  waiting,
}) => {
  const id = await execute(await workflow({ name: "Half way", ...graph }));
  await waiting(id, 2);
  await page.goto(`/runs/${id}`);
  const result = page.getByRole("region", { name: "Result" });
  await expect(result.getByRole("heading", { name: "Outputs so far" })).toBeVisible();
  await expect(result.getByRole("heading", { name: "First words" })).toBeVisible();
  await page.getByRole("tab", { name: "Reviews" }).click();
  const reviews = page.getByRole("tabpanel", { name: "Reviews" });
  await reviews.getByRole("article", { name: "Is it good?" }).getByRole("button", { name: "Approve" }).click();
  await expect(reviews).toContainText("Approved by Robin Weaver (admin) in the web app");
  await page.getByRole("tab", { name: "Log" }).click();
  const entry = (name: string) => page.getByRole("tabpanel", { name: "Log" }).getByRole("listitem").filter({ hasText: name });
  await expect(entry("Check")).toContainText("by Robin Weaver (admin) in the web app");
  await expect(entry("Again")).not.toContainText("Decided");
  await page.getByRole("button", { name: "Cancel run" }).click();
  await expect(result.getByRole("heading", { name: "Outputs reached" })).toBeVisible();
  await expect(result.getByRole("heading", { name: "First words" })).toBeVisible();
  await expect(result.getByRole("heading", { name: "Print" })).toHaveCount(0);
});
