import { z } from "zod";
import type { SignInProblem } from "#server/features/identity/schema.ts";
import { Email, Name } from "#server/shared/primitives-schema.ts";

// Identity of a person at a sign-in service. Every response of a service is read here, by the schemas that hold everywhere else.

export interface ProviderIdentity {
  /** Of OpenID Connect; a constant for services without one. */
  issuer: string;
  /** The issuer's own id of the person, which it never gives to another. */
  subject: string;
  /** In lower case; a problem when the service gives none that is verified and that can be used here. */
  email: { address: string } | { problem: SignInProblem };
  /** Passes `Name`. */
  name: string;
}

/** Google writes its own in two ways, and GitHub has none. */
const ISSUERS: Record<string, string> = { google: "https://accounts.google.com", github: "https://github.com" };

const Subject = z.string().regex(/^[\x20-\x7e]{1,255}$/);
const Issuer = z.url().max(2000);
const Profile = z.looseObject({
  iss: z.unknown().optional(),
  sub: z.unknown().optional(),
  id: z.unknown().optional(),
  email: z.unknown().optional(),
  email_verified: z.unknown().optional(),
  name: z.unknown().optional(),
  login: z.unknown().optional(),
});
type Profile = z.infer<typeof Profile>;

/**
 * Returns true when the service vouches for the address. Google and GitHub serve everybody and must say so. The operator's own issuer is trusted
 * when it says nothing.
 */
function isVerified(provider: string, { email_verified: given }: Profile): boolean {
  if (given === undefined) return provider === "oidc";
  return given === true || (typeof given === "string" && given.toLowerCase() === "true");
}

function emailOf(provider: string, profile: Profile): ProviderIdentity["email"] {
  if (profile.email === undefined || profile.email === null || profile.email === "") return { problem: "NoAddress" };
  const email = Email.safeParse(profile.email);
  if (!email.success) return { problem: "UnusableAddress" };
  return isVerified(provider, profile) ? { address: email.data.toLowerCase() } : { problem: "NotVerified" };
}

/** The longest beginning of at most `max` UTF-16 code units that cuts no character in two. */
const cut = (text: string, max: number): string =>
  text
    .slice(0, max)
    .toWellFormed()
    .replace(/\ufffd$/, "");

/** The first of what a service calls the person that passes `Name`, without control characters and shortened to its length. */
function nameOf({ name, login }: Profile, fallback: string): string {
  const plain = (text: string) =>
    cut(
      text
        .toWellFormed()
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
        .trim(),
      120,
    );
  const found = [name, login].map((text) => Name.safeParse(typeof text === "string" ? plain(text) : ""));
  return found.find(({ success }) => success)?.data ?? cut(fallback, 120);
}

/**
 * Reads what a service says about a person.
 * @param provider id of the service in `oauth-providers.ts`
 * @returns null when it does not say who the person is
 */
export function readIdentity(provider: string, given: unknown): ProviderIdentity | null {
  const { data: profile } = Profile.safeParse(given);
  if (!profile) return null;
  const id = provider === "github" ? profile.id : profile.sub;
  const subject = Subject.safeParse(Number.isSafeInteger(id) ? String(id) : id);
  const issuer = Issuer.safeParse(ISSUERS[provider] ?? profile.iss);
  if (!(subject.success && issuer.success)) return null;
  const email = emailOf(provider, profile);
  const name = nameOf(profile, "address" in email ? email.address : "Unnamed");
  return { issuer: issuer.data, subject: subject.data, email, name };
}
