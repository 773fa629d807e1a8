import { choicesOf, NotificationKind } from "#server/features/notifications/schema.ts";
import { db, inTransaction } from "#server/platform/db/client.ts";
import { finds, type Sweep } from "#server/platform/db/sweep.ts";
import {
  button,
  footerHtml,
  footerText,
  type MailFooter,
  page,
  paragraph,
  quote,
  quotedLines,
  quotedName,
  unlinked,
} from "#server/platform/mail/layout.ts";
import { queueEmails, sendDue, type TakenEmail } from "#server/platform/mail/outbox.ts";
import type { MailBody } from "#server/platform/mail/send-mail.ts";
import { appUrl } from "#server/platform/settings.ts";

// A notification is sent by email too, if its user has chosen that.

// Only what is new is mailed: nobody gets the mails of a day that no worker ran. Keys tell the time of a row (UUID v7), so this reads
// the newest rows only. Selected, it is worked out once and not for each row.
const NEW = `n.id > (SELECT rpad(lpad(to_hex((extract(epoch FROM now() - interval '1 hour') * 1000)::bigint), 12, '0'), 32, '0')::uuid)`;
const UNASKED = `${NEW} AND n.mail_asked_at IS NULL AND n.read_at IS NULL
  AND u.id = n.user_id AND u.deleted_at IS NULL AND (u.notification_choices -> n.kind ->> 'mail')::boolean`;
const ASK = `UPDATE notifications n SET mail_asked_at = now() FROM users u WHERE ${UNASKED} RETURNING n.id, n.project_id, u.email`;

/** Has the mails of new notifications sent, to those who chose that; each once, however many processes ask at the same time. */
export const mailSweep: Sweep = {
  isDue: finds(`SELECT FROM notifications n, users u WHERE ${UNASKED}`),
  run: async () => {
    await inTransaction(async (client) => {
      const { rows } = await client.query<{ id: string; project_id: string; email: string }>(ASK);
      await queueEmails(
        rows.map(({ id, project_id, email }) => ({
          message_id: `told-${id}`,
          ...{ project_id, address: email, kind: "notification" as const, subject_id: id },
        })),
        client,
      );
    });
    sendDue();
  },
};

/** Text of the email about a notification. @returns null when it has been read, or its user has switched such emails off */
export async function notificationEmail({ subject_id, address }: TakenEmail, footer: MailFooter): Promise<MailBody | null> {
  const row = await db().notification.findUnique({
    where: { id: subject_id ?? "" },
    include: { project: { select: { name: true } }, user: { select: { email: true, notification_choices: true } } },
  });
  const kind = NotificationKind.safeParse(row?.kind).data;
  if (!row || !kind || row.read_at !== null || !choicesOf(row.user.notification_choices)[kind].mail) return null;
  if (row.user.email.toLowerCase() !== address) return null;
  return notificationMail(kind, row.title, row.project.name, `${appUrl()}${row.link}`, footer);
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
  emails_held: { title: "Emails are held back", subject: "Emails of a project on Treadle are held back" },
};

function notificationMail(kind: NotificationKind, told: string, project: string, url: string, footer: MailFooter): MailBody {
  const { title, subject, more } = WORDS[kind];
  const where = `In the project ${quotedName(project)}:`;
  const rest = [more, "Settings, Notifications says which of these mails you get."].filter(Boolean).join(" ");
  return {
    subject,
    text: [title, where, quotedLines(told), `Look at it:\n${url}`, rest, footerText(footer)].join("\n\n"),
    html: page(title, [paragraph(where), quote(unlinked(told)), button("Look at it", url), paragraph(rest), footerHtml(footer)]),
  };
}
