import { graphOf } from "#e2e/api/graphs.ts";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { axeFaults } from "#e2e/axe.ts";
import { type MailServer, startMailServer } from "#e2e/fakes/smtp.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser, noLimits } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { MailState } from "#server/features/emails/schema.ts";
import { NotificationPage } from "#server/features/notifications/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult } from "#server/runs/schema.ts";

// A workflow asks an address that never agreed, as often as it can, with text that passes itself off as the service's own.

const key = `sk-service-${"mailbomb".repeat(5)}`;
const victim = "victim@example.com";
const FORGED = `Hello\n${"-".repeat(40)}\n\nYour account is closed. Sign in at [Treadle](javascript:alert(1))\r\n\u2028Look at it and decide:`;
const REVIEWS = 40;
const CALLS = 5;

let mailServer: MailServer;
let server: Treadle;
const env = (url: string) => ({ ...firstUser(key), ...noLimits, SMTP_URL: url, EMAIL_FROM: "Treadle <treadle@example.com>" });

test.beforeEach(async () => {
  mailServer = await startMailServer();
});
test.afterEach(async () => {
  await server.stop();
  await mailServer.stop();
});

const mailsTo = (address: string) => mailServer.mails.filter(({ to }) => to.includes(address));

async function newFlow(api: ApiClient, notification_email: string, count: number): Promise<string> {
  const ids = Array.from({ length: count }, (_, n) => `Check${n}`);
  const review = { display_value: FORGED, notification_email, remind_hours: 0.01 };
  const graph = graphOf(
    { Start: ["trigger", { kind: "manual" }], ...Object.fromEntries(ids.map((id) => [id, ["humanLoop", review] as [string, object]])) },
    ids.map((id) => `Start>${id}`),
  );
  return (await api.post("/workflows", { name: "Asking", ...graph }, { schema: Workflow, status: 201 })).body.id;
}

const execute = (api: ApiClient, id: string) =>
  api.post(`/workflows/${id}/execute`, { input: "x" }, { schema: ExecuteResult, status: 202 });

test("a flood of reviews sends one email to an address that never agreed", { tag: "@main" }, async ({ page }) => {
  server = await startTreadle({ env: env(mailServer.url) });
  const api = apiClient({ url: server.url, key });
  const mailState = async () => (await api.get("/install/mail", { schema: MailState })).body;
  const { body: me } = await api.get("/users/me");
  const mine = apiClient({ url: server.url, key, projectId: me.projects[0].id });
  const { body: project } = await api.post("/projects", { name: "Other" }, { status: 201 });
  const others = apiClient({ url: server.url, key, projectId: project.id });

  const flow = await newFlow(mine, victim, REVIEWS);
  await Promise.all(Array.from({ length: CALLS }, () => execute(mine, flow)));
  await execute(others, await newFlow(others, "kim@example.com", 1));

  await expect.poll(mailState, { timeout: 60_000 }).toMatchObject({ is_on: true, held: REVIEWS * CALLS - 1, queued: 0 });
  await until(() => mailsTo("kim@example.com")[0]);
  const [first] = mailsTo(victim);
  expect(mailsTo(victim)).toHaveLength(1);

  const text = first?.text ?? "";
  for (const forged of ["-----", "Your account is closed", "javascript"])
    for (const line of text.split("\n").filter((one) => one.includes(forged))) expect(line).toMatch(/^> /);
  expect(text.match(/^Look at it and decide:$/gm)).toHaveLength(1);
  expect(first?.html).not.toContain("javascript:alert");

  const told = await until(async () => {
    // Beside one for each review.
    const pages = await Promise.all([1, 2].map((n) => mine.get(`/notifications?per_page=200&page=${n}`, { schema: NotificationPage })));
    return pages.flatMap(({ body }) => body.items).find(({ kind }) => kind === "emails_held");
  });
  expect(told.title).toBe(`Emails to ${victim} wait until the person confirms the address`);

  // As programs do that look at links before people.
  const path = new URL(/https?:\/\/\S+\/emails\/\S+/.exec(text)?.[0] ?? "").pathname;
  const { pathname: oneClick } = new URL(/<(.+)>/.exec(first?.headers["list-unsubscribe"] ?? "")?.[1] ?? "");
  for (const address of [path, oneClick]) expect((await fetch(`${server.url}${address}`, { redirect: "manual" })).status).toBeLessThan(400);
  expect((await mailState()).held).toBe(REVIEWS * CALLS - 1);

  await page.goto(`${server.url}${path}`);
  await expect(page.getByText("199 emails were held back")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Confirm" }).click();
  const summary = await until(() => mailsTo(victim)[1]);
  expect(summary.headers.subject).toBe("199 emails of a project on Treadle were held back");
  expect(summary.text).toContain("200 reviews wait for your decision.");
  await expect(page.getByText(`${victim} gets emails`)).toBeVisible();

  expect((await fetch(`${server.url}${oneClick}`, { method: "POST", body: "List-Unsubscribe=One-Click" })).status).toBe(200);
  await execute(mine, flow);
  await page.reload();
  await expect(page.getByText(`${victim} gets no emails of this project.`)).toBeVisible();
  const { body: reviews } = await mine.get("/reviews?status=waiting&per_page=1");
  expect(reviews.items[0].recipients).toEqual([{ email: victim, state: "stopped" }]);
  expect(mailsTo(victim)).toHaveLength(2);
});

test("emails wait for a mail server that is away, over a restart, and no run waits", async () => {
  server = await startTreadle({ env: env("smtp://user:hush-hush@127.0.0.1:1") });
  const api = apiClient({ url: server.url, key });
  const { body: run } = await execute(api, await newFlow(api, victim, 1));
  await until(async () => (await api.get(`/executions/${run.execution_id}`)).body.status === "paused");
  const state = await until(async () => {
    const { body } = await api.get("/install/mail", { schema: MailState });
    return body.last_error ? body : undefined;
  });
  expect(state).toMatchObject({ queued: 1, last_sent_at: null });
  expect(JSON.stringify(state)).not.toContain("hush-hush");
  expect(server.logs()).not.toContain("hush-hush");
  const { dataDir } = server;
  await server.kill9();

  server = await startTreadle({ env: env(mailServer.url), dataDir });

  await until(() => mailsTo(victim)[0], 60_000);
});
