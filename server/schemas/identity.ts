import { z } from "zod";
import { Email, Id, Name, Password, Role, Timestamp } from "#server/schemas/primitives.ts";

export const AuthInfo = z
  .object({
    id: Id,
    email: Email,
    name: z.string(),
    auth: z.object({ type: z.enum(["platform_key", "session"]), key_id: Id.optional() }),
  })
  .meta({ id: "AuthInfo" });
export type AuthInfo = z.infer<typeof AuthInfo>;

export const UserProfile = z
  .object({
    id: Id,
    email: Email,
    name: z.string(),
    created_at: Timestamp,
    projects: z.array(z.object({ id: Id, slug: z.string(), name: z.string(), role: Role })),
  })
  .meta({ id: "UserProfile" });
export type UserProfile = z.infer<typeof UserProfile>;

export const UpdateProfileInput = z.strictObject({ name: Name });
export const ChangePasswordInput = z.strictObject({
  current_password: z.string().max(200).meta({ title: "Current password" }),
  new_password: Password,
});

export const SignUpInput = z.strictObject({ email: Email, name: Name, password: Password });
export type SignUpInput = z.infer<typeof SignUpInput>;
export const SignedUp = z.object({ id: Id, email: Email, name: z.string() }).meta({ id: "SignedUp" });

export const InvitationInput = z.strictObject({ token: z.string().min(1).max(200) });
export const Invitation = z
  .object({ email: Email, project: z.object({ name: z.string(), slug: z.string() }), role: Role, expires_at: Timestamp })
  .meta({ id: "Invitation" });
export const AcceptInvitationInput = z.strictObject({ token: z.string().min(1).max(200), name: Name, password: Password });

/** What the entry pages need before anybody is signed in. Not part of the REST API. */
export const InstallStatus = z.object({
  is_empty: z.boolean().meta({ description: "True until the first owner exists" }),
  signup_open: z.boolean(),
});
export type InstallStatus = z.infer<typeof InstallStatus>;
