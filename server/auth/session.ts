import { getToken } from "next-auth/jwt";
import type { Principal } from "#server/auth/principal.ts";
import { isHttps } from "#server/auth/request-origin.ts";
import { db } from "#server/db/client.ts";
import { sha256 } from "#server/secrets.ts";
import { isUuid } from "#server/services/ids.ts";
import { settings } from "#server/settings.ts";

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

/** Who is signed in with this browser: null without a valid session, for a user who is gone, and after a change of password. */
export async function sessionPrincipal(headers: Headers): Promise<Principal | null> {
  const { AUTH_SECRET } = settings();
  const cookieName = sessionCookieName(isHttps(headers));
  const cookies = cookiesOf(headers);
  if (!AUTH_SECRET || !Object.keys(cookies).some((name) => name.startsWith(cookieName))) return null;
  // getToken puts chunked cookies together; without headers it looks nowhere else.
  const req = { cookies, headers: {} } as unknown as Parameters<typeof getToken>[0]["req"];
  const token = await getToken({ req, cookieName, secret: AUTH_SECRET });
  if (!token?.sub || !isUuid(token.sub)) return null;
  const user = await db().user.findUnique({
    where: { id: token.sub, deleted_at: null },
    select: { id: true, email: true, name: true, password_hash: true },
  });
  if (!user || token.password_mark !== passwordMark(user.password_hash)) return null;
  return { user: { id: user.id, email: user.email, name: user.name }, auth: { type: "session" } };
}
