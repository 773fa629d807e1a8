import { LRUCache } from "lru-cache";
import { v7 as uuid, v5 as uuidOf } from "uuid";
import { failureTold } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { button, page, paragraph, quote, quotedName, shorten, unlinked } from "#server/platform/mail/layout.ts";
import { isMailOn, type MailBody, sendMail } from "#server/platform/mail/send-mail.ts";
import { appUrl } from "#server/platform/settings.ts";
import { type FailedRuns, failedLately } from "#server/runs/store/failed-runs.ts";

// Members are told of runs that fail: once a workflow and hour, with the number of them, and by e-mail who asked for it.

const ERROR_SHOWN = 200;

/** Groups get ids of their own, the same at every look. */
const GROUPS = "5f0c2d8e-3f4b-5c11-9d55-6a1b0e7c4a21";
const groupOf = ({ workflow_id, hour }: FailedRuns) => uuidOf(`${workflow_id} ${hour.toISOString()}`, GROUPS);

function notificationOf(failed: FailedRuns) {
  const { workflow_id, workflow_name, count, execution_id, error } = failed;
  const reason = error ? `: ${shorten(error.replace(/\s+/g, " "), ERROR_SHOWN)}` : "";
  return {
    title: count === 1 ? `A run of ${workflow_name} failed${reason}` : `${count} runs of ${workflow_name} failed, the latest${reason}`,
    link: count === 1 ? `/runs/${execution_id}` : `/runs?status=failed&workflow=${workflow_id}`,
  };
}

// One that was read is unread again when more have failed since; nothing is written while nothing is new.
const TELL = `
  INSERT INTO notifications (id, user_id, project_id, kind, subject_id, title, link)
  SELECT id, user_id, $3::uuid, 'run_failed', $4::uuid, $5, $6 FROM unnest($1::uuid[], $2::uuid[]) AS m(id, user_id)
  ON CONFLICT (subject_id, kind, user_id) DO UPDATE SET title = excluded.title, link = excluded.link, read_at = NULL
    WHERE notifications.title <> excluded.title
  RETURNING id, user_id, (xmax = 0) AS is_new`;

/** What this process has told of each group last, so that a look which finds nothing new asks for no members. */
const told = new LRUCache<string, string>({ max: 5000 });

/**
 * Tells every member of runs that have failed: one notification for a workflow and hour, which counts them. Processes may do it at
 * the same time; nobody is told of the same twice.
 */
export async function tellFailures(): Promise<void> {
  for (const failed of await failedLately()) {
    const { project_id } = failed;
    const subject_id = groupOf(failed);
    const { title, link } = notificationOf(failed);
    if (told.get(subject_id) === title) continue;
    const members = await db().membership.findMany({
      where: { project_id },
      select: { user_id: true, user: { select: { notify_run_failed: true } } },
    });
    const ids = [members.map(() => uuid()), members.map(({ user_id }) => user_id)];
    const { rows } = await pool().query<{ id: string; user_id: string; is_new: boolean }>(TELL, [
      ...ids,
      project_id,
      subject_id,
      title,
      link,
    ]);
    const mailed = new Set(members.flatMap(({ user_id, user }) => (user.notify_run_failed ? [user_id] : [])));
    const first = rows.filter(({ is_new, user_id }) => is_new && mailed.has(user_id));
    await publishEvents(first.map(({ id }) => failureTold.create({ notification_id: id }, { id: `${id}-failed` })));
    told.set(subject_id, title);
  }
}

/**
 * Sends the e-mail about a notification of failed runs to whom it was made for, at the first of its hour. Does nothing without mail
 * settings, when it was read meanwhile, or is not wanted any more.
 * @throws Error when the mail server does not take it; calling again is right
 */
export async function mailFailure(notification_id: string): Promise<void> {
  if (!isMailOn()) return;
  const row = await db().notification.findUnique({
    where: { id: notification_id },
    select: {
      title: true,
      link: true,
      read_at: true,
      project: { select: { name: true } },
      user: { select: { email: true, notify_run_failed: true } },
    },
  });
  if (!row || row.read_at !== null || !row.user.notify_run_failed) return;
  await sendMail({
    to: row.user.email,
    id: `failed-${notification_id}`,
    ...failureMail(row.title, row.project.name, `${appUrl()}${row.link}`),
  });
}

function failureMail(told: string, project: string, url: string): MailBody {
  const title = "A run has failed";
  const where = `In the project ${quotedName(project)}:`;
  const rest = "Further failures of this workflow within the hour are counted in the app. Your profile says whether you get these mails.";
  const reason = unlinked(told);
  return {
    subject: "A run on Treadle has failed",
    text: [title, where, reason, `Look at it:\n${url}`, rest].join("\n\n"),
    html: page(title, [paragraph(where), quote(reason), button("Look at it", url), paragraph(rest)]),
  };
}
