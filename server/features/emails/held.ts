import { v5 as uuidOf } from "uuid";
import { notify } from "#server/features/notifications/notify.ts";
import { inTransaction } from "#server/platform/db/client.ts";
import { finds, type Sweep } from "#server/platform/db/sweep.ts";
import { MOST_RECIPIENTS } from "#server/platform/mail/outbox.ts";

// Notifies the admins of a project of emails that were held back: once an hour, with the number of addresses.

const HOUR_MS = 3_600_000;
/** Groups get ids of their own, the same in every process. */
const GROUPS = "0d6f3c52-7c1e-5b0a-8a3f-2f4f3f1c9b77";

const TAKE = "UPDATE email_recipients SET is_untold = false WHERE is_untold RETURNING project_id";
const HELD = `
  SELECT r.project_id, count(*)::int AS addresses, min(r.address) AS address, bool_and(r.summary_at IS NULL AND r.confirmed_at IS NULL) AS is_unconfirmed
  FROM email_recipients r WHERE r.project_id = ANY($1::uuid[]) AND r.held > 0 GROUP BY r.project_id`;
const IS_FULL = `SELECT FROM email_recipients WHERE project_id = $1 OFFSET ${MOST_RECIPIENTS - 1} LIMIT 1`;
const ADMINS = `
  SELECT m.user_id FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.project_id = $1 AND m.role = 'admin' AND u.service_project_id IS NULL`;
interface Held {
  project_id: string;
  addresses: number;
  address: string;
  is_unconfirmed: boolean;
}

function titleOf({ addresses, address, is_unconfirmed }: Held): string {
  const to = addresses === 1 ? address : `${addresses} addresses, such as ${address},`;
  const why = is_unconfirmed ? "wait until the person confirms the address" : "are over the limit of an hour and come as one summary";
  return `Emails to ${to} ${why}`;
}

/** Notifies admins of emails that were held back. Several processes may run it at the same time; each notification is sent once. */
export const heldSweep: Sweep = {
  isDue: finds("SELECT FROM email_recipients WHERE is_untold"),
  run: () =>
    inTransaction(async (client) => {
      const { rows: taken } = await client.query<{ project_id: string }>(TAKE);
      const project_ids = [...new Set(taken.map(({ project_id }) => project_id))];
      const { rows } = await client.query<Held>(HELD, [project_ids]);
      const hour = Math.floor(Date.now() / HOUR_MS);
      for (const project_id of project_ids) {
        const held = rows.find((row) => row.project_id === project_id);
        // None is held any more where the person has stopped them meanwhile.
        if (!held && !(await client.query(IS_FULL, [project_id])).rowCount) continue;
        const title = held ? titleOf(held) : `Emails to further addresses are not sent: a project writes to ${MOST_RECIPIENTS} at most`;
        const { rows: admins } = await client.query<{ user_id: string }>(ADMINS, [project_id]);
        const subject_id = uuidOf(`${project_id} ${hour}`, GROUPS);
        await notify(client, admins, { project_id, kind: "emails_held", subject_id, title, link: "/approvals" }, "update");
      }
    }),
};
