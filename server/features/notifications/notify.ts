import { v7 as uuid } from "uuid";
import type { NotificationKind } from "#server/features/notifications/schema.ts";
import { queryIn, type Tx } from "#server/platform/db/tx.ts";

export interface NewNotification {
  project_id: string;
  kind: NotificationKind;
  /** Id of the subject: a user has one notification of a kind about it. */
  subject_id: string;
  title: string;
  /** Path in the web app. */
  link: string;
}

/** Recipient of a notification. */
export interface NotifiedUser {
  user_id: string;
  /** Set when an email about the subject goes to the user anyway, so that none is sent for the notification. */
  mail_asked_at?: Date | null;
}

/**
 * Effect on a notification that the user has already: `keep` leaves it, `update` shows a changed title as unread, `renew` moves it to
 * the top as a new one.
 */
type IfNotified = "keep" | "update" | "renew";

const ON_CONFLICT: Record<IfNotified, string> = {
  keep: "DO NOTHING",
  update: `DO UPDATE
    SET title = excluded.title, link = excluded.link, read_at = NULL
    WHERE notifications.title <> excluded.title`,
  renew: `DO UPDATE
    SET id = excluded.id, title = excluded.title, link = excluded.link, read_at = NULL, mail_asked_at = NULL, created_at = now()`,
};

/** Notifies users within a transaction. */
export async function notify(
  tx: Tx,
  users: readonly NotifiedUser[],
  { project_id, kind, subject_id, title, link }: NewNotification,
  ifNotified: IfNotified = "keep",
): Promise<void> {
  if (users.length === 0) return;
  const insert = `
    INSERT INTO notifications (id, user_id, mail_asked_at, project_id, kind, subject_id, title, link)
    SELECT notified.id, notified.user_id, notified.mail_asked_at, $4::uuid, $5, $6::uuid, $7, $8
    FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS notified(id, user_id, mail_asked_at)
    ON CONFLICT (subject_id, kind, user_id) ${ON_CONFLICT[ifNotified]}`;

  await queryIn(tx, insert, [
    users.map(() => uuid()),
    users.map(({ user_id }) => user_id),
    users.map(({ mail_asked_at }) => mail_asked_at ?? null),
    project_id,
    kind,
    subject_id,
    title,
    link,
  ]);
}
