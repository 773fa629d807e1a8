import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type MailServer, startMailServer } from "#e2e/fakes/smtp.ts";
import { until } from "#e2e/until.ts";
import { outboxSweep, startSending } from "#server/features/emails/send.ts";
import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { getInvitation } from "#server/features/identity/invitations.ts";
import { updateProfile } from "#server/features/identity/profile.ts";
import { failureNoticeSweep } from "#server/features/notifications/failures.ts";
import { mailSweep } from "#server/features/notifications/mail.ts";
import { listNotifications, markRead } from "#server/features/notifications/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { decideByLink } from "#server/features/reviews/link.ts";
import { mailReview, tellReviewers } from "#server/features/reviews/tell.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { JobWorker } from "#server/jobs/postgres/worker.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { setSettings } from "#server/platform/settings.ts";
import { announceReviews } from "#server/runs/waits/sweep-waits.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { addMember } from "#server/testing/add-member.ts";
import { startTestJobs } from "#server/testing/jobs.ts";
import { inSeconds, newPausedRun, openReview } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let mailServer: MailServer;
let worker: JobWorker;
let stopSending: Awaited<ReturnType<typeof startSending>>;
let admin: ProjectPrincipal;
let execution_id: string;

beforeAll(async () => {
  mailServer = await startMailServer();
  setSettings({ SMTP_URL: mailServer.url, EMAIL_FROM: "Treadle <treadle@example.com>", APP_URL: "https://treadle.example.com" });
  worker = await startTestJobs();
  stopSending = await startSending();
});
afterAll(async () => {
  await Promise.all([worker.stop(1000), stopSending(1000)]);
  await mailServer.stop();
});
beforeEach(async () => {
  admin = await database.newAdmin();
  execution_id = await newPausedRun(admin, "Tea & <b>Biscuits</b>");
  mailServer.mails.length = 0;
});

const manual = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } };
const page = { page: 1, per_page: 50 };
const address = () => `${crypto.randomUUID()}@example.com`;
const mailsTo = (email: string) => mailServer.mails.filter(({ to }) => to.includes(email));
const mailTo = (email: string) => until(() => mailsTo(email)[0]);

async function member(role: Role): Promise<ProjectPrincipal> {
  const other = await database.newAdmin();
  await addMember(admin, other.user, role);
  return { ...other, project: admin.project, role };
}

test("an open review is told to whoever may decide, in the web app and by e-mail, and the link in it decides", async () => {
  const [editor, approver, viewer] = [await member("editor"), await member("approver"), await member("viewer")];
  const email = address();
  const { id } = await openReview(execution_id, "a", {
    title: "Ship <it>?\r\nBcc: all@example.com",
    description: "Über & <script>alert(1)</script>",
    display_value: `"quoted" <img src=x onerror=alert(1)>\nsecond line ${"long ".repeat(30)}`,
    due_at: new Date("2099-01-02T03:04:05Z"),
    notification_email: email,
  });
  await announceReviews([id]);
  await announceReviews([id]);
  const mail = await mailTo(email);
  expect(mail).toMatchObject({ from: "treadle@example.com", to: [email] });
  expect(mail.headers).toMatchObject({
    from: "Treadle <treadle@example.com>",
    to: email,
    subject: `A run on Treadle waits for your decision (${id.slice(-8)})`,
  });
  expect(mail.headers.bcc).toBeUndefined();
  expect(mail.headers["message-id"]).toBe(`<review-${id}@treadle.example.com>`);
  for (const part of [
    "Ship <it>? Bcc: all@example. com",
    "Tea & <b>Biscuits</b>",
    "Über & <script>",
    '> "quoted" <img src=x onerror=alert(1)>\n> second line',
    "2099-01-02 03:04 UTC",
  ])
    expect(mail.text).toContain(part);
  expect(mail.html).toContain("Tea &amp; &lt;b&gt;Biscuits&lt;/b&gt;");
  expect(mail.html).toContain("&quot;quoted&quot; &lt;img src=x onerror=alert(1)&gt;");
  for (const live of ["<script", "<img", "<b>", "<it>"]) expect(mail.html).not.toContain(live);

  const list = (who: ProjectPrincipal) => listNotifications(who, page);
  for (const who of [admin, editor, approver]) {
    expect(await list(who)).toMatchObject({
      total: 1,
      unread: 1,
      items: [{ kind: "review", link: `/runs/${execution_id}`, read_at: null }],
    });
  }
  expect((await list(viewer)).total).toBe(0);

  const token = /https:\/\/treadle\.example\.com\/review\/(\S+)/.exec(mail.text)?.[1] ?? "";
  expect(mail.html).toContain(`href="https://treadle.example.com/review/${token}"`);
  expect(await decideByLink({ token, decision: "approved" })).toMatchObject({ status: "approved", reviewer: { email } });
  expect(await list(editor)).toMatchObject({ total: 1, unread: 0 });
});

test("told twice, each member has one notification, and one who read it is not told again", async () => {
  const { id } = await openReview(execution_id, "a");
  await Promise.all([tellReviewers(id), tellReviewers(id)]);
  await markRead(admin, {});
  await tellReviewers(id);
  expect(await listNotifications(admin, page)).toMatchObject({ total: 1, unread: 0 });
  expect((await db().wait.findUniqueOrThrow({ where: { id } })).notified_at).not.toBeNull();
});

test("a mail that the server does not take is sent again, and the run is not disturbed", async () => {
  const email = address();
  const { id } = await openReview(execution_id, "a", { notification_email: email });
  mailServer.refuse(1);
  await mailReview(id);
  const again = await until(() => db().email.findFirst({ where: { address: email, error: { contains: "Not taken" } } }));
  expect(mailsTo(email)).toEqual([]);
  await db().email.update({ where: { id: again.id }, data: { due_at: new Date() } });
  await sweep(outboxSweep);
  await mailTo(email);
  expect((await db().execution.findUniqueOrThrow({ where: { id: execution_id } })).status).toBe("paused");
});

test("texts of any length make a mail and a notification that can be read", async () => {
  const email = address();
  const long = `${"x".repeat(198)}😀 ${"word ".repeat(10_000)}`;
  const { id } = await openReview(execution_id, "a", { title: long, description: long, display_value: long, notification_email: email });
  await tellReviewers(id);
  await mailReview(id);
  const mail = await mailTo(email);
  expect(mail.text.length).toBeLessThan(10_000);
  expect(mail.text).toContain(`“${"x".repeat(79)}…”`);
  expect((await listNotifications(admin, page)).items[0]?.title).toBe(`${"x".repeat(198)}\ufffd… (Tea & <b>Biscuits</b>)`);
});

test("nobody is told of a review that is decided, nor by mail of one that names no address", async () => {
  const email = address();
  const [decided, silent] = [
    await openReview(execution_id, "a", { notification_email: email }),
    await openReview(execution_id, "b", { due_at: inSeconds(60) }),
  ];
  await approveExecution(admin, { execution_id, node_id: "a", decision: "approved" });
  const tries = mailServer.tries();
  for (const { id } of [decided, silent]) {
    await tellReviewers(id);
    await mailReview(id);
  }
  expect(mailServer.tries()).toBe(tries);
  expect((await listNotifications(admin, page)).items.map(({ title }) => title)).toEqual(["Good? (Tea & <b>Biscuits</b>)"]);
});

test("unread ones come first, and reading some leaves the others and those of others", async () => {
  const editor = await member("editor");
  for (const node_id of ["a", "b"]) await tellReviewers((await openReview(execution_id, node_id, { title: node_id })).id);
  const [newest] = (await listNotifications(admin, page)).items;
  await markRead(admin, { ids: [newest?.id ?? "", "nonsense"] });
  const { items, unread } = await listNotifications(admin, page);
  expect(items.map(({ title, read_at }) => [title.slice(0, 1), read_at === null])).toEqual([
    ["a", true],
    ["b", false],
  ]);
  expect(unread).toBe(1);
  await markRead(editor, { ids: items.map(({ id }) => id) });
  expect((await listNotifications(editor, page)).unread).toBe(2);
});

test("an invitation is sent by e-mail, and a mail server that refuses it is no error", async () => {
  const email = address();
  const { invite_url } = await setMember(admin, { project_id: admin.project.id, email, role: "viewer" });
  const mail = await mailTo(email);
  expect(invite_url).toMatch(/^https:\/\/treadle\.example\.com\/invite\//);
  // Who was given the one link has not read that mail: the mail has another, which proves it.
  expect(mail.text).not.toContain(invite_url);
  const token = /https:\/\/treadle\.example\.com\/invite\/(\S+)/.exec(mail.text)?.[1] ?? "";
  expect(await getInvitation({ token })).toMatchObject({ email, role: "viewer" });
  const { id } = await acceptInvitation({ token, name: "Reader", password: "correct horse battery" }, null);
  expect((await db().user.findUniqueOrThrow({ where: { id } })).email_verified_at).not.toBeNull();
  expect(mail.headers.subject).toBe("You are invited to a project on Treadle");
  const tries = mailServer.tries();
  mailServer.refuse(1);
  const refused = address();
  expect(await setMember(admin, { project_id: admin.project.id, email: refused, role: "viewer" })).toMatchObject({ status: "invited" });
  await until(() => mailServer.tries() > tries);
  expect(mailsTo(refused)).toEqual([]);
});

/** A run of a saved version that has failed just now, or at another time. */
async function failedRun(workflow_id: string, error: string, more: { completed_at?: Date; isDraft?: boolean; trigger?: string } = {}) {
  const workflow = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const { completed_at = new Date(), isDraft = false, trigger = "api" } = more;
  const { id } = await db().execution.create({
    data: {
      ...{ project_id: workflow.project_id, workflow_id, snapshot_id: workflow.snapshot_id, trigger, status: "failed", error },
      ...{ workflow_version: isDraft ? null : workflow.version, started_at: completed_at, completed_at },
    },
  });
  return id;
}

test("members are told of failed runs once a workflow and hour, with their number, and by e-mail who asked for it", async () => {
  const viewer = await member("viewer");
  expect(await updateProfile(viewer, { notify_run_failed: true })).toMatchObject({ notify_run_failed: true, name: viewer.user.name });
  const { id: workflow_id } = await createWorkflow(admin, { name: "Digest", nodes: [manual], edges: [] });
  // Both in one hour, whenever this test runs.
  const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
  const first = await failedRun(workflow_id, "It broke.\nhttps://evil.example/login", { completed_at: hour });
  await failedRun(workflow_id, "Tried on the canvas", { isDraft: true });
  await failedRun(workflow_id, "In a run of its parent", { trigger: "workflow" });
  await failedRun(workflow_id, "Long ago", { completed_at: new Date(Date.now() - 3 * 3_600_000) });
  await Promise.all([sweep(failureNoticeSweep), sweep(failureNoticeSweep)]);
  await Promise.all([sweep(mailSweep), sweep(mailSweep)]);
  const list = (who: ProjectPrincipal) => listNotifications(who, page);
  for (const who of [admin, viewer])
    expect(await list(who)).toMatchObject({
      ...{ total: 1, unread: 1, failures: 1 },
      items: [{ kind: "run_failed", link: `/runs/${first}`, title: "A run of Digest failed: It broke. https://evil.example/login" }],
    });
  const failureMails = () => mailsTo(viewer.user.email).filter(({ headers }) => headers.subject === "A run on Treadle has failed");
  const mail = await until(() => failureMails()[0]);
  expect(mail.text).toContain(`https://treadle.example.com/runs/${first}`);
  expect(mail.text).not.toContain("https://evil.example"); // what a run has said leads nowhere
  expect(mailsTo(admin.user.email).filter(({ headers }) => headers.subject === mail.headers.subject)).toEqual([]);

  await markRead(viewer, { kind: "review" });
  expect((await list(viewer)).failures).toBe(1);
  await markRead(viewer, { kind: "run_failed" });
  await sweep(failureNoticeSweep);
  expect((await list(viewer)).failures).toBe(0);
  await failedRun(workflow_id, "Again", { completed_at: new Date(hour.getTime() + 1) });
  await sweep(failureNoticeSweep);
  expect(await list(viewer)).toMatchObject({
    ...{ total: 1, failures: 1 },
    items: [{ title: "2 runs of Digest failed, the latest: Again", link: `/runs?status=failed&workflow=${workflow_id}` }],
  });
  // Another workflow is another entry; the mail came once.
  const other = await createWorkflow(admin, { name: "Other", nodes: [manual], edges: [] });
  await updateProfile(viewer, { notify_run_failed: false });
  await failedRun(other.id, "No");
  await sweep(failureNoticeSweep);
  expect(await list(viewer)).toMatchObject({ total: 2, failures: 2 });
  await sweep(mailSweep);
  expect(failureMails()).toHaveLength(1);
  expect((await list(await database.newAdmin())).total).toBe(0);
});

test("each kind is told in the app, by mail, both or not at all, as the person has chosen; a choice leaves the others", async () => {
  const [byMail, nowhere] = [await member("viewer"), await member("viewer")];
  await updateProfile(byMail, { notifications: { workflow_disabled: { in_app: false, mail: true } } });
  await updateProfile(nowhere, { notifications: { workflow_disabled: { in_app: false, mail: false } } });
  expect((await updateProfile(byMail, { notify_run_failed: true })).notifications).toMatchObject({
    workflow_disabled: { in_app: false, mail: true },
    run_failed: { in_app: true, mail: true },
    review: { in_app: true, mail: false },
  });
  const { id: workflow_id } = await createWorkflow(admin, {
    name: "Daily",
    nodes: [{ ...manual, data: { label: "Start", kind: "schedule", cron_expression: "0 9 * * *" } }],
    edges: [],
  });
  await updateWorkflow(await member("editor"), { workflow_id, enabled: false });
  for (const [who, count] of [[admin, 1] as const, [byMail, 0] as const, [nowhere, 0] as const])
    expect(await listNotifications(who, page)).toMatchObject({ total: count, unread: count });
  await Promise.all([sweep(mailSweep), sweep(mailSweep)]);
  const disabled = (who: ProjectPrincipal) =>
    mailsTo(who.user.email).filter(({ headers }) => headers.subject === "A workflow on Treadle was disabled");
  const mail = await until(() => disabled(byMail)[0]);
  expect(mail.text).toContain(`https://treadle.example.com/workflows/${workflow_id}`);
  await sweep(mailSweep);
  for (const [who, count] of [[byMail, 1] as const, [admin, 0] as const, [nowhere, 0] as const]) expect(disabled(who)).toHaveLength(count);
});

test("the others are told that somebody disabled a workflow which starts by itself, until it is enabled again", async () => {
  const editor = await member("editor");
  const schedule = { ...manual, data: { label: "Start", kind: "schedule", cron_expression: "0 9 * * *" } };
  const daily = await createWorkflow(admin, { name: "Daily", nodes: [schedule], edges: [] });
  const byHand = await createWorkflow(admin, { name: "By hand", nodes: [manual], edges: [] });
  const toldTo = async (who: ProjectPrincipal) => (await listNotifications(who, page)).items;
  for (const workflow_id of [daily.id, byHand.id]) await updateWorkflow(editor, { workflow_id, enabled: false });
  await updateWorkflow(editor, { workflow_id: daily.id, enabled: false });
  const title = `${editor.user.name} disabled Daily: nothing starts it by itself`;
  expect(await toldTo(admin)).toMatchObject([{ kind: "workflow_disabled", title, link: `/workflows/${daily.id}`, read_at: null }]);
  expect(await toldTo(editor)).toEqual([]);
  expect(await listNotifications(admin, page)).toMatchObject({ unread: 1, failures: 0 });
  await updateWorkflow(admin, { workflow_id: daily.id, enabled: true });
  expect(await toldTo(admin)).toEqual([]);
});
