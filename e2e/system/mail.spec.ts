import { expect, test } from "@playwright/test";
import { apiClient } from "#e2e/api-client.ts";
import { axeFaults } from "#e2e/axe.ts";
import { startMailServer } from "#e2e/fakes/smtp.ts";
import { startTreadle } from "#e2e/server.ts";
import { firstUser } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { UserProfile } from "#server/features/identity/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

const key = `sk-service-${"mailings".repeat(5)}`;
const env = firstUser(key);
const position = { x: 0, y: 0 };

test.use({ viewport: { width: 390, height: 844 } });

test("a review is decided on a phone by the link in an e-mail; looking at the link decides nothing", { tag: "@main" }, async ({ page }) => {
  const mailServer = await startMailServer();
  mailServer.refuse(1); // the first try is refused: the mail comes all the same
  const server = await startTreadle({ env: { ...env, SMTP_URL: mailServer.url, EMAIL_FROM: "Treadle <treadle@example.com>" } });
  const api = apiClient({ url: server.url, key });
  const config = {
    title: "Publish <b>this</b>?",
    display_value: "**{{trigger.output}}** <script>document.title = 'taken over'</script>",
    notification_email: "pat@example.com",
    timeout_hours: 2,
  };
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "r", type: "humanLoopNode", position, data: { label: "Check", ...config } },
    { id: "o", type: "outputNode", position, data: { label: "Result", value: "{{Check.output}}" } },
  ];
  const edges = [
    { id: "1", source: "t", target: "r" },
    { id: "2", source: "r", target: "o", sourceHandle: "approved" },
  ];
  const { body: flow } = await api.post("/workflows", { name: "Publishing", nodes, edges }, { schema: Workflow, status: 201 });
  const { body: run } = await api.post(`/workflows/${flow.id}/execute`, { input: "Big news" }, { schema: ExecuteResult, status: 202 });
  const execution = async () => (await api.get(`/executions/${run.execution_id}`, { schema: Execution })).body;

  const mail = await until(() => mailServer.mails[0], 120_000);
  expect(mailServer.tries()).toBe(2);
  expect(mail).toMatchObject({
    to: ["pat@example.com"],
    headers: { subject: expect.stringMatching(/^A run on Treadle waits for your decision \([0-9a-f]{8}\)$/) },
  });
  const link = new URL(/http\S+\/review\/\S+/.exec(mail.text)?.[0] ?? "");
  const address = `${server.url}${link.pathname}`;

  // As programs do that look at links before people.
  for (const method of ["GET", "HEAD"]) expect((await fetch(address, { method })).status).toBe(200);
  expect((await execution()).status).toBe("paused");

  await page.goto(address);
  await expect(page.getByRole("heading", { name: "Publish <b>this</b>?" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Content to review" }).locator("strong")).toHaveText("Big news");
  await expect(page).toHaveTitle(/Review/);
  expect(await axeFaults(page)).toEqual([]);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);

  await page.getByLabel("Comment").fill("Go ahead");
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByText("Approved by pat@example.com")).toBeVisible();
  const ended = await until(async () => {
    const current = await execution();
    return isFinal(current.status) ? current : undefined;
  });
  const reviewer = { id: null, email: "pat@example.com", name: "" };
  expect(ended).toMatchObject({ status: "completed", output: "approved: Go ahead", reviews: [{ reviewer, via: "email", role: null }] });

  await page.reload();
  await expect(page.getByText("Approved by pat@example.com")).toBeVisible();
  await expect(page.getByRole("button", { name: "Approve" })).toHaveCount(0);
  await page.goto(`${address.slice(0, -6)}AAAAAA`);
  await expect(page.getByRole("heading", { name: "This link cannot be used" })).toBeVisible();
  await expect(page.getByText("Big news")).toHaveCount(0);

  const { body: profile } = await api.get("/users/me", { schema: UserProfile });
  const member = { email: "kim@example.com", role: "editor" };
  const { body: invited } = await api.post(`/projects/${profile.projects[0]?.id}/members`, member, { status: 201 });
  const invitation = await until(() => mailServer.mails.find(({ to }) => to.includes(member.email)));
  expect(invitation.headers.subject).toBe("You are invited to a project on Treadle");
  // The link in the mail is another one than the admin's: who opens it has read the mail.
  expect(invitation.text).not.toContain(invited.invite_url);
  await page.goto(/(https?:\/\/\S+\/invite\/\S+)/.exec(invitation.text)?.[1] ?? "");
  await expect(page.getByRole("button", { name: "Join project" })).toBeVisible();

  await server.stop();
  await mailServer.stop();
});
