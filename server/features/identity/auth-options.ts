import type { AuthOptions } from "next-auth";
import type { CredentialsConfig } from "next-auth/providers/credentials";
import { isAddressVerified, oauthProviders } from "#server/features/identity/oauth-providers.ts";
import { signInWithPassword, signInWithProvider } from "#server/features/identity/sign-in.ts";
import { CodeNeeded } from "#server/features/security/second-factor.ts";
import { clientAddress, isHttps, sameOriginPath } from "#server/platform/auth/request-origin.ts";
import { endSession, openSession, passwordMark, SESSION_SECONDS, sessionCookieName, userOfSession } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { settings } from "#server/platform/settings.ts";

/** Only sentences of ours reach the sign-in page; next-auth would show whatever text an error has. */
function shown(error: unknown): Error {
  if (isAppError(error) && error.code !== "INTERNAL_ERROR") return new Error(error.message);
  log.error({ err: error }, "sign-in failed");
  return new Error("Signing in does not work at the moment. Please try again.");
}

const credentials: CredentialsConfig = {
  id: "credentials",
  type: "credentials",
  name: "E-mail and password",
  credentials: {
    email: { label: "E-mail", type: "email" },
    password: { label: "Password", type: "password" },
    code: { label: "Code", type: "text" },
  },
  async authorize(given, request) {
    if (typeof given?.email !== "string" || typeof given.password !== "string") return null;
    const code = typeof given.code === "string" ? given.code : "";
    if (given.email.length > 254 || given.password.length > 200 || code.length > 100) return null;
    const headers = new Headers(request.headers as Record<string, string>);
    return signInWithPassword(given.email.trim(), given.password, clientAddress(headers), code).catch((error: unknown) => {
      // A word for the sign-in page, which asks for the code then.
      throw error instanceof CodeNeeded ? new Error("SecondFactor") : shown(error);
    });
  },
};

const callbacksFor = (headers: Headers): NonNullable<AuthOptions["callbacks"]> => ({
  async signIn({ account, profile, user }) {
    if (!account || account.type === "credentials") return true;
    if (!user.email || !profile || !isAddressVerified(account.provider, profile)) return false;
    return (await signInWithProvider({ email: user.email, name: user.name || user.email })) !== null;
  },
  async jwt({ token, user }) {
    // A provider's own id of the person means nothing here, so a sign-in is found by its address.
    const row = user
      ? await db().user.findUnique({ where: { email: (user.email ?? "").toLowerCase() } })
      : await userOfSession(token, headers);
    // Of a password that was right a moment ago, and is another's by now, no session comes.
    const isOpenedBefore = user && "password_mark" in user && user.password_mark !== passwordMark(row?.password_hash ?? null);
    // next-auth ends the session when this throws.
    if (!row || isOpenedBefore) throw new Error("The session has ended.");
    // The session keeps its id for as long as it is prolonged, so that signing out ends every copy of its cookie.
    const sid = user ? await openSession(row.id, headers) : token.sid;
    return { sub: row.id, sid, name: row.name, email: row.email, password_mark: passwordMark(row.password_hash) };
  },
  redirect: ({ url, baseUrl }) => new URL(sameOriginPath(url, baseUrl), baseUrl).href,
  session: ({ session, token }) => ({ expires: session.expires, user: { name: token.name ?? "", email: token.email ?? "" } }),
});

/** next-auth's options for one request: its cookies are secure ones when people come over HTTPS. */
export function authOptions(headers: Headers): AuthOptions {
  const isSecure = isHttps(headers);
  const { AUTH_SECRET } = settings();
  if (!AUTH_SECRET) throw new Error("AUTH_SECRET is not known yet: server/main.ts sets it at start.");
  return {
    secret: AUTH_SECRET,
    session: { strategy: "jwt", maxAge: SESSION_SECONDS },
    useSecureCookies: isSecure,
    cookies: {
      sessionToken: {
        name: sessionCookieName(isSecure),
        options: { httpOnly: true, sameSite: "lax" as const, path: "/", secure: isSecure },
      },
    },
    pages: { signIn: "/sign-in", signOut: "/sign-in", error: "/sign-in", verifyRequest: "/sign-in" },
    providers: [credentials, ...oauthProviders()],
    callbacks: callbacksFor(headers),
    events: { signOut: ({ token }) => endSession(token?.sid) },
    logger: {
      error: (code, details) => {
        const message = "error" in details && details.error instanceof Error ? details.error.message : undefined;
        if (code === "JWT_SESSION_ERROR") log.debug({ code }, "session ended");
        else log.error({ code, message }, "next-auth");
      },
      warn: (code) => log.debug({ code }, "next-auth"),
      debug: () => undefined,
    },
  };
}
