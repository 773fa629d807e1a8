import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import type { EmailState } from "#server/platform/mail/schema.ts";
import { appUrl, settings } from "#server/platform/settings.ts";

// Token of the link in every email of a project: 16 bytes of the id of the project's row for the address, and 32 of their HMAC. It
// does not expire. A caller with the token may stop and resume the emails of this project to this address.

const ID_BYTES = 16;
const MAC_BYTES = 32;

function macOf(body: Buffer): Buffer {
  const { AUTH_SECRET } = settings();
  if (!AUTH_SECRET) throw new Error("AUTH_SECRET is not known yet: server/main.ts sets it at start.");
  return createHmac("sha256", Buffer.from(hkdfSync("sha256", AUTH_SECRET, "", "treadle email link v1", 32)))
    .update(body)
    .digest();
}

/** The token of an address in a project, 64 URL-safe characters. */
export function recipientToken(id: string): string {
  const body = Buffer.from(id.replaceAll("-", ""), "hex");
  return Buffer.concat([body, macOf(body)]).toString("base64url");
}

/** The id in a token; null for one that was not made here. */
function idOf(token: string): string | null {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== ID_BYTES + MAC_BYTES) return null;
  const body = bytes.subarray(0, ID_BYTES);
  if (!timingSafeEqual(bytes.subarray(ID_BYTES), macOf(body))) return null;
  const hex = body.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The page on which an address confirms, stops and resumes the emails of a project. */
export const recipientPage = (token: string): string => `${appUrl()}/emails/${token}`;

/** The address for mail programs: a POST stops the emails at once, a GET leads to the page. */
export const unsubscribeUrl = (token: string): string => `${appUrl()}/api/emails/${token}/unsubscribe`;

/** An address to which a project has emails sent. */
export interface Recipient {
  id: string;
  project_id: string;
  project_name: string;
  address: string;
  state: EmailState;
  is_member: boolean;
  is_confirmed: boolean;
  /** Emails that were not sent, for the next summary. */
  held: number;
}

const RECIPIENT = `
  SELECT r.id, r.project_id, p.name AS project_name, r.address, r.held, m.is_member, r.confirmed_at IS NOT NULL AS is_confirmed,
    CASE WHEN r.stopped_at IS NOT NULL THEN 'stopped'
      WHEN m.is_member OR r.confirmed_at IS NOT NULL OR r.first_sent_at IS NULL THEN 'open' ELSE 'unconfirmed' END AS state
  FROM email_recipients r JOIN projects p ON p.id = r.project_id AND p.deleted_at IS NULL
  CROSS JOIN LATERAL (SELECT EXISTS (
    SELECT FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.project_id = r.project_id AND u.email = r.address) AS is_member) AS m`;

/** The address behind a token; undefined for one that is not valid. */
export async function recipientOf(token: string): Promise<Recipient | undefined> {
  const id = idOf(token);
  if (id === null) return undefined;
  return (await pool().query<Recipient>(`${RECIPIENT} WHERE r.id = $1::uuid`, [id])).rows[0];
}

/** The addresses to which a project has had emails sent, of those given in lower case. */
export async function recipientsOf(project_id: string, addresses: readonly string[]): Promise<Recipient[]> {
  if (addresses.length === 0) return [];
  const { rows } = await pool().query<Recipient>(`${RECIPIENT} WHERE r.project_id = $1::uuid AND r.address = ANY($2)`, [
    project_id,
    addresses,
  ]);
  return rows;
}

const CHANGES = {
  // Emails that were held are sent as one summary.
  confirm: {
    set: "confirmed_at = now(), summary_at = CASE WHEN held > 0 AND stopped_at IS NULL THEN date_trunc('milliseconds', now()) END",
    where: "confirmed_at IS NULL",
  },
  stop: { set: "stopped_at = now(), held = 0, summary_at = NULL", where: "stopped_at IS NULL" },
  resume: { set: "stopped_at = NULL, confirmed_at = coalesce(confirmed_at, now())", where: "stopped_at IS NOT NULL" },
} as const;
type RecipientChange = keyof typeof CHANGES;

/**
 * Takes what the person of an address has chosen, within a transaction.
 * @returns false when it was chosen before, and nothing is changed
 */
export async function changeRecipient(client: pg.PoolClient, id: string, change: RecipientChange): Promise<boolean> {
  const { set, where } = CHANGES[change];
  const { rowCount } = await client.query(`UPDATE email_recipients SET ${set} WHERE id = $1 AND ${where}`, [id]);
  return rowCount === 1;
}
