import type { OAuthConfig } from "next-auth/providers/oauth";
import { settings } from "#server/platform/settings.ts";

/** What we use of any provider's profile; the `verified` of GitHub is made by us. */
interface Profile {
  sub?: string;
  id?: number | string;
  name?: string | null;
  login?: string;
  email?: string | null;
  /** Some issuers write it as text. */
  email_verified?: boolean | string;
}

const person = (profile: Profile) => ({
  id: String(profile.sub ?? profile.id),
  name: profile.name || profile.login || profile.email || "",
  email: profile.email ?? "",
});

function openId(id: string, name: string, issuer: string, clientId: string, clientSecret: string): OAuthConfig<Profile> {
  return {
    id,
    name,
    type: "oauth",
    wellKnown: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    authorization: { params: { scope: "openid email profile" } },
    idToken: true,
    checks: ["pkce", "state", "nonce"],
    clientId,
    clientSecret,
    profile: person,
  };
}

function gitHub(clientId: string, clientSecret: string): OAuthConfig<Profile> {
  return {
    id: "github",
    name: "GitHub",
    type: "oauth",
    issuer: "https://github.com/login/oauth",
    authorization: { url: "https://github.com/login/oauth/authorize", params: { scope: "read:user user:email" } },
    token: "https://github.com/login/oauth/access_token",
    userinfo: {
      url: "https://api.github.com/user",
      // The profile says nothing about the address being verified; the list of addresses does.
      async request({ client, tokens }) {
        const profile: Profile = await client.userinfo(tokens.access_token ?? "");
        const answer = await fetch("https://api.github.com/user/emails", { headers: { authorization: `Bearer ${tokens.access_token}` } });
        const addresses = answer.ok ? ((await answer.json()) as { email: string; primary: boolean; verified: boolean }[]) : [];
        const primary = addresses.find((address) => address.primary);
        return { ...profile, email: primary?.email ?? null, email_verified: primary?.verified === true } as never;
      },
    },
    clientId,
    clientSecret,
    profile: person,
  };
}

/** The sign-in services whose settings are there. */
export function oauthProviders(): OAuthConfig<Profile>[] {
  const env = settings();
  const found: OAuthConfig<Profile>[] = [];
  if (env.GOOGLE_CLIENT_ID && env.GOOGLE_CLIENT_SECRET) {
    found.push(openId("google", "Google", "https://accounts.google.com", env.GOOGLE_CLIENT_ID, env.GOOGLE_CLIENT_SECRET));
  }
  if (env.GITHUB_CLIENT_ID && env.GITHUB_CLIENT_SECRET) found.push(gitHub(env.GITHUB_CLIENT_ID, env.GITHUB_CLIENT_SECRET));
  if (env.OIDC_ISSUER && env.OIDC_CLIENT_ID && env.OIDC_CLIENT_SECRET) {
    found.push(openId("oidc", env.OIDC_NAME, env.OIDC_ISSUER, env.OIDC_CLIENT_ID, env.OIDC_CLIENT_SECRET));
  }
  return found;
}

/**
 * Whether the provider stands for the address being the person's own. Google and GitHub serve anybody and must say so;
 * the operator's own issuer is trusted unless it says that the address is not verified.
 */
export const isAddressVerified = (provider: string, profile: Profile): boolean =>
  provider === "oidc" ? ![false, "false"].includes(profile.email_verified ?? true) : profile.email_verified === true;
