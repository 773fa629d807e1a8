import { apiClient } from "#e2e/api-client.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Project } from "#server/features/projects/schema.ts";

// What admins see of what was done, how long runs are kept, and the way out.

test("nearly used up, the hour is told of on every page; an admin says for how many days runs are kept, and changes the limit", async ({
  signedInPage: page,
  api,
  person,
  workflow,
  execute,
}) => {
  const project_id = person.project.id;
  const saved = async () => (await api.get(`/projects/${project_id}`, { schema: Project })).body;
  await api.put(`/projects/${project_id}`, { executions_per_hour: 5 }, { schema: Project });
  const flow = await workflow({ name: "Often" });
  for (let count = 0; count < 4; count++) await execute(flow, { input: "x" });
  await page.goto("/agents");
  const notice = page.getByText("4 of the 5 runs that API, webhooks and schedules may start in an hour are used.");
  await expect(notice).toBeVisible();
  await page.getByRole("link", { name: "Change the limit" }).click();

  // Run history is kept for ever until somebody says otherwise.
  const history = page.getByRole("region", { name: "Run history" });
  await expect(history.getByLabel("Delete old runs")).toBeVisible();
  // What checks a form comes when something is changed; where it does not, nothing is lost.
  await page.route("**/_next/static/chunks/**", (route) => route.abort("internetdisconnected"));
  await history.getByLabel("Delete old runs").check();
  await history.getByLabel("Keep them for").fill("0");
  await history.getByRole("button", { name: "Save run history" }).click();
  await expect(history.getByText("The service cannot be reached.")).toBeVisible();
  await page.unroute("**/_next/static/chunks/**");
  await history.getByRole("button", { name: "Save run history" }).click();
  await expect(history.getByLabel("Keep them for")).toHaveAttribute("aria-invalid", "true");
  await history.getByLabel("Keep them for").fill("14");
  await history.getByRole("button", { name: "Save run history" }).click();
  await expect(page.getByText("Runs are kept for 14 days")).toBeVisible();
  expect((await saved()).retention_days).toBe(14);
  await history.getByLabel("Delete old runs").uncheck();
  await history.getByRole("button", { name: "Save run history" }).click();
  await expect(page.getByText("Runs are kept for ever")).toBeVisible();
  expect((await saved()).retention_days).toBeNull();

  const section = page.getByRole("region", { name: "Runs in an hour" });
  await expect(section).toContainText("4 runs of 5 started within the last hour.");
  await section.getByLabel("Runs in an hour").fill("50");
  await section.getByRole("button", { name: "Save limit" }).click();
  await expect(page.getByText("The limit is saved")).toBeVisible();
  await expect(notice).toBeHidden();
  expect((await saved()).executions_per_hour).toBe(50);
  await section.getByLabel("A limit of its own").uncheck();
  await section.getByRole("button", { name: "Save limit" }).click();
  await expect(section).toContainText("There is no limit.");
});

test("the audit log shows who did what, and deleting the account names what goes with it", { tag: "@main" }, async ({
  signedInPage: page,
  workflow,
  person,
  baseURL,
}) => {
  await test.step("the audit log shows who did what, opens to its details, and is filtered by the address", async () => {
    const { id } = await workflow({ name: "Watched" });
    await page.goto("/settings/audit");
    await expect(page.getByRole("link", { name: "Audit log" })).toHaveAttribute("aria-current", "page");
    const row = page.getByRole("row").filter({ hasText: "Watched" });
    await expect(row).toContainText(person.email);
    await expect(row).toContainText("create");
    await expect(row.getByRole("link", { name: "Watched" })).toHaveAttribute("href", `/workflows/${id}`);
    await row.getByRole("button", { name: "Show details of create Watched" }).click();
    await expect(page.getByRole("table", { name: "Audit log" })).toContainText(id);
    await page.getByRole("combobox", { name: "Resource" }).click();
    await page.getByRole("option", { name: "API key" }).click();
    await expect(page).toHaveURL(/type=platform_key/);
    await expect(row).toHaveCount(0);
    await page.getByRole("combobox", { name: "Who" }).click();
    await page.getByRole("option", { name: person.email }).click();
    await expect(page.getByRole("row")).toHaveCount(2);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect(row).toHaveCount(1);
  });

  await test.step("deleting the account names what goes with it, needs the password, and signs out", async () => {
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Profile" }).click();
    await page.getByRole("button", { name: "Delete account" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete your account?" });
    await expect(dialog).toContainText(person.project.name);
    await expect(dialog.getByRole("button", { name: "Delete account" })).toBeDisabled();
    await dialog.getByLabel("Delete this project too").check();
    await dialog.getByLabel("Your password").fill("wrong");
    await dialog.getByRole("button", { name: "Delete account" }).click();
    await expect(dialog.getByText("This is not your password.")).toBeVisible();
    await dialog.getByLabel("Your password").fill(person.password);
    await dialog.getByRole("button", { name: "Delete account" }).click();
    await page.waitForURL("**/sign-in**");
    await apiClient({ url: baseURL, key: person.api.key }).get("/auth/me", { status: 401 });
  });
});
