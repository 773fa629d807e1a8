import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "#e2e/fixtures.ts";

/** No fault that axe finds by the rules of WCAG 2.2 AA, contrast included. */
async function expectAccessible(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`)).toEqual([]);
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`the sign-in page, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto("/sign-in");
    await expectAccessible(page);
  });

  test(`the lists, empty and filled, ${colorScheme}`, async ({ signedInPage: page, agent, workflow }) => {
    await page.emulateMedia({ colorScheme });
    const lists = ["/workflows", "/agents", "/keys", "/settings/members", "/settings/api-keys", "/settings/profile", "/docs/api"];
    for (const path of lists) {
      await page.goto(path);
      await expectAccessible(page);
    }
    const scout = await agent({ name: "Scout", model: "echo" });
    await workflow({ name: "Morning report" });
    await page.goto("/agents");
    await expect(page.getByRole("link", { name: scout.name })).toBeVisible();
    await expectAccessible(page);
    await page.goto("/workflows");
    await expect(page.getByRole("link", { name: "Morning report" })).toBeVisible();
    await expectAccessible(page);
  });
}
