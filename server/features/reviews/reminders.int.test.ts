import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type MailServer, startMailServer } from "#e2e/fakes/smtp.ts";
import { until } from "#e2e/until.ts";
import { startSending } from "#server/features/emails/send.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { decideByLink } from "#server/features/reviews/link.ts";
import { mailReview, remindReviewers } from "#server/features/reviews/tell.ts";
import type { JobWorker } from "#server/jobs/postgres/worker.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { setSettings } from "#server/platform/settings.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
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
  execution_id = await newPausedRun(admin);
  mailServer.mails.length = 0;
});

async function member(role: Role): Promise<ProjectPrincipal> {
  const other = await database.newAdmin();
  await addMember(admin, other.user, role);
  return { ...other, project: admin.project, role };
}
const person = ({ user }: ProjectPrincipal) => ({ kind: "user" as const, value: user.id });
const mailsTo = ({ user }: ProjectPrincipal) =>
  mailServer.mails.filter(({ to, headers }) => to.includes(user.email) && headers["message-id"]?.startsWith("<review-"));
const told = ({ user }: ProjectPrincipal) =>
  db().notification.findMany({ where: { user_id: user.id, kind: "review" }, select: { title: true, read_at: true } });
const row = (id: string) => db().wait.findUniqueOrThrow({ where: { id } });
/** As if the time of the next reminder had come. */
const makeDue = (id: string) => pool().query("UPDATE waits SET remind_at = now() - interval '1 second' WHERE id = $1", [id]);
/** What two processes do that sweep at once, until the reminder is noted. */
async function sweepUntil(id: string, reminded: number): Promise<void> {
  await Promise.all([sweep(waitSweep, reviewSweep), sweep(waitSweep, reviewSweep)]);
  await until(async () => (await row(id)).reminded === reminded);
  await Promise.all([sweep(waitSweep, reviewSweep), sweep(waitSweep, reviewSweep)]);
}

test("who is named is reminded once however many sweep, by notification and mail; the second reminder asks somebody else as well", async () => {
  const [ann, bob, boss] = [await member("editor"), await member("approver"), await member("admin")];
  const { id } = await openReview(execution_id, "a", {
    title: "Ship it?",
    terms: { assignees: [person(ann), person(bob)], quorum: 2, remind_hours: 1, escalate_to: person(boss) },
    remind_at: inSeconds(-1),
  });
  await approveExecution(bob, { execution_id, decision: "approved" });
  await sweepUntil(id, 1);
  await until(() => mailsTo(ann).length === 1);
  expect(await told(ann)).toEqual([{ title: "Reminder: Ship it? (Reviewed)", read_at: null }]);
  expect([await told(bob), await told(boss), mailsTo(bob), mailsTo(boss)]).toEqual([[], [], [], []]); // answered, not asked yet
  expect((await row(id)).remind_at?.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
  await expect(approveExecution(boss, { execution_id, decision: "approved" })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });

  await makeDue(id);
  await sweepUntil(id, 2);
  const mail = await until(() => mailsTo(boss)[0]);
  expect(mail.headers.subject).toBe(`Reminder: a run on Treadle waits for your decision (${id.slice(-8)})`);
  await until(() => mailsTo(ann).length === 2);
  expect(await told(ann)).toHaveLength(1);
  // A try more queues nothing again.
  await mailReview(id, 2);
  expect(await db().email.count({ where: { subject_id: id, address: ann.user.email } })).toBe(2);
  const token = /review\/(\S+)/.exec(mail.text)?.[1] ?? "";
  expect(await decideByLink({ token, decision: "approved" })).toMatchObject({ status: "approved", reviewer: { email: boss.user.email } });
});

test("a reminder that was noted is not given again, nor one after the decision or the deadline; after three there are no more", async () => {
  const opened = await openReview(execution_id, "a", { terms: { remind_hours: 1 }, remind_at: inSeconds(-1) });
  for (let count = 1; count <= 3; count++) {
    await Promise.all([remindReviewers({ review_id: opened.id, count }), remindReviewers({ review_id: opened.id, count })]);
    await db().notification.updateMany({ where: { subject_id: opened.id }, data: { read_at: new Date() } });
    await remindReviewers({ review_id: opened.id, count });
    expect(await told(admin)).toEqual([{ title: "Reminder: Good? (Reviewed)", read_at: expect.any(Date) }]);
  }
  expect(await row(opened.id)).toMatchObject({ reminded: 3, remind_at: null });
  const late = await openReview(execution_id, "b", { terms: { remind_hours: 1 }, remind_at: inSeconds(-2), due_at: inSeconds(-1) });
  await remindReviewers({ review_id: late.id, count: 1 });
  await sweep(waitSweep, reviewSweep);
  expect(await row(late.id)).toMatchObject({ reminded: 0, status: "expired" });
});

test("a mail shows Markdown as it is meant, loads nothing, and leads nowhere but to the review", async () => {
  const ann = await member("editor");
  const { id } = await openReview(execution_id, "a", {
    description: "Names are **checked**. [here](https://evil.example) ![seen](https://evil.example/x.png)",
    display_value: "# Draft\n\n- one\n- two <img src=x onerror=alert(1)>\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    terms: { assignees: [person(ann)] },
  });
  await mailReview(id);
  const mail = await until(() => mailsTo(ann)[0]);
  for (const part of ["<strong>checked</strong>", ">Draft</p>", "<li>one</li>", ">1</td>", "Image: seen", "&lt;img src=x"])
    expect(mail?.html).toContain(part);
  expect(mail?.html).not.toMatch(/<img|evil\.example/);
  expect([...(mail?.html ?? "").matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual([
    expect.stringContaining("https://treadle.example.com/review/"),
    expect.stringContaining("https://treadle.example.com/emails/"),
  ]);
  expect(mail?.text).toContain("Names are **checked**.");
});

test("reminders are at least an hour apart", async () => {
  const { id } = await openReview(execution_id, "a", { terms: { remind_hours: 0.01 }, remind_at: inSeconds(-1) });

  await remindReviewers({ review_id: id, count: 1 });

  expect((await row(id)).remind_at?.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
});
