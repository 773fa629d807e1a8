import { pool } from "#server/platform/db/client.ts";

/** How long a notification is kept, in days: one that was read, and one that never was. */
const KEPT = { read: 30, unread: 90 };
/** How long an invitation is kept after it has expired, so that whoever opens it late is told, in days. */
const EXPIRED_INVITATION = 30;
const BATCH = 1000;

const STATEMENTS = [
  `DELETE FROM notifications WHERE id IN (SELECT id FROM notifications
     WHERE read_at < now() - interval '${KEPT.read} days' OR created_at < now() - interval '${KEPT.unread} days' LIMIT ${BATCH})`,
  `DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < now() - interval '${EXPIRED_INVITATION} days' LIMIT ${BATCH})`,
];

/** Removes notifications and invitations that nobody needs any more, in small batches. */
export async function tidyNotifications(): Promise<void> {
  for (const statement of STATEMENTS) {
    let count = BATCH;
    while (count === BATCH) count = (await pool().query(statement)).rowCount ?? 0;
  }
}
