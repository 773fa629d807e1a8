import { apiClient } from "#e2e/api-client.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Project } from "#server/features/projects/schema.ts";

// What admins see of what was done, how long runs are kept, and the way out.

test("the audit log shows who did what, opens to its details, and is filtered by the address", async ({
  signedInPage: page,
  workflow,
  person,
}) => {
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

test("who is no admin is told so in place of the audit log", async ({ newUser, pageOf }) => {
  const viewer = await newUser({ role: "viewer" });
  const page = await pageOf(viewer);
  await page.goto("/settings/audit");
  await expect(page.getByText("Only admins read the audit log; you are viewer in this project.")).toBeVisible();
});

test("run history is kept for ever until an admin says for how many days", async ({ signedInPage: page, api, person }) => {
  const saved = async () => (await api.get(`/projects/${person.project.id}`, { schema: Project })).body.retention_days;
  await page.goto("/settings/limits");
  const section = page.getByRole("region", { name: "Run history" });
  await expect(section.getByLabel("Delete old runs")).toBeVisible();
  // What checks a form comes when something is changed; where it does not, nothing is lost.
  await page.route("**/_next/static/chunks/**", (route) => route.abort("internetdisconnected"));
  await section.getByLabel("Delete old runs").check();
  await section.getByLabel("Keep them for").fill("0");
  await section.getByRole("button", { name: "Save run history" }).click();
  await expect(section.getByText("The service cannot be reached.")).toBeVisible();
  await page.unroute("**/_next/static/chunks/**");
  await section.getByRole("button", { name: "Save run history" }).click();
  await expect(section.getByLabel("Keep them for")).toHaveAttribute("aria-invalid", "true");
  await section.getByLabel("Keep them for").fill("14");
  await section.getByRole("button", { name: "Save run history" }).click();
  await expect(page.getByText("Runs are kept for 14 days")).toBeVisible();
  expect(await saved()).toBe(14);
  await section.getByLabel("Delete old runs").uncheck();
  await section.getByRole("button", { name: "Save run history" }).click();
  await expect(page.getByText("Runs are kept for ever")).toBeVisible();
  expect(await saved()).toBeNull();
});

test("nearly used up, the hour is told of on every page, and an admin changes the limit", async ({
  signedInPage: page,
  api,
  person,
  workflow,
  execute,
}) => {
  const project_id = person.project.id;
  await api.put(`/projects/${project_id}`, { executions_per_hour: 5 }, { schema: Project });
  const flow = await workflow({ name: "Often" });
  for (let count = 0; count < 4; count++) await execute(flow, { input: "x" });
  await page.goto("/agents");
  const notice = page.getByText("4 of the 5 runs that API, webhooks and schedules may start in an hour are used.");
  await expect(notice).toBeVisible();
  await page.getByRole("link", { name: "Change the limit" }).click();
  const section = page.getByRole("region", { name: "Runs in an hour" });
  await expect(section).toContainText("4 runs of 5 started within the last hour.");
  await section.getByLabel("Runs in an hour").fill("50");
  await section.getByRole("button", { name: "Save limit" }).click();
  await expect(page.getByText("The limit is saved")).toBeVisible();
  await expect(notice).toBeHidden();
  expect((await api.get(`/projects/${project_id}`, { schema: Project })).body.executions_per_hour).toBe(50);
  await section.getByLabel("A limit of its own").uncheck();
  await section.getByRole("button", { name: "Save limit" }).click();
  await expect(section).toContainText("There is no limit.");
});

test("deleting the account names what goes with it, needs the password, and signs out", async ({ signedInPage: page, person, baseURL }) => {
  await page.goto("/settings/profile");
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

test("the last admin of others is told whom it concerns before anything is asked", async ({ signedInPage: page, person, newUser }) => {
  await newUser({ role: "editor" });
  await page.goto("/settings/profile");
  await page.getByRole("button", { name: "Delete account" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete your account?" });
  await expect(dialog).toContainText("Somebody else has to be admin first");
  await expect(dialog).toContainText(person.project.name);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(dialog).toHaveCount(0);
});
