import { z } from "zod";
import { AccountEmail, Email, Id, Password, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

/** A browser that is signed in. */
export const Session = z
  .object({
    id: Id,
    agent: z.string().nullable().meta({ description: "The browser, as it calls itself", example: "Mozilla/5.0 (X11; Linux x86_64) …" }),
    ip: z.string().nullable().meta({ description: "The address that it was used from last", example: "203.0.113.7" }),
    opened_at: Timestamp,
    seen_at: Timestamp.meta({ description: "When it was used last, to about a minute" }),
    is_current: z.boolean().meta({ description: "Whether it is the one that asks", example: false }),
  })
  .meta({ id: "Session" });
export type Session = z.infer<typeof Session>;
export const SessionPage = pageOf(Session);
export const SessionRef = z.strictObject({ session_id: Id });
export const EndedSessions = z.object({ count: z.number().int().meta({ description: "How many were ended", example: 2 }) });

/** Counts of the access that ended at the first proof of an address. */
export const EndedAccess = z
  .object({
    sessions: z.number().int().meta({ description: "Browsers that were signed out", example: 1 }),
    api_keys: z.number().int().meta({ description: "API keys of the account", example: 2 }),
    second_factor: z.boolean().meta({ description: "True when the account had two-factor authentication", example: false }),
    service_accounts: z.number().int().meta({ description: "Service accounts that the account created", example: 1 }),
    share_links: z.number().int().meta({ description: "Links of dashboards that the account shared", example: 0 }),
  })
  .meta({ id: "EndedAccess" });

export const RequestPasswordResetInput = z.strictObject({ email: Email });
const token = z.string().min(1).max(200).meta({ description: "From the link", example: "q2w3e4" });
export const PasswordResetInput = z.strictObject({ token });
/** Whose password a link sets. */
export const PasswordReset = z.object({ email: AccountEmail, expires_at: Timestamp }).meta({ id: "PasswordReset" });
export const ResetPasswordInput = z.strictObject({
  token,
  password: Password,
  end_api_keys: z.boolean().optional().meta({ description: "true also deletes every API key of the account" }),
});
export const PasswordLink = z
  .object({
    url: z.string().meta({ description: "To hand over; works once", example: "https://treadle.example/reset-password/q2w3e4" }),
    expires_at: Timestamp,
  })
  .meta({ id: "PasswordLink" });

// What follows is for the web app only: a key that has leaked must not change how its owner signs in.

const currentPassword = z.string().min(1, "Enter your password.").max(200).meta({ title: "Your password" });
const code = z
  .string()
  .trim()
  .min(1, "Enter a code.")
  .max(100)
  .meta({ title: "Code", description: "Of the authenticator app, or a recovery code" });

/** How the signed-in person signs in. */
export const SignInSafety = z.object({
  has_password: z.boolean(),
  second_factor: z.object({ since: Timestamp, recovery_codes_left: z.number().int() }).nullable(),
});
export const BeginSecondFactorInput = z.strictObject({ password: currentPassword });
export const BegunSecondFactor = z.object({
  secret: z.string().meta({ description: "Base32" }),
  uri: z.string().meta({ description: "otpauth://, for the picture" }),
});
export const ConfirmSecondFactorInput = z.strictObject({ code });
export const ProveSecondFactorInput = z.strictObject({ password: currentPassword, code });
export const RecoveryCodes = z.object({ recovery_codes: z.array(z.string()).meta({ description: "Each good once; shown this once" }) });
