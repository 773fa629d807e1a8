import { z } from "zod";
import { AccountEmail, Email, Id, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

/** Somebody who may decide for the whole install: its first owner, and whom install admins name. */
export const InstallAdmin = z
  .object({
    user_id: Id,
    email: AccountEmail,
    name: z.string().meta({ example: "Ada" }),
    created_at: Timestamp.meta({ description: "Since when the account exists" }),
  })
  .meta({ id: "InstallAdmin" });
export type InstallAdmin = z.infer<typeof InstallAdmin>;
export const InstallAdminPage = pageOf(InstallAdmin);
export const NameInstallAdminInput = z.strictObject({
  email: Email,
  accept_unverified: z.boolean().optional().meta({
    description: "Required for an account with an unverified address: confirms that the account belongs to the owner of the address",
    title: "I know that this account is theirs",
  }),
});

/** Somebody who has an account here, as install admins see them. */
export const Person = z
  .object({
    user_id: Id,
    email: AccountEmail,
    name: z.string().meta({ example: "Ada" }),
    created_at: Timestamp,
    is_verified: z.boolean().meta({ description: "Whether it is known that the address is the person's own", example: true }),
    is_install_admin: z.boolean().meta({ example: false }),
    has_second_factor: z.boolean().meta({ example: false }),
  })
  .meta({ id: "Person" });
export type Person = z.infer<typeof Person>;
export const PersonPage = pageOf(Person);
export const PersonRef = z.strictObject({ user_id: Id });

export const InstallAdminRef = z.strictObject({ user_id: Id });

/** The proxies of outgoing requests without user and password; null for those that go out directly. */
export const OutgoingProxyState = z.object({
  is_on: z.boolean(),
  http: z.string().nullable(),
  https: z.string().nullable(),
  no_proxy: z.array(z.string()),
});
export type OutgoingProxyState = z.infer<typeof OutgoingProxyState>;
