import type { OAuthConfig, TokenEndpointHandler } from "next-auth/providers/oauth";
import { isFirstUse } from "#server/platform/auth/limits.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { OutgoingHttpAgent, OutgoingHttpsAgent } from "#server/platform/net/outgoing-agents.ts";
import { shownProxy } from "#server/platform/net/outgoing-proxy.ts";
import { appUrl, settings } from "#server/platform/settings.ts";

/** Address to which a service redirects people. Not read from the request, whose Host header any client can set. */
const redirectUri = (id: string): string => `${appUrl()}/api/auth/callback/${id}`;

/** As long as next-auth's cookies of a sign-in hold, in seconds. */
const STATE_SECONDS = 15 * 60;
/** Timeout of a response of a service, in ms. */
const ANSWER_MS = 10_000;

/** Exchanges the code, once for each state: a copy of the cookies and the address opens no second session. */
const tokenEndpoint = (id: string, isOpenId: boolean): TokenEndpointHandler => ({
  async request({ client, params, checks }) {
    const { state } = checks;
    if (!state || params.state !== state || !(await isFirstUse("oauth-state", state, STATE_SECONDS)))
      throw new Error("This sign-in is unknown or was completed before.");
    const exchange = isOpenId ? client.callback : client.oauthCallback;
    return { tokens: await exchange.call(client, redirectUri(id), params, checks) };
  },
});

/** Options of next-auth's requests to a service: through the proxy of the settings, if there is one. */
function httpOptions(issuer: string) {
  const agent = issuer.startsWith("https:") ? new OutgoingHttpsAgent() : new OutgoingHttpAgent();
  return { timeout: ANSWER_MS, ...(shownProxy() && { agent }) };
}

/** For next-auth, which wants one; who it is is read by `readIdentity`. */
const profile = () => ({ id: "of-the-service" });

function openId(id: string, name: string, issuer: string, clientId: string, clientSecret: string): OAuthConfig<unknown> {
  return {
    id,
    name,
    type: "oauth",
    wellKnown: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    authorization: { params: { scope: "openid email profile", redirect_uri: redirectUri(id) } },
    token: tokenEndpoint(id, true),
    idToken: true,
    checks: ["pkce", "state", "nonce"],
    httpOptions: httpOptions(issuer),
    clientId,
    clientSecret,
    profile,
  };
}

function gitHub(clientId: string, clientSecret: string): OAuthConfig<unknown> {
  const id = "github";
  return {
    id,
    name: "GitHub",
    type: "oauth",
    issuer: "https://github.com/login/oauth",
    authorization: {
      url: "https://github.com/login/oauth/authorize",
      params: { scope: "read:user user:email", redirect_uri: redirectUri(id) },
    },
    token: { url: "https://github.com/login/oauth/access_token", ...tokenEndpoint(id, false) },
    checks: ["state"],
    httpOptions: httpOptions("https://github.com"),
    userinfo: {
      url: "https://api.github.com/user",
      // The profile says nothing about the address being verified; the list of addresses does.
      async request({ client, tokens }) {
        const profile = await client.userinfo(tokens.access_token ?? "");
        const answer = await guardedFetch("any")("https://api.github.com/user/emails", {
          headers: { authorization: `Bearer ${tokens.access_token}` },
          signal: AbortSignal.timeout(ANSWER_MS),
        });
        const addresses = answer.ok ? ((await answer.json()) as { email: string; primary: boolean; verified: boolean }[]) : [];
        const primary = addresses.find((address) => address.primary);
        return { ...profile, email: primary?.email ?? null, email_verified: primary?.verified === true } as never;
      },
    },
    clientId,
    clientSecret,
    profile,
  };
}

/** The sign-in services whose settings are there. */
export function oauthProviders(): OAuthConfig<unknown>[] {
  const env = settings();
  const found: OAuthConfig<unknown>[] = [];
  if (env.GOOGLE_CLIENT_ID && env.GOOGLE_CLIENT_SECRET) {
    found.push(openId("google", "Google", "https://accounts.google.com", env.GOOGLE_CLIENT_ID, env.GOOGLE_CLIENT_SECRET));
  }
  if (env.GITHUB_CLIENT_ID && env.GITHUB_CLIENT_SECRET) found.push(gitHub(env.GITHUB_CLIENT_ID, env.GITHUB_CLIENT_SECRET));
  if (env.OIDC_ISSUER && env.OIDC_CLIENT_ID && env.OIDC_CLIENT_SECRET) {
    found.push(openId("oidc", env.OIDC_NAME, env.OIDC_ISSUER, env.OIDC_CLIENT_ID, env.OIDC_CLIENT_SECRET));
  }
  return found;
}
