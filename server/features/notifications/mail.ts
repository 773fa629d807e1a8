import { notificationTold } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { choicesOf, NotificationKind } from "#server/features/notifications/schema.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { finds, type Sweep } from "#server/platform/db/sweep.ts";
import { button, page, paragraph, quote, quotedName, unlinked } from "#server/platform/mail/layout.ts";
import { isMailOn, type MailBody, sendMail } from "#server/platform/mail/send-mail.ts";
import { appUrl } from "#server/platform/settings.ts";

// Whoever tells people of something writes a notification; whom it goes to by mail as well, each has chosen.

// Only what is new is mailed: nobody gets the mails of a day that no worker ran. Keys tell the time of a row (UUID v7), so this reads
// the newest rows only. Selected, it is worked out once and not for each row.
const NEW = `n.id > (SELECT rpad(lpad(to_hex((extract(epoch FROM now() - interval '1 hour') * 1000)::bigint), 12, '0'), 32, '0')::uuid)`;
const UNASKED = `${NEW} AND n.mail_asked_at IS NULL AND n.read_at IS NULL
  AND u.id = n.user_id AND u.deleted_at IS NULL AND (u.notification_choices -> n.kind ->> 'mail')::boolean`;
const ASK = `UPDATE notifications n SET mail_asked_at = now() FROM users u WHERE ${UNASKED} RETURNING n.id`;

/** Has the mails of new notifications sent, to those who chose that; each once, however many processes ask at the same time. */
export const mailSweep: Sweep = {
  isDue: finds(`SELECT FROM notifications n, users u WHERE ${UNASKED}`),
  run: async () => {
    const { rows } = await pool().query<{ id: string }>(ASK);
    if (rows.length) await publishEvents(rows.map(({ id }) => notificationTold.create({ notification_id: id }, { id: `${id}-told` })));
  },
};

/**
 * Sends the mail about a notification to whom it was made for. Does nothing without mail settings, when it was read meanwhile, or is
 * not wanted any more.
 * @throws Error when the mail server does not take it; calling again is right
 */
export async function mailNotification(notification_id: string): Promise<void> {
  if (!isMailOn()) return;
  const row = await db().notification.findUnique({
    where: { id: notification_id },
    include: { project: { select: { name: true } }, user: { select: { email: true, notification_choices: true } } },
  });
  const kind = NotificationKind.safeParse(row?.kind).data;
  if (!row || !kind || row.read_at !== null || !choicesOf(row.user.notification_choices)[kind].mail) return;
  await sendMail({
    to: row.user.email,
    // The same for every try, so that a mail which was sent twice is shown once.
    id: `told-${notification_id}`,
    ...notificationMail(kind, row.title, row.project.name, `${appUrl()}${row.link}`),
  });
}

/** What the mail of each kind says above the text of the notification; of some, what more there is to know. */
const WORDS: Record<NotificationKind, { title: string; subject: string; more?: string }> = {
  review: { title: "A run waits for a decision", subject: "A run on Treadle waits for a decision" },
  run_failed: {
    title: "A run has failed",
    subject: "A run on Treadle has failed",
    more: "Further failures of this workflow within the hour are counted in the app.",
  },
  schedule_missed: { title: "A schedule was missed", subject: "A schedule on Treadle was missed" },
  workflow_disabled: { title: "A workflow was disabled", subject: "A workflow on Treadle was disabled" },
  budget: { title: "A budget needs a look", subject: "A budget on Treadle needs a look" },
};

function notificationMail(kind: NotificationKind, told: string, project: string, url: string): MailBody {
  const { title, subject, more } = WORDS[kind];
  const where = `In the project ${quotedName(project)}:`;
  const rest = [more, "Settings, Notifications says which of these mails you get."].filter(Boolean).join(" ");
  const text = unlinked(told);
  return {
    subject,
    text: [title, where, text, `Look at it:\n${url}`, rest].join("\n\n"),
    html: page(title, [paragraph(where), quote(text), button("Look at it", url), paragraph(rest)]),
  };
}
