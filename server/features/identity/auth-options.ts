import type { Account, AuthOptions, User } from "next-auth";
import type { CredentialsConfig } from "next-auth/providers/credentials";
import type { User as UserRow } from "#prisma/generated/client.ts";
import { oauthProviders } from "#server/features/identity/oauth-providers.ts";
import { readIdentity } from "#server/features/identity/provider-identity.ts";
import type { SignInProblem } from "#server/features/identity/schema.ts";
import { findIdentity, signInWithPassword, signInWithProvider } from "#server/features/identity/sign-in.ts";
import { CodeNeeded } from "#server/features/security/second-factor.ts";
import { clientAddress, isHttps, sameOriginPath } from "#server/platform/auth/request-origin.ts";
import {
  cookiePrefix,
  endSession,
  openSession,
  passwordMark,
  SESSION_SECONDS,
  sessionCookieName,
  sessionPrincipal,
  userOfSession,
} from "#server/platform/auth/session.ts";
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

const problemPage = (problem: SignInProblem): string => `/sign-in?error=${problem}`;

/** Signs a person in whom a service has identified. Returns true, or the page that says why not: next-auth would show any error's text. */
async function enterByProvider(provider: string, profile: unknown, headers: Headers): Promise<true | string> {
  try {
    const identity = readIdentity(provider, profile);
    if (!identity) return problemPage("ServiceFailed");
    const own = await sessionPrincipal(headers);
    const entered = await signInWithProvider(identity, own?.user.id);
    return typeof entered === "string" ? problemPage(entered) : true;
  } catch (error) {
    log.error({ err: error }, "sign-in failed");
    return problemPage("Unfinished");
  }
}

/** The person who has just signed in, by the identity at a service: its address may belong to another person by now. */
async function enteredUser(user: User, account: Account | null, profile: unknown): Promise<UserRow | null> {
  if (account?.type !== "oauth") return db().user.findUnique({ where: { id: user.id } });
  const identity = readIdentity(account.provider, profile);
  return (identity && (await findIdentity(identity))) ?? null;
}

const callbacksFor = (headers: Headers): NonNullable<AuthOptions["callbacks"]> => ({
  async signIn({ account, profile }) {
    if (!account || account.type === "credentials") return true;
    return enterByProvider(account.provider, profile, headers);
  },
  async jwt({ token, user, account, profile }) {
    const row = user ? await enteredUser(user, account, profile) : await userOfSession(token, headers);
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

/** Time that a sign-in at a service may take, in seconds. */
const SIGN_IN_SECONDS = 15 * 60;

/** Errors of a service when the person cancels, or has to act there first (RFC 6749, OpenID Connect Core). */
const CANCELLED = /^(access_denied|(login|consent|interaction|account_selection)_required)$/;

/** The page for what a service answered in place of a sign-in; null for any other request. Its own texts are not shown, because any site can send them. */
export function serviceAnswerPage([action, provider]: readonly string[], query: URLSearchParams): string | null {
  const error = query.get("error");
  if (action !== "callback" || error === null || !oauthProviders().some(({ id }) => id === provider)) return null;
  // Only codes of the protocols, because any site can send values here.
  log.warn({ provider, error: /^[a-z_]{1,40}$/.test(error) ? error : "unknown" }, "a sign-in service answered with an error");
  return problemPage(CANCELLED.test(error) ? "Cancelled" : "ServiceFailed");
}

/** next-auth's options for one request: its cookies are secure ones when people come over HTTPS. */
export function authOptions(headers: Headers): AuthOptions {
  const isSecure = isHttps(headers);
  const cookie = { httpOnly: true, sameSite: "lax" as const, path: "/", secure: isSecure };
  const { AUTH_SECRET } = settings();
  if (!AUTH_SECRET) throw new Error("AUTH_SECRET is not known yet: server/main.ts sets it at start.");
  return {
    secret: AUTH_SECRET,
    session: { strategy: "jwt", maxAge: SESSION_SECONDS },
    useSecureCookies: isSecure,
    cookies: {
      sessionToken: { name: sessionCookieName(isSecure), options: cookie },
      state: { name: `${cookiePrefix(isSecure)}treadle.state`, options: { ...cookie, maxAge: SIGN_IN_SECONDS } },
      pkceCodeVerifier: { name: `${cookiePrefix(isSecure)}treadle.pkce`, options: { ...cookie, maxAge: SIGN_IN_SECONDS } },
      nonce: { name: `${cookiePrefix(isSecure)}treadle.nonce`, options: cookie },
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
