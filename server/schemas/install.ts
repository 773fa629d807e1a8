import { z } from "zod";
import { Email, Id, pageOf, Timestamp } from "#server/schemas/primitives.ts";

/** Somebody who may decide for the whole install: its first owner, and whom install admins name. */
export const InstallAdmin = z
  .object({
    user_id: Id,
    email: Email,
    name: z.string().meta({ example: "Ada" }),
    created_at: Timestamp.meta({ description: "Since when the account exists" }),
  })
  .meta({ id: "InstallAdmin" });
export type InstallAdmin = z.infer<typeof InstallAdmin>;
export const InstallAdminPage = pageOf(InstallAdmin);
export const NameInstallAdminInput = z.strictObject({ email: Email });
export const InstallAdminRef = z.strictObject({ user_id: Id });
