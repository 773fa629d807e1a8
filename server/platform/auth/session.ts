import { getToken, type JWT } from "next-auth/jwt";
import type { Principal } from "#server/platform/auth/principal.ts";
import { isHttps } from "#server/platform/auth/request-origin.ts";
import { pool } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { sha256 } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";

/** Name of the session cookie; browsers keep the one with the prefix only over HTTPS. */
export const sessionCookieName = (isSecure: boolean): string => `${isSecure ? "__Secure-" : ""}treadle.session-token`;

/** Marks a session with the password it was opened under, so that a new password ends every older session. */
export const passwordMark = (passwordHash: string | null): string => sha256(passwordHash ?? "").slice(0, 16);

function cookiesOf(headers: Headers): Record<string, string> {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()] as const;
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}

// In one statement, because every page and call of a browser asks it.
const OF_SESSION = {
  name: "user-of-session",
  text: `SELECT id, email, name, password_hash FROM users
         WHERE id = $1 AND deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM ended_sessions e WHERE e.id = $2)`,
};
interface SessionUser {
  id: string;
  email: string;
  name: string;
  password_hash: string | null;
}

/**
 * The user of a session, by what stands in its cookie: null for a user who is gone, for a session that was signed out and
 * for one that was opened under another password.
 */
export async function userOfSession({ sub, sid, password_mark }: JWT): Promise<SessionUser | null> {
  if (!isUuid(sub ?? "") || typeof sid !== "string" || !isUuid(sid)) return null;
  const { rows } = await pool().query<SessionUser>({ ...OF_SESSION, values: [sub, sid] });
  const [user] = rows;
  return user && password_mark === passwordMark(user.password_hash) ? user : null;
}

/** Who is signed in with this browser: null without a valid session; see `userOfSession`. */
export async function sessionPrincipal(headers: Headers): Promise<Principal | null> {
  const { AUTH_SECRET } = settings();
  const cookieName = sessionCookieName(isHttps(headers));
  const cookies = cookiesOf(headers);
  if (!AUTH_SECRET || !Object.keys(cookies).some((name) => name.startsWith(cookieName))) return null;
  // getToken puts chunked cookies together; without headers it looks nowhere else.
  const req = { cookies, headers: {} } as unknown as Parameters<typeof getToken>[0]["req"];
  const token = await getToken({ req, cookieName, secret: AUTH_SECRET });
  const user = token && (await userOfSession(token));
  return (
    user && {
      user: { id: user.id, email: user.email, name: user.name },
      auth: { type: "session", password_mark: passwordMark(user.password_hash) },
    }
  );
}
