import { z } from "zod";
import { NotificationChoices, NotificationChoicesInput } from "#server/features/notifications/schema.ts";
import { EndedAccess } from "#server/features/security/schema.ts";
import { AccountEmail, Email, Id, Name, Password, pageOf, Role, Timestamp } from "#server/shared/primitives-schema.ts";

const PersonName = Name.meta({ example: "Ada" });

export const AuthInfo = z
  .object({
    id: Id,
    email: AccountEmail,
    name: z.string().meta({ example: "Ada" }),
    auth: z.object({ type: z.enum(["platform_key", "session"]), key_id: Id.optional() }),
  })
  .meta({ id: "AuthInfo" });
export type AuthInfo = z.infer<typeof AuthInfo>;

const isTimeZone = (name: string): boolean => isTaken(() => new Intl.DateTimeFormat("en", { timeZone: name }));
const isLocale = (tag: string): boolean => isTaken(() => Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0);

function isTaken(tryIt: () => unknown): boolean {
  try {
    return Boolean(tryIt());
  } catch {
    return false;
  }
}

export const UserProfile = z
  .object({
    id: Id,
    email: AccountEmail,
    name: z.string().meta({ example: "Ada" }),
    created_at: Timestamp,
    is_install_admin: z.boolean().meta({ description: "Whether you decide for the whole install", example: false }),
    time_zone: z
      .string()
      .nullable()
      .meta({ description: "Of the times that the web app shows you; null: the browser's", example: "Europe/Berlin" }),
    locale: z
      .string()
      .nullable()
      .meta({ description: "How the web app writes dates and numbers; null: as in 21 Nov 2026", example: "de-DE" }),
    notifications: NotificationChoices.meta({ description: "How you are told of what" }),
    notify_run_failed: z
      .boolean()
      .meta({ description: "Whether you get an e-mail when runs fail: `notifications.run_failed.mail`", example: false }),
    projects: z.array(
      z.object({ id: Id, slug: z.string().meta({ example: "weaving" }), name: z.string().meta({ example: "Weaving" }), role: Role }),
    ),
  })
  .meta({ id: "UserProfile" });
export type UserProfile = z.infer<typeof UserProfile>;

export const UpdateProfileInput = z.strictObject({
  name: PersonName.optional(),
  time_zone: z
    .string()
    .max(60)
    .refine(isTimeZone, "This is no time zone. Name one as in Europe/Berlin.")
    .nullable()
    .optional()
    .meta({ title: "Time zone", description: "IANA name; null: the browser's", example: "Europe/Berlin" }),
  locale: z
    .string()
    .max(35)
    .refine(isLocale, "Dates and numbers cannot be written in this way. Name a language as in de-DE.")
    .nullable()
    .optional()
    .meta({ title: "Dates and numbers", description: "BCP 47; null: as in 21 Nov 2026", example: "de-DE" }),
  notifications: NotificationChoicesInput.optional().meta({
    description: "Kinds that are left out stay as they are",
    example: { review: { in_app: true, mail: true } },
  }),
  notify_run_failed: z
    .boolean()
    .optional()
    .meta({ description: "Whether you get an e-mail when runs fail, at most one a workflow and hour: `notifications.run_failed.mail`" }),
});
export const ChangePasswordInput = z.strictObject({
  current_password: z.string().max(200).meta({ title: "Current password" }),
  new_password: Password,
  end_api_keys: z.boolean().optional().meta({ description: "true also deletes every API key of yours" }),
});

export const SignUpInput = z.strictObject({ email: Email, name: PersonName, password: Password });
export type SignUpInput = z.infer<typeof SignUpInput>;
export const SetUpInput = SignUpInput.extend({
  code: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "From the address that the start has printed; not needed on the machine itself" }),
});
export const SignedUp = z.object({ id: Id, email: AccountEmail, name: z.string().meta({ example: "Ada" }) }).meta({ id: "SignedUp" });

export const InvitationInput = z.strictObject({
  token: z.string().min(1).max(200).meta({ description: "From the link of the invitation", example: "q2w3e4" }),
});
export const Invitation = z
  .object({
    email: Email,
    project: z.object({ name: z.string().meta({ example: "Weaving" }), slug: z.string().meta({ example: "weaving" }) }),
    role: Role,
    expires_at: Timestamp,
  })
  .meta({ id: "Invitation" });
export const AcceptInvitationInput = z.strictObject({
  token: z.string().min(1).max(200).meta({ description: "From the link of the invitation", example: "q2w3e4" }),
  name: PersonName.optional().meta({ description: "Name of the new account; required unless the address has an account" }),
  password: Password.optional().meta({ description: "Password of the new account; required unless the address has an account" }),
});

/** An invitation as the page of its link shows it. Not part of the REST API. */
export const OpenedInvitation = Invitation.extend({
  account: z.enum(["none", "signed_in", "signed_out"]).meta({ description: "Account of the address, as seen from this browser" }),
  project_id: Id,
  signed_in_as: z.string().nullable().meta({ description: "Email of the account that this browser is signed in to" }),
});
export type OpenedInvitation = z.infer<typeof OpenedInvitation>;

/** What the signed-in person is asked to join. Not part of the REST API. */
export const OwnInvitations = z.object({
  items: z.array(
    z.object({
      id: Id,
      role: Role,
      project: z.object({ id: Id, name: z.string() }),
      invited_by: z.string().nullable(),
      was_member: z.boolean().meta({ description: "True for a membership that was put aside when the account got a new password" }),
    }),
  ),
  has_earlier: z.boolean().meta({ description: "Whether an earlier password of the account would open projects again" }),
  put_aside: z.number().int().meta({ description: "Memberships that were put aside when the address was proven and wait for a decision" }),
});
export type OwnInvitations = z.infer<typeof OwnInvitations>;
export const DeclineInvitationInput = z.strictObject({ invitation_id: Id });

/** A membership that an account had before its address was proven. */
export const PutAside = z
  .object({
    id: Id,
    project: z.object({ id: Id, name: z.string().meta({ example: "Weaving" }) }),
    role: Role.meta({ description: "Role that the account had" }),
    is_own: z.boolean().meta({
      description: "True when the account created the project and was its admin: taking over removes everyone else",
      example: true,
    }),
    owner_email: z.string().nullable().meta({ description: "Email of the project's owner", example: "ada@example.com" }),
    members: z.number().int().meta({ description: "People who are members of the project now", example: 1 }),
    put_aside_at: Timestamp,
  })
  .meta({ id: "PutAside" });
export type PutAside = z.infer<typeof PutAside>;
export const PutAsidePage = pageOf(PutAside)
  .extend({
    ended: EndedAccess.nullable().meta({ description: "What ended when the address was proven; null when nothing was put aside" }),
  })
  .meta({ id: "PutAsidePage" });
export type PutAsidePage = z.infer<typeof PutAsidePage>;
export const PutAsideRef = z.strictObject({ put_aside_id: Id });

export const ResumeMembershipsInput = z.strictObject({ password: z.string().min(1).max(200).meta({ title: "Earlier password" }) });
export const ResumedMemberships = z.object({ projects: z.array(z.string()) });

/** Reason for a failed sign-in through a service. Stands in the address of the sign-in page, which has a sentence for each. */
export const SignInProblem = z.enum([
  "AccessDenied",
  "AccountAsksForCode",
  "Cancelled",
  "NoAddress",
  "NotVerified",
  "OAuthCallback",
  "OAuthSignin",
  "OtherIdentity",
  "ServiceFailed",
  "Unfinished",
  "UnusableAddress",
]);
export type SignInProblem = z.infer<typeof SignInProblem>;

/** As whom the caller signs in through services. Not part of the REST API. */
export const OwnIdentities = z.object({ items: z.array(z.object({ issuer: z.string(), created_at: Timestamp })) });
export type OwnIdentities = z.infer<typeof OwnIdentities>;

/** What the entry pages need before anybody is signed in. Not part of the REST API. */
export const InstallStatus = z.object({
  is_empty: z.boolean().meta({ description: "True until the first owner exists" }),
  needs_code: z.boolean().meta({ description: "Whether this visitor sets it up with the printed code only" }),
  signup_open: z.boolean(),
  sends_mail: z.boolean().meta({ description: "Whether a link for a new password can come by mail" }),
});
export type InstallStatus = z.infer<typeof InstallStatus>;

export const DeleteAccountInput = z.strictObject({
  password: z
    .string()
    .max(200)
    .optional()
    .meta({ title: "Password", description: "Your password; needed when the account has one", example: "correct horse battery" }),
  confirm_email: Email.optional().meta({
    title: "E-mail",
    description: "Your own address; needed, in the web app, when the account has no password",
    example: "ada@example.com",
  }),
  delete_projects: z
    .boolean()
    .default(false)
    .meta({ description: "true also deletes the projects without other members; false refuses with 409 while there are any" }),
});
export type DeleteAccountInput = z.infer<typeof DeleteAccountInput>;

const named = z.array(z.object({ id: Id, name: z.string() }));
/** What deleting the account would come to, for the dialog that asks. Not part of the REST API. */
export const AccountDeletion = z.object({
  has_password: z.boolean(),
  alone: named.meta({ description: "They have no other members and are deleted too" }),
  last_admin: named.meta({ description: "Others are in them and no other admin: they stand in the way" }),
  shared: named.meta({ description: "They go on without you" }),
});
export type AccountDeletion = z.infer<typeof AccountDeletion>;
