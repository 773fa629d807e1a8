import { signIn } from "#e2e/api/people.ts";
import { expect, newPerson, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";
import { NotificationPage } from "#server/features/notifications/schema.ts";

const key = { name: "Stand-in", secret: "stand-in-secret-key-1234" };

test("sign-up, a wrong password, sign-out", async ({ pageOf }) => {
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

test("an LLM key with a wrong secret: the provider's words, nothing typed is lost, and a right one works", async ({
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

test("leaving a form whose changes the browser cannot keep asks first", async ({ signedInPage: page, agent }) => {
  const { id } = await agent({ name: "Guarded", model: "echo" });
  await page.goto(`/agents/${id}`);
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new Error("The disk is full.");
    };
  });
  await page.getByLabel("Description").fill("changed");
  await page.getByRole("link", { name: "Workflows" }).click();
  await expect(page.getByText("Leave without saving?")).toBeVisible();
  await page.getByRole("button", { name: "Keep editing" }).click();
  await expect(page.getByLabel("Description")).toHaveValue("changed");
});

test("an API key is shown once and works", async ({ signedInPage: page, baseURL }) => {
  await page.goto("/settings/api-keys");
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Nightly");
  await page.keyboard.press("Enter");
  const shown = await page.getByRole("textbox", { name: "API key" }).inputValue();
  const answer = await fetch(`${baseURL}/api/v1/auth/me`, { headers: { authorization: `Bearer ${shown}` } });
  expect(answer.status).toBe(200);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("Nightly")).toBeVisible();
  await page.reload();
  await expect(page.getByText("Nightly")).toBeVisible();
  expect(await page.content()).not.toContain(shown);
});

test("an API key can be for some things, some projects and some time only", async ({ signedInPage: page, baseURL, person }) => {
  await page.goto("/settings/api-keys");
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
  const row = page.getByRole("row", { name: /Reader/ });
  await expect(row).toContainText(`${key.slice(0, 17)}…`);
  await expect(row).toContainText(`read, in ${person.project.name}`);
  await expect(row).toContainText("in 30 d");
  await expect(row).toContainText("127.0.0.1");
});

test("install admins are named in the settings, which nobody else sees", async ({ signedInPage: page, person, pageOf, baseURL }) => {
  await page.goto("/settings/project");
  await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Profile" })).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Settings" }).locator("[aria-current=page]")).toHaveText("Project");
  await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" })).toHaveCount(0);
  const owner = await signIn({ email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" });
  const own = await pageOf(owner);
  await own.goto("/settings/project");
  await own.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" }).click();
  await expect(own.getByRole("table", { name: "Install admins" })).toBeVisible();
  await own.getByRole("button", { name: "Name admin" }).click();
  await own.getByLabel("E-mail").fill(person.email);
  const name = own.getByRole("dialog").getByRole("button", { name: "Name admin" });
  await name.click();
  // Nobody has proven whose the account is, so whoever names it says so.
  await expect(own.getByText("This address is not verified")).toBeVisible();
  const known = own.getByLabel("I know that this account is theirs");
  await expect(name).toBeDisabled();
  await known.click();
  // What was said of one account is not said of the next.
  await own.getByLabel("E-mail").fill((await newPerson(baseURL)).email);
  await expect(known).toHaveCount(0);
  await name.click();
  await expect(own.getByText("This address is not verified")).toBeVisible();
  await own.getByLabel("E-mail").fill(person.email);
  await name.click();
  await known.click();
  await name.click();
  await expect(own.getByRole("row", { name: new RegExp(person.email) }).first()).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/settings/install");
  // The last of the tabs, on a phone: what is open is in view.
  await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" })).toBeInViewport({ ratio: 1 });
  await page
    .getByRole("table", { name: "Install admins" })
    .getByRole("row", { name: new RegExp(person.email) })
    .getByRole("button", { name: /^Actions of/ })
    .click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
  await page.waitForURL(/\/settings\/(?!install)/);
  await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" })).toHaveCount(0);
});

test("an invitation link leads a newcomer into the project, once", async ({ signedInPage: page, pageOf }) => {
  await page.goto("/settings/members");
  await expect(page.getByRole("table", { name: "Members", exact: true })).toBeVisible(); // read once the page takes clicks
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("E-mail").fill(`${crypto.randomUUID()}@example.com`);
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const link = new URL(await page.getByRole("textbox", { name: "Invitation link" }).inputValue());
  const newcomer = await pageOf();
  await newcomer.goto(link.pathname);
  await newcomer.getByLabel("Your name").fill("Vera");
  await newcomer.getByLabel("Password").fill("password-v-1");
  await newcomer.getByRole("button", { name: "Join project" }).click();
  await expect(newcomer.getByRole("navigation", { name: "Main" })).toBeVisible();
  // Away from the studio first: it notices by itself that the session has gone, and leads to the sign-in.
  await newcomer.goto("about:blank");
  await newcomer.context().clearCookies();
  await newcomer.goto(link.pathname);
  await expect(newcomer.getByRole("heading", { name: /has been used/ })).toBeVisible();
});

test("runs can be filtered, and a failed one says why and is counted until it is seen", async ({
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
