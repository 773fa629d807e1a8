import { z } from "zod";
import { NotificationChoices, NotificationChoicesInput } from "#server/features/notifications/schema.ts";
import { Email, Id, Name, Password, Role, Timestamp } from "#server/shared/primitives-schema.ts";

const PersonName = Name.meta({ example: "Ada" });

export const AuthInfo = z
  .object({
    id: Id,
    email: Email,
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
    email: Email,
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
export const SignedUp = z.object({ id: Id, email: Email, name: z.string().meta({ example: "Ada" }) }).meta({ id: "SignedUp" });

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
  name: PersonName.optional().meta({ description: "Needed for a new account" }),
  password: Password.optional().meta({
    description:
      "Of the account that is made, or of the one that the address has. Where nobody has verified the address, another password than its own becomes its new one: every session and API key of it ends, and an invitation link that did not come by mail then leads into this project alone. Not needed in a browser that is signed in with the account",
  }),
});

/** An invitation as the page of its link shows it. Not part of the REST API. */
export const OpenedInvitation = Invitation.extend({
  account: z.enum(["none", "signed_in", "verified", "unverified"]).meta({ description: "What account the address has" }),
  project_id: Id,
  is_mailed: z.boolean(),
  signed_in_as: z.string().nullable(),
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
});
export type OwnInvitations = z.infer<typeof OwnInvitations>;
export const DeclineInvitationInput = z.strictObject({ invitation_id: Id });
export const ResumeMembershipsInput = z.strictObject({ password: z.string().min(1).max(200).meta({ title: "Earlier password" }) });
export const ResumedMemberships = z.object({ projects: z.array(z.string()) });

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
    .meta({ description: "true also deletes the projects that nobody else is in; false refuses with 409 while there are any" }),
});
export type DeleteAccountInput = z.infer<typeof DeleteAccountInput>;

const named = z.array(z.object({ id: Id, name: z.string() }));
/** What deleting the account would come to, for the dialog that asks. Not part of the REST API. */
export const AccountDeletion = z.object({
  has_password: z.boolean(),
  alone: named.meta({ description: "Nobody else is in them: they are deleted too" }),
  last_admin: named.meta({ description: "Others are in them and no other admin: they stand in the way" }),
  shared: named.meta({ description: "They go on without you" }),
});
export type AccountDeletion = z.infer<typeof AccountDeletion>;
