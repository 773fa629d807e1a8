import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type MailServer, startMailServer } from "#e2e/fakes/smtp.ts";
import { until } from "#e2e/until.ts";
import { heldSweep } from "#server/features/emails/held.ts";
import { changeLinkedEmails, getLinkedEmails } from "#server/features/emails/links.ts";
import { outboxSweep, startSending } from "#server/features/emails/send.ts";
import { readMailState, readRecipient } from "#server/features/emails/state.ts";
import { updateProfile } from "#server/features/identity/profile.ts";
import { mailSweep } from "#server/features/notifications/mail.ts";
import { listNotifications } from "#server/features/notifications/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { getReview } from "#server/features/reviews/read.ts";
import { mailReview } from "#server/features/reviews/tell.ts";
import { answerApi } from "#server/http/api.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { queueAccountEmail, queueEmails, tidyEmails, tryServerNow } from "#server/platform/mail/outbox.ts";
import { mailFailure } from "#server/platform/mail/send-mail.ts";
import { setSettings } from "#server/platform/settings.ts";
import { addMember } from "#server/testing/add-member.ts";
import { newPausedRun, openReview } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const APP_URL = "https://treadle.example.com";
const LIMITS = { EMAILS_PER_ADDRESS: "", EMAILS_PER_PROJECT: "", EMAILS_PER_HOUR: "" };
let mailServer: MailServer;
let stopSending: Awaited<ReturnType<typeof startSending>>;
let admin: ProjectPrincipal;
let execution_id: string;

beforeAll(async () => {
  mailServer = await startMailServer();
});
afterAll(() => mailServer.stop());
beforeEach(async () => {
  setSettings({ SMTP_URL: mailServer.url, EMAIL_FROM: "Treadle <treadle@example.com>", APP_URL, ...LIMITS });
  await pool().query("TRUNCATE emails, email_recipients");
  admin = await database.newAdmin();
  execution_id = await newPausedRun(admin);
  mailServer.mails.length = 0;
  mailServer.refuse(0);
  stopSending = await startSending();
});
afterEach(() => stopSending(1000));

const mailsTo = (address: string) => mailServer.mails.filter(({ to }) => to.includes(address));
const unused = () => `${randomUUID()}@example.com`;

/** Waits until nothing is left that could be sent now. */
const isEmpty = () => until(async () => (await db().email.count({ where: { due_at: { not: null } } })) === 0);

/** Has so many reviews ask an address by email. @returns their ids */
async function askBy(address: string, count: number, run = execution_id): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { id } = await openReview(run, "a", { iteration: randomUUID(), title: `Question ${n}`, notification_email: address });
    await mailReview(id);
    ids.push(id);
  }
  return ids;
}

/** As if an hour had passed. */
async function anHourLater(): Promise<void> {
  await pool().query("UPDATE emails SET admitted_at = admitted_at - interval '1 hour'");
  await pool().query("UPDATE email_recipients SET summary_at = summary_at - interval '1 hour'");
  await sweep(outboxSweep);
}

/** An address outside the project that takes its emails. */
async function confirmed(): Promise<string> {
  const address = unused();
  await db().emailRecipient.create({
    data: { project_id: admin.project.id, address, first_sent_at: new Date(), confirmed_at: new Date() },
  });
  return address;
}

const tokenIn = (text: string) => /\/emails\/([\w-]+)/.exec(text)?.[1] ?? "";

test.each(["EMAILS_PER_ADDRESS", "EMAILS_PER_PROJECT", "EMAILS_PER_HOUR"])("what is over %s comes as one summary", async (limit) => {
  setSettings({ [limit]: "3" });
  const address = await confirmed();

  const ids = await askBy(address, 8);
  await isEmpty();
  expect(mailsTo(address)).toHaveLength(3);

  await anHourLater();
  const summary = await until(() => mailsTo(address)[3]);
  expect(summary.headers.subject).toBe("5 emails of a project on Treadle were held back");
  expect(summary.text.match(/\/review\/\S+/g)).toHaveLength(ids.length);
  await isEmpty();
  expect(mailsTo(address)).toHaveLength(4);
});

test("admins get one notification of emails over a limit", async () => {
  setSettings({ EMAILS_PER_ADDRESS: "1" });
  const address = await confirmed();
  await askBy(address, 3);
  await isEmpty();

  for (let n = 0; n < 2; n++) await sweep(heldSweep);

  expect((await listNotifications(admin, { page: 1, per_page: 50 })).items).toMatchObject([
    { kind: "emails_held", title: `Emails to ${address} are over the limit of an hour and come as one summary` },
  ]);
});

test("an email that is queued again is counted once", async () => {
  const address = unused();
  const ids = await askBy(address, 3);
  await isEmpty();

  for (const id of ids) await mailReview(id);
  await isEmpty();

  expect(await db().emailRecipient.findFirstOrThrow({ where: { address } })).toMatchObject({ held: 2 });
});

test("emails that come before the summary go into it", async () => {
  setSettings({ EMAILS_PER_ADDRESS: "1" });
  const address = await confirmed();
  await askBy(address, 2);
  await isEmpty();

  await pool().query("UPDATE emails SET admitted_at = admitted_at - interval '1 hour'");
  await askBy(address, 2);
  await isEmpty();
  expect(mailsTo(address)).toHaveLength(1);

  await anHourLater();
  const summary = await until(() => mailsTo(address)[1]);
  expect(summary.headers.subject).toBe("3 emails of a project on Treadle were held back");
});

test("an address outside the project gets one email until it confirms", async () => {
  const address = unused();
  await askBy(address, 4);
  await isEmpty();
  const [first, ...others] = mailsTo(address);
  expect(others).toEqual([]);
  expect(first?.text).toContain("You get no further emails of the project “Project");

  const token = tokenIn(first?.text ?? "");
  expect(await getLinkedEmails({ token })).toMatchObject({ address, state: "unconfirmed", held: 3 });
  await anHourLater();
  await isEmpty();
  expect(mailsTo(address)).toHaveLength(1); // looking at the link confirms nothing

  expect(await changeLinkedEmails({ token, choice: "confirm" })).toMatchObject({ state: "open" });
  await until(() => mailsTo(address).length === 2);
  expect(mailsTo(address)[1]?.headers.subject).toBe("3 emails of a project on Treadle were held back");
  await isEmpty();
  await askBy(address, 1);
  await until(() => mailsTo(address).length === 3);
});

test("a first email that was not needed any more leaves the address the next one", async () => {
  setSettings({ SMTP_URL: "smtp://127.0.0.1:1" });
  const address = unused();
  const [id] = await askBy(address, 1);
  await until(async () => (await readMailState({ ...admin, ...(await installAdmin()) })).last_error);
  await db().wait.update({ where: { id: id ?? "" }, data: { status: "resolved" } });
  await stopSending(1000);
  setSettings({ SMTP_URL: mailServer.url });
  stopSending = await startSending();
  await isEmpty();
  expect(mailsTo(address)).toEqual([]);

  await askBy(address, 1);

  await until(() => mailsTo(address)[0]);
});

const installAdmin = () => database.newInstallAdmin();

test("a POST without a session stops the emails of one project", async () => {
  const address = await confirmed();
  await askBy(address, 1);
  const { headers } = await until(() => mailsTo(address)[0]);
  expect(headers["list-unsubscribe-post"]).toBe("List-Unsubscribe=One-Click");
  const url = /^<(.+)>$/.exec(headers["list-unsubscribe"] ?? "")?.[1] ?? "";

  const seen = await answerApi(new Request(url));
  expect([seen.status, seen.headers.get("location")]).toEqual([303, `${APP_URL}/emails/${tokenIn(url)}`]);
  expect((await readRecipient(admin, { address })).state).toBe("open");

  const form = { method: "POST", body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) };
  expect((await answerApi(new Request(url, form))).status).toBe(200);
  const [id = ""] = await askBy(address, 2);
  await isEmpty();
  expect(mailsTo(address)).toHaveLength(1);
  expect((await readRecipient(admin, { address })).state).toBe("stopped");
  expect((await getReview(admin, { review_id: id })).recipients).toEqual([{ email: address, state: "stopped" }]);
  expect(await db().auditEntry.findFirst({ where: { project_id: admin.project.id, action: "project.stop_emails" } })).toMatchObject({
    actor_email: address,
    via: "email",
  });

  const other = await database.newAdmin();
  await db().emailRecipient.create({ data: { project_id: other.project.id, address } });
  await askBy(address, 1, await newPausedRun(other));
  await until(() => mailsTo(address).length === 2); // another project's are its own
  await changeLinkedEmails({ token: tokenIn(url), choice: "resume" });
  await askBy(address, 1);
  await until(() => mailsTo(address).length === 3);
});

test("a link that was altered stops nothing", async () => {
  const { status } = await answerApi(new Request(`${APP_URL}/api/emails/${"A".repeat(64)}/unsubscribe`, { method: "POST" }));

  expect(status).toBe(404);
});

test("emails take turns by project", async () => {
  setSettings({ EMAILS_PER_ADDRESS: "0", EMAILS_PER_PROJECT: "0", SMTP_URL: "smtp://127.0.0.1:1" });
  const address = await confirmed();
  const other = await database.newAdmin();
  const [flood, single] = [await askBy(address, 60), await newPausedRun(other)];
  const asked = unused();
  await askBy(asked, 1, single);
  await stopSending(1000);
  await pool().query("UPDATE emails SET due_at = now(), taken_at = NULL WHERE due_at IS NOT NULL");
  const before = mailServer.connections();
  setSettings({ SMTP_URL: mailServer.url });
  stopSending = await startSending();
  await isEmpty();

  const order = mailServer.mails.map(({ to }) => to[0]);
  expect(order).toHaveLength(flood.length + 1);
  expect(order.indexOf(asked)).toBeLessThan(8);
  expect(mailServer.connections() - before).toBeLessThanOrEqual(6);
});

test("emails about accounts count toward no limit of projects", async () => {
  setSettings({ EMAILS_PER_ADDRESS: "1", EMAILS_PER_HOUR: "1" });
  const address = await confirmed();
  await askBy(address, 3);
  await isEmpty();

  await setMember(admin, { project_id: admin.project.id, email: address, role: "viewer" });
  await queueAccountEmail({ message_id: randomUUID(), address, subject: "A new password", text: "Link", html: "Link" });

  await until(() => mailsTo(address).length === 3);
  expect(
    mailsTo(address)
      .map(({ headers }) => headers.subject)
      .slice(1)
      .sort(),
  ).toEqual(["A new password", "You are invited to a project on Treadle"]);
});

test("an email about an account is stored encrypted and deleted once sent", async () => {
  setSettings({ SMTP_URL: "smtp://127.0.0.1:1" });
  const email = { message_id: randomUUID(), address: unused(), subject: "S", text: "the secret link", html: "the secret link" };
  await queueAccountEmail(email);
  const row = () => db().email.findUniqueOrThrow({ where: { message_id: email.message_id } });
  expect(JSON.stringify(await row())).not.toContain("secret link");

  await stopSending(1000);
  setSettings({ SMTP_URL: mailServer.url });
  await pool().query("UPDATE emails SET due_at = now() WHERE due_at IS NOT NULL");
  stopSending = await startSending();
  await until(() => mailsTo(email.address)[0]);
  await until(async () => (await row()).body === null);
});

test("an email that no server took in time comes with the summary", async () => {
  setSettings({ SMTP_URL: "smtp://127.0.0.1:1" });
  const address = unused();
  await askBy(address, 2);
  await stopSending(1000);
  setSettings({ SMTP_URL: mailServer.url });
  await pool().query("UPDATE emails SET expires_at = now(), due_at = now() WHERE due_at IS NOT NULL");
  stopSending = await startSending();

  const summary = await until(() => mailsTo(address)[0]);

  expect(summary.headers.subject).toBe("2 emails of a project on Treadle were held back");
  expect(summary.text).toContain("You get no further emails");
});

test("an address that the server refuses for good is not tried again", async () => {
  const address = unused();
  mailServer.refuse(1, 550);
  const tries = mailServer.tries();

  await askBy(address, 1);

  await isEmpty();
  await sweep(outboxSweep);
  await isEmpty();
  expect(mailServer.tries() - tries).toBe(1);
  expect(await db().email.findFirstOrThrow({ where: { address } })).toMatchObject({ error: expect.stringContaining("Not taken") });
});

test("emails are sent when a mail server is back, and admins see its error", async () => {
  const boss = await installAdmin();
  setSettings({ SMTP_URL: "smtp://user:hush-hush@127.0.0.1:1" });
  const address = await confirmed();
  await askBy(address, 1);
  const state = await until(async () => {
    const now = await readMailState(boss);
    return now.retry_at ? now : undefined;
  });
  expect(state).toMatchObject({ is_on: true, queued: 1, last_error: { message: expect.stringContaining("ECONNREFUSED") } });
  expect(JSON.stringify(state)).not.toContain("hush-hush");
  await expect(readMailState(admin)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });

  await stopSending(1000);
  setSettings({ SMTP_URL: mailServer.url });
  stopSending = await startSending();
  await until(() => mailsTo(address)[0]);
  await until(async () => (await readMailState(boss)).queued === 0);
});

test("another process sends an email whose mail server did not answer", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  setSettings({ SMTP_URL: `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}` });
  const address = unused();
  await askBy(address, 1);
  await until(() => sockets.length > 0);

  await stopSending(1);
  setSettings({ SMTP_URL: mailServer.url });
  stopSending = await startSending();
  expect(mailsTo(address)).toEqual([]); // another process may still be sending it
  await until(async () => (await db().email.updateMany({ where: { address }, data: { due_at: new Date() } })).count === 1);
  await tryServerNow();
  await sweep(outboxSweep);

  await until(() => mailsTo(address)[0]);
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test("the error of the mail server is shown without user and password", () => {
  setSettings({ SMTP_URL: "smtp://the-user:p%40ss-word@127.0.0.1:1" });
  const encoded = Buffer.from("p@ss-word").toString("base64");
  const error = Object.assign(new Error(`Invalid login: 535 the-user p@ss-word p%40ss-word ${encoded}`), {
    code: "EAUTH",
    responseCode: 535,
  });

  expect(mailFailure(error)).toEqual({ kind: "server", message: "Invalid login: 535 •••• •••• •••• ••••" });
});

test("emails over a thousand queued in a project are counted for the summary", async () => {
  setSettings({ SMTP_URL: "smtp://127.0.0.1:1" });
  const address = await confirmed();
  const { project } = admin;
  await stopSending(1000);
  const emails = Array.from({ length: 1003 }, (_, n) => ({
    ...{ message_id: `flood-${project.id}-${n}`, project_id: project.id, address, kind: "review" as const, subject_id: randomUUID() },
  }));

  await queueEmails(emails);
  await queueEmails(emails.slice(995));

  expect(await db().email.count({ where: { project_id: project.id, due_at: { not: null } } })).toBe(1000);
  expect(await db().emailRecipient.findFirstOrThrow({ where: { address } })).toMatchObject({ held: 3, is_untold: true });
});

test("admins get a notification when a project has more than 5,000 addresses", async () => {
  await pool().query(
    "INSERT INTO email_recipients (id, project_id, address) SELECT gen_random_uuid(), $1, n || '@example.com' FROM generate_series(1, 5000) AS n",
    [admin.project.id],
  );

  await askBy(unused(), 1);
  await sweep(heldSweep);

  expect(await db().email.count()).toBe(0);
  expect((await listNotifications(admin, { page: 1, per_page: 50 })).items).toMatchObject([
    { kind: "emails_held", title: "Emails to further addresses are not sent: a project writes to 5000 at most" },
  ]);
});

test("emails of notifications keep to the same limits", async () => {
  setSettings({ EMAILS_PER_PROJECT: "1" });
  const person = await database.newAdmin();
  await addMember(admin, person.user, "viewer");
  await updateProfile(person, { notifications: { budget: { in_app: true, mail: true } } });
  const told = { user_id: person.user.id, project_id: admin.project.id, kind: "budget", title: "Used up", link: "/settings/budgets" };
  await db().notification.createMany({ data: [told, told, told] });

  await sweep(mailSweep);
  await isEmpty();
  const ofProject = () => mailsTo(person.user.email).filter(({ headers }) => headers["list-unsubscribe"]);
  expect(ofProject()).toHaveLength(1);

  await anHourLater();
  const summary = await until(() => ofProject()[1]);
  expect(summary.text).toContain(`${APP_URL}/approvals`);
});

test("ended emails and unused addresses are removed after a day", async () => {
  const address = await confirmed();
  await askBy(address, 1);
  await isEmpty();
  await db().emailRecipient.create({ data: { project_id: admin.project.id, address: unused(), created_at: new Date(0) } });
  await pool().query("UPDATE emails SET created_at = created_at - interval '2 days', admitted_at = admitted_at - interval '2 days'");

  await tidyEmails();

  expect(await db().email.count()).toBe(0);
  expect(await db().emailRecipient.findMany({ select: { address: true } })).toEqual([{ address }]);
});
