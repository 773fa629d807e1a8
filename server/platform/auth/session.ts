import { randomUUID } from "node:crypto";
import { parseCookie } from "cookie";
import { getToken, type JWT } from "next-auth/jwt";
import type { Prisma } from "#prisma/generated/client.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { clientAddress, isHttps } from "#server/platform/auth/request-origin.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { sha256 } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";

/** With this prefix browsers keep a cookie over HTTPS only, and only from this host: none of its neighbours can set it. */
export const cookiePrefix = (isSecure: boolean): string => (isSecure ? "__Host-" : "");

export const sessionCookieName = (isSecure: boolean): string => `${cookiePrefix(isSecure)}treadle.session-token`;

/** Marks a session with the password it was opened under, so that a new password ends every older session. */
export const passwordMark = (passwordHash: string | null): string => sha256(passwordHash ?? "").slice(0, 16);

/** How long a cookie is good for, in seconds; each page that is opened begins it anew. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;
/** A session is noted as seen once in this time, in milliseconds. */
const SEEN_EVERY_MS = 60_000;
/** So many sessions of one person are open at once; a further one ends the one that was seen longest ago. */
const MOST_SESSIONS = 50;
const LONGEST_AGENT = 300;

// In one statement, because every page and call of a browser asks it. A session without a row is from before rows were kept: good
// until the person ends all others.
const OF_SESSION = {
  name: "user-of-session",
  text: `SELECT u.id, u.email, u.name, u.password_hash, s.seen_at FROM users u LEFT JOIN sessions s ON s.id = $2
         WHERE u.id = $1 AND u.deleted_at IS NULL
           AND CASE WHEN s.id IS NULL THEN u.sessions_ended_at IS NULL ELSE s.user_id = u.id AND s.ended_at IS NULL END`,
};
interface SessionUser {
  id: string;
  email: string;
  name: string;
  password_hash: string | null;
  seen_at: Date | null;
}

/** From which browser and address a session is used. */
function placeOf(headers: Headers): { agent: string | null; ip: string | null } {
  const address = clientAddress(headers);
  const agent = headers.get("user-agent")?.slice(0, LONGEST_AGENT).toWellFormed();
  return { agent: agent || null, ip: address === "unknown" ? null : address };
}

const endFrom = (now: Date): Date => new Date(now.getTime() + SESSION_SECONDS * 1000);

/** Opens a session. @returns its id, for the cookie */
export async function openSession(user_id: string, headers: Headers): Promise<string> {
  const id = randomUUID();
  await db().session.create({ data: { id, user_id, ...placeOf(headers), expires_at: endFrom(new Date()) } });
  await pool().query(
    `UPDATE sessions SET ended_at = now() WHERE id IN
       (SELECT id FROM sessions WHERE user_id = $1 AND ended_at IS NULL ORDER BY seen_at DESC, id OFFSET ${MOST_SESSIONS})`,
    [user_id],
  );
  return id;
}

// Held against whoever ends all sessions just now: theirs is written before, and found, or not at all.
const ADOPT = `
  INSERT INTO sessions (id, user_id, agent, ip, expires_at)
  SELECT $1, u.id, $3, $4, $5 FROM (SELECT id FROM users WHERE id = $2 AND sessions_ended_at IS NULL FOR SHARE) AS u
  ON CONFLICT (id) DO NOTHING`;

/** Notes that a session is used, once a minute at most; of many requests at once, one writes. */
async function noteSeen({ id: user_id, seen_at }: SessionUser, id: string, headers: Headers): Promise<void> {
  const now = new Date();
  const stale = new Date(now.getTime() - SEEN_EVERY_MS);
  if (seen_at && seen_at > stale) return;
  const { agent, ip } = placeOf(headers);
  if (!seen_at) return void (await pool().query(ADOPT, [id, user_id, agent, ip, endFrom(now)]));
  const where = { id, ended_at: null, seen_at: { lt: stale } };
  await db().session.updateMany({ where, data: { seen_at: now, agent, ip, expires_at: endFrom(now) } });
}

/**
 * The user of a session, by what stands in its cookie: null for a user who is gone, for a session that was ended and for one that
 * was opened under another password. Notes that it is used.
 * @param headers of the request that it came with
 */
export async function userOfSession({ sub, sid, password_mark }: JWT, headers: Headers): Promise<SessionUser | null> {
  if (!isUuid(sub ?? "") || typeof sid !== "string" || !isUuid(sid)) return null;
  const { rows } = await pool().query<SessionUser>({ ...OF_SESSION, values: [sub, sid] });
  const [user] = rows;
  if (!user || password_mark !== passwordMark(user.password_hash)) return null;
  await noteSeen(user, sid, headers).catch((err: unknown) => log.warn({ err }, "the use of a session was not noted"));
  return user;
}

/** Ends a browser session, so that a copy of its cookie opens nothing any more. Remembered until every such copy has run out. */
export async function endSession(id: unknown): Promise<void> {
  if (typeof id !== "string" || !isUuid(id)) return;
  const now = new Date();
  await db().session.upsert({
    where: { id },
    create: { id, ended_at: now, expires_at: endFrom(now) },
    update: { ended_at: now },
  });
}

/**
 * Ends the sessions of a person, also those that have no row.
 * @param kept the id of one that stays
 * @returns how many of those with a row
 */
export async function endSessions(tx: Prisma.TransactionClient, user_id: string, kept?: string): Promise<number> {
  const ended_at = new Date();
  // The person first: see ADOPT.
  await tx.user.update({ where: { id: user_id }, data: { sessions_ended_at: ended_at } });
  const where = { user_id, ended_at: null, ...(kept !== undefined && { id: { not: kept } }) };
  return (await tx.session.updateMany({ where, data: { ended_at } })).count;
}

/** A cookie may have been renewed up to a minute after its session was noted as seen, and is read with a few seconds of tolerance. */
const SPARE_MS = 60 * 60_000;

/** Forgets sessions whose cookies have all run out: one that was ended and forgotten too early would be taken for one without a row. */
export async function tidySessions(): Promise<void> {
  await db().session.deleteMany({ where: { expires_at: { lt: new Date(Date.now() - SPARE_MS) } } });
}

/** Who is signed in with this browser: null without a valid session; see `userOfSession`. */
export async function sessionPrincipal(headers: Headers): Promise<Principal | null> {
  const { AUTH_SECRET } = settings();
  const cookieName = sessionCookieName(isHttps(headers));
  const cookies = parseCookie(headers.get("cookie") ?? "");
  if (!AUTH_SECRET || !Object.keys(cookies).some((name) => name.startsWith(cookieName))) return null;
  // getToken puts chunked cookies together; without headers it looks nowhere else.
  const req = { cookies, headers: {} } as unknown as Parameters<typeof getToken>[0]["req"];
  const token = await getToken({ req, cookieName, secret: AUTH_SECRET });
  const user = token && (await userOfSession(token, headers));
  return (
    user && {
      user: { id: user.id, email: user.email, name: user.name },
      auth: { type: "session", password_mark: passwordMark(user.password_hash), session_id: String(token.sid) },
    }
  );
}
