import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { node } from "#e2e/ui/locators.ts";
import { AuditPage } from "#server/features/audit/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

const trigger = {
  id: "t",
  type: "triggerNode",
  position: { x: 0, y: 0 },
  data: { label: "Start", kind: "schedule", cron_expression: "0 9 * * *" },
};
const output = { id: "o", type: "outputNode", position: { x: 330, y: 0 }, data: { label: "Result", value: "one" } };
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });

test("the draft keeps itself, Publish makes it run, problems hold it back, and the switch needs neither", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  workflow,
  agent: newAgent,
}) => {
  await newAgent({ name: "Scout", model: "echo" });
  const flow = await workflow({ name: "Digest", nodes: [trigger, output], edges: [edge("t", "o")] });
  const now = async () => (await api.get(`/workflows/${flow.id}`, { schema: Workflow })).body;
  await page.goto(`/workflows/${flow.id}`);
  const publish = page.getByRole("button", { name: "Publish", exact: true });
  const header = page.locator("header");
  await expect(publish).toHaveText("Published");
  await expect(publish).toHaveAttribute("aria-disabled", "true");

  // What is changed is kept as a draft; what runs stays as it is.
  await node(page, "Output Result").click();
  const value = page.getByRole("complementary", { name: "Nodes and settings" }).getByLabel("Value", { exact: true });
  await value.fill("two");
  await expect(publish).toHaveText("Publish");
  await expect(publish).not.toHaveAttribute("aria-disabled");
  await expect(header.getByText("Saved", { exact: true })).toBeVisible();
  expect((await now()).version).toBe(1);

  // The switch counts at once and takes nothing of the draft along.
  const power = page.getByRole("switch", { name: "Workflow on" });
  await expect(power).toBeChecked();
  await power.click();
  await expect(power).not.toBeChecked();
  await expect.poll(async () => (await now()).enabled).toBe(false);
  expect(await now()).toMatchObject({ version: 2, schedule: { next_fires: [] } });
  expect((await now()).nodes[1]?.data.value).toBe("one");
  await expect(publish).toHaveText("Publish");
  const { body: audit } = await api.get("/audit?action=workflow.update", { schema: AuditPage });
  expect(audit.items.filter(({ resource_id }) => resource_id === flow.id)).toHaveLength(1);
  await power.click();
  await expect.poll(async () => (await now()).enabled).toBe(true);

  // A letter alone publishes from the canvas, not where one types.
  await value.press("Shift+P");
  await expect(value).toHaveValue("twoP");
  await value.fill("two");
  await node(page, "Trigger Start").focus();
  await page.keyboard.press("Shift+P");
  await expect(page.getByText("Version 4 published")).toBeVisible();
  await expect(publish).toHaveText("Published");
  expect((await now()).nodes[1]?.data.value).toBe("two");

  // What would stop a run is shown in place of publishing it, each with the way to its field.
  await page.keyboard.press("n");
  await page.getByRole("combobox", { name: "Search nodes" }).fill("agent");
  await page.keyboard.press("Enter");
  await expect(node(page, "Agent")).toBeFocused();
  await expect(publish).toHaveAttribute("aria-disabled", "true");
  await page.keyboard.press("Control+s");
  const panel = page.getByRole("dialog", { name: "Publish" });
  await expect(panel.getByRole("region", { name: "Problems" })).toContainText("Choose an agent.");
  await expect(panel.getByRole("button", { name: "Publish version 5" })).toBeDisabled();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await panel.getByRole("button", { name: "Go to fix" }).click();
  await expect(page.getByRole("combobox", { name: "Agent", exact: true })).toBeFocused();
  expect((await now()).version).toBe(4);
});
