import { expect, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";
import { NotificationPage } from "#server/features/notifications/schema.ts";

const key = { name: "Stand-in", secret: "stand-in-secret-key-1234" };

test("sign-up, a wrong password, sign-out", { tag: "@main" }, async ({ pageOf }) => {
  const page = await pageOf();
  const email = `${crypto.randomUUID()}@example.com`;
  await page.goto("/sign-up");
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByText("Give it a name.")).toBeVisible();
  await page.getByLabel("Your name").fill("Uma Isaksen");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill("password-ui-1");
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();

  await expect(page.getByText("Models are called on your own account.")).toBeVisible(); // read once the page takes clicks
  await page.getByRole("button", { name: /Account of/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/sign-in/);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill("not-this-one");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert").filter({ hasText: /password/i })).toBeVisible();
});

test("an LLM key with a wrong secret: the provider's words, nothing typed is lost, and a right one works", { tag: "@main" }, async ({
  signedInPage: page,
  modelServer,
}) => {
  const addKey = async (name: string, secret: string) => {
    await page.getByRole("button", { name: "Add key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Provider").click();
    await page.getByRole("option", { name: "OpenAI-compatible" }).click();
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    await dialog.getByLabel("API key").fill(secret);
    await dialog.getByLabel("Base URL").fill(modelServer.url);
    await dialog.getByRole("button", { name: "Add key" }).click();
    return dialog;
  };
  await page.goto("/agents/new");
  await page.getByLabel("Name", { exact: true }).fill("Scout");
  // It is said when it is added, and saved all the same if that is wanted.
  const refused = await addKey("Wrong", "wrong-key");
  await expect(refused.getByRole("alert")).toContainText("This key was refused by OpenAI-compatible (401): Incorrect API key provided");
  await refused.getByRole("button", { name: "Save anyway" }).click();
  await expect(refused).toBeHidden();
  await expect(page.getByRole("status").filter({ hasText: "This key was refused" })).toBeVisible();
  await page.getByRole("combobox", { name: "Model" }).fill("echo");
  await page.keyboard.press("Escape");
  await page.getByLabel("System prompt").fill("Answer with what you were told.");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "Not created: the check call failed" })).toContainText(
    "Incorrect API key provided",
  );
  await expect(page.getByLabel("System prompt")).toHaveValue("Answer with what you were told.");

  await expect(await addKey(key.name, key.secret)).toBeHidden();
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page).toHaveURL(/agents\/[0-9a-f-]{36}/);
  await page.getByLabel("Message", { exact: true }).fill("Hello loom");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Echo: Hello loom")).toBeVisible();

  await page.goto("/keys");
  await expect(page.getByText(key.name)).toBeVisible();
  expect(await page.content()).not.toContain(key.secret);
  await chooseOf(page, key.name, "Delete");
  await page.getByRole("button", { name: "Delete key" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "Scout" })).toBeVisible();
});

test("an API key is shown once and works, or is for some things, some projects and some time only", { tag: "@main" }, async ({
  signedInPage: page,
  baseURL,
  person,
}) => {
  await page.goto("/settings/api-keys");
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Nightly");
  await page.keyboard.press("Enter");
  const shown = await page.getByRole("textbox", { name: "API key" }).inputValue();
  const answer = await fetch(`${baseURL}/api/v1/auth/me`, { headers: { authorization: `Bearer ${shown}` } });
  expect(answer.status).toBe(200);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("Nightly")).toBeVisible();

  await page.getByRole("button", { name: "Create API key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Reader");
  await dialog.getByLabel("Expires after").click();
  await page.getByRole("option", { name: "30 days" }).click();
  for (const scope of ["Read", "Run", "Write"]) await dialog.getByRole("checkbox", { name: scope, exact: true }).uncheck();
  await dialog.getByRole("button", { name: "Create key" }).click();
  await expect(dialog.getByRole("alert").filter({ hasText: "at least one scope" })).toBeVisible();
  await dialog.getByRole("checkbox", { name: "Read", exact: true }).check();
  await dialog.getByRole("checkbox", { name: "All of mine" }).uncheck();
  await expect(dialog.getByRole("checkbox", { name: person.project.name })).toBeChecked();
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByRole("textbox", { name: "API key" }).inputValue();
  await page.getByRole("button", { name: "Done" }).click();
  const send = (method: string) => fetch(`${baseURL}/api/v1/workflows`, { method, headers: { authorization: `Bearer ${key}` } });
  expect([(await send("GET")).status, (await send("POST")).status]).toEqual([200, 403]);
  await page.reload();
  await expect(page.getByText("Nightly")).toBeVisible();
  expect(await page.content()).not.toContain(shown);
  const row = page.getByRole("row", { name: /Reader/ });
  await expect(row).toContainText(`${key.slice(0, 17)}…`);
  await expect(row).toContainText(`read, in ${person.project.name}`);
  await expect(row).toContainText("in 30 d");
  await expect(row).toContainText("127.0.0.1");
});

test("runs can be filtered, and a failed one says why and is counted until it is seen", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  agent,
  workflow,
  executed,
}) => {
  const position = { x: 0, y: 0 };
  const scout = await agent({ model: "late-status-500" });
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position, data: { label: "Research", agent_id: scout.id, retries: 0 } },
  ];
  const flow = await workflow({ name: "Doomed", nodes, edges: [{ id: "e", source: "t", target: "a" }] });
  await executed(flow, { input: "x" });
  const told = async () => (await api.get("/notifications", { schema: NotificationPage })).body.items.map(({ title }) => title);
  await expect.poll(told, { timeout: 30_000 }).toContainEqual(expect.stringContaining("A run of Doomed failed"));
  await page.goto("/");
  const runs = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /^Runs/ });
  await expect(runs).toHaveAccessibleName(/Runs\s*\d+ failed/);
  await page.getByRole("button", { name: /^Notifications, \d+ unread/ }).click();
  await expect(page.getByRole("link", { name: /A run of Doomed failed/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await runs.click();
  await expect(runs).toHaveAccessibleName("Runs");
  const row = page.getByRole("row", { name: /Doomed/ });
  await expect(row).toContainText("Failed");
  await expect(row).toContainText("500");
  await page.getByRole("button", { name: "Status: Any status" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Completed" }).click();
  await page.keyboard.press("Escape");
  await expect(page.getByText("No run matches these filters.")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(row).toBeVisible();
});

test("a page that a link leads to is fetched ahead when somebody turns to it, and not before", async ({ signedInPage: page }) => {
  const ahead: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (searchParams.has("_rsc")) ahead.push(pathname);
  });
  await page.goto("/agents");
  const places = page.getByRole("navigation", { name: "Main" });
  await places.getByRole("link", { name: "Skills" }).hover();
  await expect.poll(() => ahead).toContain("/skills");
  await places.getByRole("link", { name: "Knowledge" }).focus();
  await expect.poll(() => ahead).toContain("/knowledge");
  await page.mouse.move(-1, -1); // beside everything on the next page, which leads to every chapter
  await page.goto("/docs/security");
  await page.getByRole("navigation", { name: "Guide" }).getByRole("link", { name: "Triggers" }).hover();
  await expect.poll(() => ahead).toContain("/docs/triggers");
  expect([...new Set(ahead)]).toEqual(["/skills", "/knowledge", "/docs/triggers"]);
});
