import type pg from "pg";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { isMailOn, type MailBody, type MailFailure } from "#server/platform/mail/send-mail.ts";
import { newId } from "#server/platform/new-id.ts";
import { seal } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";

// Emails as rows: queued here, taken one by one and sent by server/features/emails. Those of projects keep to the limits of
// EMAILS_PER_ADDRESS, EMAILS_PER_PROJECT and EMAILS_PER_HOUR; those about accounts have limits of their own (platform/auth/limits.ts).

/** Emails of one project that wait to be sent; further ones are counted for the summary. */
const MOST_QUEUED = 1000;
/** Addresses that one project writes to. */
export const MOST_RECIPIENTS = 5000;
/** Days for which an email of a project is tried, and hours for which one about an account is. */
const PROJECT_DAYS = 3;
const ACCOUNT_HOURS = 24;
/** Time after which another process tries an email whose process has died, in seconds: longer than one try may take. */
const LEASE_SECONDS = 120;
/** Longest time between two tries of one email, and of the server, in seconds. */
const MOST_BACKOFF = 3600;
const MOST_SERVER_BACKOFF = 300;

/** The present, not later than `now()`: columns have milliseconds, and would be rounded up. */
const NOW = "date_trunc('milliseconds', now())";

/** Whose emails: those about accounts, which nothing else holds up, or those of projects. */
export type Lane = "account" | "project";

let wake = (): void => undefined;

/** Sets who sends emails in this process. @param listener called when there may be something to send */
export function onQueued(listener: () => void): void {
  wake = listener;
}

/** Has emails that are due sent, if this process sends any. */
export const sendDue = (): void => wake();

/** An email about something in a project. Its text is made when it is sent. */
interface ProjectEmail {
  /** The same for every try to queue it: it is sent once. */
  message_id: string;
  project_id: string;
  address: string;
  kind: "review" | "notification";
  subject_id: string;
  user_id?: string | undefined;
  /** The number of the reminder. */
  count?: number;
}

const GIVEN = `
  SELECT * FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::int[], $8::uuid[])
    AS given(message_id, project_id, address, kind, subject_id, user_id, count, id)`;

const ADD_RECIPIENTS = `
  INSERT INTO email_recipients (id, project_id, address)
  SELECT DISTINCT ON (project_id, address) id, project_id, address FROM (${GIVEN}) AS g
  WHERE (SELECT count(*) FROM email_recipients r WHERE r.project_id = g.project_id) < ${MOST_RECIPIENTS}
  ON CONFLICT DO NOTHING`;

const ADD = `
  INSERT INTO emails (id, message_id, project_id, kind, address, subject_id, user_id, count, expires_at, due_at)
  SELECT g.id, g.message_id, g.project_id, g.kind, g.address, g.subject_id, g.user_id, g.count, now() + interval '${PROJECT_DAYS} days', ${NOW}
  FROM (SELECT *, row_number() OVER (PARTITION BY project_id) AS n FROM (${GIVEN}) AS all_given) AS g
  JOIN email_recipients r ON r.project_id = g.project_id AND r.address = g.address AND r.stopped_at IS NULL
  WHERE g.n + (SELECT count(*) FROM emails e WHERE e.project_id = g.project_id AND e.due_at IS NOT NULL) <= ${MOST_QUEUED}
  ON CONFLICT (message_id) DO NOTHING`;

// Of those that found no room. Their rows have ended, so that each is counted once.
const COUNT_OTHERS = `
  WITH others AS (
    INSERT INTO emails (id, message_id, project_id, kind, address, subject_id, expires_at)
    SELECT g.id, g.message_id, g.project_id, g.kind, g.address, g.subject_id, now()
    FROM (${GIVEN}) AS g JOIN email_recipients r ON r.project_id = g.project_id AND r.address = g.address AND r.stopped_at IS NULL
    ON CONFLICT (message_id) DO NOTHING RETURNING project_id, address
  )
  UPDATE email_recipients r SET held = r.held + o.count, is_untold = true, summary_at = coalesce(r.summary_at, ${NOW})
  FROM (SELECT project_id, address, count(*)::int FROM others GROUP BY project_id, address) AS o
  WHERE r.project_id = o.project_id AND r.address = o.address`;

// An address that is one too many has no row: the first of its project has the admins told.
const TELL_OF_MORE = `
  UPDATE email_recipients SET is_untold = true WHERE id IN (
    SELECT DISTINCT ON (f.project_id) f.id FROM (${GIVEN}) AS g JOIN email_recipients f ON f.project_id = g.project_id
    WHERE NOT EXISTS (SELECT FROM email_recipients own WHERE own.project_id = g.project_id AND own.address = g.address)
    ORDER BY f.project_id, f.id)`;

/** One at a time queues or takes emails: who has sent how many is counted before the next is let through. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('treadle_emails', 0))";

/**
 * Queues emails of projects, each once. Nothing without mail settings.
 * @param within a transaction, after which the caller calls `sendDue`; left out, one of its own
 */
export async function queueEmails(emails: readonly ProjectEmail[], within?: pg.PoolClient): Promise<void> {
  if (!isMailOn() || emails.length === 0) return;
  const rows = emails.map((email) => ({ user_id: null, count: 0, ...email, address: email.address.toLowerCase(), id: newId() }));
  const columns = ["message_id", "project_id", "address", "kind", "subject_id", "user_id", "count", "id"] as const;
  const given = columns.map((column) => rows.map((row) => row[column] ?? null));
  const add = async (client: pg.PoolClient) => {
    await client.query(LOCK);
    for (const statement of [ADD_RECIPIENTS, ADD, COUNT_OTHERS, TELL_OF_MORE]) await client.query(statement, given);
  };
  if (within) return add(within);
  await inTransaction(add);
  wake();
}

/** An email about an account, whole: its text may hold a secret that is stored nowhere else. */
interface AccountEmail extends MailBody {
  message_id: string;
  address: string;
  /** The project that invites; left out, it is about the account alone. */
  project_id?: string;
  /** When its link ends; left out, a day from now. */
  expires_at?: Date;
}

const ADD_ACCOUNT_EMAIL = `
  INSERT INTO emails (id, message_id, project_id, kind, address, body, expires_at, due_at)
  VALUES ($1, $2, $3, 'account', $4, $5, least($6::timestamptz, now() + interval '${ACCOUNT_HOURS} hours'), ${NOW})`;

/** Queues an email about an account, sealed. Nothing without mail settings. */
export async function queueAccountEmail({ message_id, address, project_id, expires_at, ...body }: AccountEmail): Promise<void> {
  if (!isMailOn()) return;
  const values = [newId(), message_id, project_id ?? null, address.toLowerCase(), seal(JSON.stringify(body)), expires_at ?? null];
  await pool().query(ADD_ACCOUNT_EMAIL, values);
  wake();
}

/** An email that this process sends now. */
export interface TakenEmail {
  id: string;
  message_id: string;
  project_id: string | null;
  kind: "account" | "review" | "notification" | "summary";
  address: string;
  subject_id: string | null;
  user_id: string | null;
  count: number;
  body: string | null;
  admitted_at: Date | null;
  attempts: number;
}

const IS_AWAY = "SELECT FROM mail_server WHERE retry_at > now()";
// An email that expired goes into the summary. If it was the first one to an address outside the project, another may be sent first.
const EXPIRE = `
  WITH late AS (
    UPDATE emails SET due_at = NULL, body = NULL, error = coalesce(error, 'It was not sent in time.')
    WHERE due_at <= now() AND expires_at <= now() RETURNING project_id, address, kind, admitted_at
  ), counted AS (
    SELECT project_id, address, array_agg(admitted_at) AS admitted, count(*) FILTER (WHERE kind <> 'summary')::int AS count
    FROM late WHERE kind <> 'account' GROUP BY project_id, address
  )
  UPDATE email_recipients r SET held = r.held + c.count, is_untold = true, summary_at = coalesce(r.summary_at, ${NOW}),
    first_sent_at = CASE WHEN r.first_sent_at = ANY(c.admitted) THEN NULL ELSE r.first_sent_at END
  FROM counted AS c WHERE r.project_id = c.project_id AND r.address = c.address AND r.stopped_at IS NULL`;

const ADD_SUMMARIES = `
  WITH due AS (
    UPDATE email_recipients SET summary_at = NULL WHERE summary_at <= now() RETURNING id, project_id, address, held, stopped_at
  )
  INSERT INTO emails (id, message_id, project_id, kind, address, subject_id, count, expires_at, due_at)
  SELECT gen_random_uuid(), 'summary-' || gen_random_uuid(), project_id, 'summary', address, id, held, now() + interval '${PROJECT_DAYS} days', ${NOW}
  FROM due WHERE held > 0 AND stopped_at IS NULL
    AND NOT EXISTS (SELECT FROM emails e WHERE e.project_id = due.project_id AND e.address = due.address AND e.kind = 'summary' AND e.due_at IS NOT NULL)`;

// By turns: of each project the email that is due first, and the project first whose last email was taken longest ago.
const CANDIDATE = `
  SELECT m.* FROM (
    SELECT DISTINCT ON (project_id) * FROM emails WHERE due_at <= now() AND (kind = 'account') = $1 ORDER BY project_id, due_at, id
  ) AS m
  ORDER BY (SELECT max(t.taken_at) FROM emails t WHERE t.project_id = m.project_id AND (t.kind = 'account') = $1) NULLS FIRST, m.due_at
  LIMIT 1`;

const TAKE = `
  UPDATE emails SET admitted_at = coalesce(admitted_at, now()), taken_at = clock_timestamp(), attempts = attempts + 1,
    due_at = now() + interval '${LEASE_SECONDS} seconds'
  WHERE id = $1 RETURNING *`;

/** When a window of so many emails in an hour lets one more through; null: now. @param limit of the statement, as `$n` */
const opensAt = (limit: string, scope: string) => `
  (SELECT e.admitted_at + interval '1 hour' FROM emails e
   WHERE ${limit} > 0 AND e.kind <> 'account' AND e.admitted_at > now() - interval '1 hour' AND ${scope}
   ORDER BY e.admitted_at DESC OFFSET greatest(${limit} - 1, 0) LIMIT 1)`;

const STANDING = `
  SELECT r.*, EXISTS (
    SELECT FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.project_id = r.project_id AND u.email = r.address
  ) AS is_member, greatest(
    ${opensAt("$3::int", "e.address = $2")}, ${opensAt("$4::int", "e.project_id = $1::uuid")}, ${opensAt("$5::int", "true")}
  ) AS opens_at
  FROM email_recipients r WHERE r.project_id = $1::uuid AND r.address = $2`;

interface Standing {
  id: string;
  first_sent_at: Date | null;
  confirmed_at: Date | null;
  stopped_at: Date | null;
  held: number;
  is_member: boolean;
  opens_at: Date | null;
}

// The rows stay for a day, so that an email which is queued again is not counted again.
const END_ALL = `
  WITH ended AS (
    UPDATE emails SET due_at = NULL
    WHERE project_id = $1 AND address = $2 AND kind <> 'account' AND due_at IS NOT NULL AND admitted_at IS NULL RETURNING kind
  )
  SELECT count(*) FILTER (WHERE kind <> 'summary')::int AS count FROM ended`;

// A summary that has its time keeps it.
const HOLD = `
  UPDATE email_recipients SET held = held + $2, is_untold = is_untold OR $2 > 0, summary_at = coalesce(summary_at, $3::timestamptz) WHERE id = $1`;

/** Lets an email of a project through, or holds it with the others to its address. @returns true when it may be sent */
async function admit(client: pg.PoolClient, email: TakenEmail): Promise<boolean> {
  if (email.kind === "account" || email.admitted_at !== null) return true;
  const { EMAILS_PER_ADDRESS, EMAILS_PER_PROJECT, EMAILS_PER_HOUR } = settings();
  const to = [email.project_id, email.address];
  const { rows } = await client.query<Standing>(STANDING, [...to, EMAILS_PER_ADDRESS, EMAILS_PER_PROJECT, EMAILS_PER_HOUR]);
  const [recipient] = rows;
  const isUnconfirmed = recipient && !recipient.is_member && recipient.first_sent_at !== null && recipient.confirmed_at === null;
  // While a summary is to come, further emails go into it: otherwise they would take its place each time.
  const joinsSummary = recipient && email.kind !== "summary" && recipient.held > 0;
  if (recipient && !recipient.stopped_at && !isUnconfirmed && !joinsSummary && !recipient.opens_at) {
    await client.query("UPDATE email_recipients SET first_sent_at = coalesce(first_sent_at, now()) WHERE id = $1", [recipient.id]);
    return true;
  }
  const { rows: ended } = await client.query<{ count: number }>(END_ALL, to);
  if (!recipient || recipient.stopped_at) return false;
  const summary_at = isUnconfirmed ? null : (recipient.opens_at ?? new Date());
  await client.query(HOLD, [recipient.id, ended[0]?.count ?? 0, summary_at]);
  return false;
}

/**
 * Takes the email of a lane whose turn it is. For a while no other process takes it.
 * @returns undefined when none is due, or the server is not to be tried yet
 */
export const takeEmail = (lane: Lane): Promise<TakenEmail | undefined> =>
  inTransaction(async (client) => {
    await client.query(LOCK);
    if ((await client.query(IS_AWAY)).rowCount) return undefined;
    await client.query(EXPIRE);
    if (lane === "project") await client.query(ADD_SUMMARIES);
    for (;;) {
      const { rows } = await client.query<TakenEmail>(CANDIDATE, [lane === "account"]);
      const [email] = rows;
      if (!email) return undefined;
      if (await admit(client, email)) return (await client.query<TakenEmail>(TAKE, [email.id])).rows[0];
    }
  });

const SERVER_WORKS = "UPDATE mail_server SET last_sent_at = now(), failures = 0, retry_at = NULL WHERE id = 1";
const SENT = "UPDATE emails SET due_at = NULL, body = NULL, error = NULL WHERE id = $1";
const SUMMED_UP = `
  UPDATE email_recipients SET held = greatest(held - $2, 0), summary_at = CASE WHEN held > $2 THEN coalesce(summary_at, ${NOW}) END WHERE id = $1`;

/** Notes that the server has taken an email. */
export async function noteSent({ id, kind, subject_id, count }: TakenEmail): Promise<void> {
  await inTransaction(async (client) => {
    await client.query(SENT, [id]);
    if (kind === "summary") await client.query(SUMMED_UP, [subject_id, count]);
    await client.query(SERVER_WORKS);
  });
}

const FIRST_AGAIN = "UPDATE email_recipients SET first_sent_at = NULL WHERE project_id = $1 AND address = $2 AND first_sent_at = $3";

/** Removes an email that is not wanted any more: what it is about has been decided or read. */
export async function dropEmail({ id, kind, project_id, address, subject_id, count, admitted_at }: TakenEmail): Promise<void> {
  await inTransaction(async (client) => {
    await client.query("DELETE FROM emails WHERE id = $1", [id]);
    if (kind === "summary") await client.query(SUMMED_UP, [subject_id, count]);
    if (kind !== "account") await client.query(FIRST_AGAIN, [project_id, address, admitted_at]);
  });
}

const SERVER_FAILED = "UPDATE mail_server SET last_error = $1, last_error_at = now() WHERE id = 1";
// Of several tries that fail together one counts.
const SERVER_AWAY = `
  UPDATE mail_server SET failures = failures + 1, retry_at = now() + least(power(2, least(failures + 1, 12)), ${MOST_SERVER_BACKOFF}) * interval '1 second'
  WHERE id = 1 AND (retry_at IS NULL OR retry_at <= now())`;
const AGAIN = `
  UPDATE emails SET error = $2, due_at = now() + least(power(2, least(attempts, 12)), ${MOST_BACKOFF}) * (1 + random() / 10) * interval '1 second' WHERE id = $1`;
const UNTRIED = `UPDATE emails SET error = $2, due_at = ${NOW}, attempts = attempts - 1 WHERE id = $1`;
const REFUSED = "UPDATE emails SET due_at = NULL, body = NULL, error = $2 WHERE id = $1";

/** Notes why an email was not sent, and when it is tried again. @param failure see `mailFailure` */
export async function noteFailed({ id, subject_id, count, ...email }: TakenEmail, failure: MailFailure): Promise<void> {
  const { kind, message } = failure;
  await inTransaction(async (client) => {
    await client.query({ server: UNTRIED, later: AGAIN, never: REFUSED }[kind], [id, message]);
    await client.query(SERVER_FAILED, [message]);
    if (kind === "server") await client.query(SERVER_AWAY);
    // Later emails would wait for it for ever.
    if (kind === "never" && email.kind === "summary") await client.query(SUMMED_UP, [subject_id, count]);
  });
}

/** Has the server tried at once, such as after a start with other settings. */
export const tryServerNow = async (): Promise<void> => {
  await pool().query("UPDATE mail_server SET failures = 0, retry_at = NULL WHERE id = 1");
};

const TIDY = [
  "DELETE FROM emails WHERE due_at IS NULL AND created_at < now() - interval '1 day' AND coalesce(admitted_at, created_at) < now() - interval '2 hours'",
  // An address that nothing was sent to, and one that has not answered in a year.
  `DELETE FROM email_recipients r WHERE r.stopped_at IS NULL AND r.confirmed_at IS NULL AND r.held = 0
     AND coalesce(r.first_sent_at + interval '1 year', r.created_at + interval '1 day') < now()
     AND NOT EXISTS (SELECT FROM emails e WHERE e.project_id = r.project_id AND e.address = r.address)`,
  "UPDATE email_recipients SET held = 0 WHERE held > 0 AND summary_at IS NULL AND first_sent_at < now() - interval '1 year'",
];

/** Removes emails that have ended a day ago, and addresses that nothing is known of. */
export async function tidyEmails(): Promise<void> {
  for (const statement of TIDY) await pool().query(statement);
}

/** State of the outbox. */
interface OutboxState {
  last_sent_at: Date | null;
  last_error: string | null;
  last_error_at: Date | null;
  retry_at: Date | null;
  queued: number;
  held: number;
}

const STATE = `
  SELECT s.*, (SELECT count(*)::int FROM emails WHERE due_at IS NOT NULL) AS queued,
    (SELECT coalesce(sum(held), 0)::int FROM email_recipients WHERE held > 0) AS held
  FROM mail_server s WHERE id = 1`;

/** Returns the last known state of the mail server and the number of queued emails. */
export async function outboxState(): Promise<OutboxState> {
  const { rows } = await pool().query<OutboxState>(STATE);
  return rows[0] ?? { last_sent_at: null, last_error: null, last_error_at: null, retry_at: null, queued: 0, held: 0 };
}
