import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";

test("a field offers the project's credentials, and one that is missing is a problem that names the nearest", async ({
  signedInPage: page,
  api,
  agent,
  workflow,
}) => {
  await api.post("/credentials", { name: "GITHUB_TOKEN", value: "tok_5f3b0c9d8e7a" }, { status: 201 });
  const { id } = await agent({ name: "Scout", model: "echo" });
  const graph = graphOf({ Start: ["trigger", { kind: "manual" }], First: ["agent", { agent_id: id }] }, ["Start>First"]);
  const flow = await workflow(graph);
  await page.goto(`/workflows/${flow.id}`);
  await page.getByRole("region", { name: "Workflow canvas" }).getByRole("group", { name: "Agent First", exact: true }).click();
  const input = page.getByRole("complementary", { name: "Nodes and settings" }).getByLabel("Input", { exact: true });

  await input.fill("");
  await input.pressSequentially("Ask with {{cred");
  await page.getByRole("option", { name: /credentials\.GITHUB_TOKEN/ }).click();
  await expect(input).toHaveValue("Ask with {{credentials.GITHUB_TOKEN}}");
  await expect(page.getByRole("button", { name: "Run", exact: true })).not.toHaveAttribute("aria-disabled", "true");

  await input.fill("Ask with {{credentials.GITHUB_TOKN}}");
  await page.getByRole("button", { name: "1 problem", exact: true }).click();
  await expect(page.getByText('the project has no credential "GITHUB_TOKN". Did you mean "GITHUB_TOKEN"?').first()).toBeVisible();
});
