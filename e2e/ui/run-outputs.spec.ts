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

test("the lists of a run that failed begin at the node that did, however far down it stands", async ({
  signedInPage: page,
  workflow,
  executed,
}) => {
  const steps = Array.from({ length: 40 }, (_, index) => `step${index}`);
  const wrong = { fields: [{ name: "count", value: "many", type: "number" }] };
  const outputs = Object.fromEntries(steps.map((id): [string, [string]] => [id, ["output"]]));
  const edges = [...steps.map((id, index) => `${index ? steps[index - 1] : "t"}>${id}`), `${steps.at(-1)}>Last`];
  const flow = await workflow({ name: "Long and doomed", ...graphOf({ t: ["trigger"], ...outputs, Last: ["set", wrong] }, edges) });
  const { id } = await executed(flow, { input: "x" });
  await page.goto(`/workflows/${flow.id}?run=${id}`);
  await expect(page.getByRole("list", { name: "Nodes of this run" }).getByRole("button", { name: /^Last/ })).toBeInViewport();
  await page.goto(`/runs/${id}`);
  await page.getByRole("tab", { name: "Timeline" }).click();
  await expect(page.getByRole("treeitem", { name: /^Last/ })).toBeInViewport();
});

test("the timeline lists the attempts of a model call that was made more than once", async ({
  signedInPage: page,
  agent,
  workflow,
  executed,
}) => {
  const { id: agent_id } = await agent({ name: "Unsteady", model: "flaky-1" });
  const flow = await workflow(graphOf({ t: ["trigger"], Ask: ["agent", { agent_id, input: `Try ${crypto.randomUUID()}` }] }, ["t>Ask"]));
  const { id } = await executed(flow);
  await page.goto(`/runs/${id}`);
  await page.getByRole("tab", { name: "Timeline" }).click();

  await page.getByRole("treeitem", { name: /^Ask/ }).click();

  const attempts = page.getByRole("list", { name: "Attempts" }).getByRole("listitem");
  await expect(attempts).toHaveText([/^Attempt 1.*500/, /^Attempt 2Answered/]);

  await test.step("the error of an attempt is shown whole on a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const isCut = await attempts.getByText(/500/).evaluate((text) => text.scrollWidth > text.clientWidth);
    expect(isCut).toBe(false);
  });
});
