import { createHmac } from "node:crypto";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { WebhookSetup } from "#server/features/webhooks/schema.ts";
import { UpdatedWorkflow } from "#server/features/workflows/schema.ts";
import { ExecutionPage } from "#server/runs/schema.ts";

test("a refused delivery is shown with its reason, and runs again", async ({ signedInPage: page, api, baseURL, workflow }) => {
  const nodes = { Start: ["trigger", { kind: "webhook" }], Answer: ["output", {}] } as Parameters<typeof graphOf>[0];
  const { id } = await workflow({ name: "Orders", ...graphOf(nodes, ["Start>Answer"]) });
  const { body: setup } = await api.post(`/webhooks/setup/${id}`, {}, { schema: WebhookSetup });
  await api.put(`/workflows/${id}`, { enabled: false }, { schema: UpdatedWorkflow });
  const body = '{"order":7}';
  const signature = `sha256=${createHmac("sha256", setup.webhook_secret).update(body).digest("hex")}`;
  const headers = { "content-type": "application/json", "X-SERVICE-Signature": signature };
  const delivery = await fetch(`${baseURL}/api/v1/webhooks/${id}`, { method: "POST", headers, body });
  expect(delivery.status).toBe(409);
  const [left] = (await api.get(`/executions?workflow_id=${id}`, { schema: ExecutionPage })).body.items;
  if (!left) throw new Error("The delivery left no run.");

  await page.goto(`/runs/${left.id}`);
  await expect(page.getByText("Never started", { exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Result" })).toContainText("This workflow is disabled");
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await page.getByRole("menuitem", { name: /^Version \d+, same input$/ }).click();

  await expect(page.getByRole("link", { name: /^Rerun of/ })).toBeVisible();
  await expect(page.getByRole("region", { name: "Result" })).toContainText("order");
});
