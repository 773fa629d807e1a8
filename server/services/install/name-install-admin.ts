import type { z } from "zod";
import { assertInstallAdmin } from "#server/auth/install-admin.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { InstallAdmin, NameInstallAdminInput } from "#server/schemas/install.ts";
import { recordAuditEverywhere } from "#server/services/audit/record-audit.ts";
import { shownFields, toInstallAdmin } from "#server/services/install/install-admin-dto.ts";

const judgedFields = { is_install_admin: true, email_verified_at: true } as const;

const refused = (path: string, message: string) => new AppError("VALIDATION_ERROR", message, { errors: [{ path, message }] });

/**
 * Makes somebody who has an account here an admin of the install; who is one stays one. An account whose address nobody has
 * verified may be anybody's (decision 21), so that has to be accepted in so many words.
 * @throws AppError PERMISSION_DENIED for who is none; VALIDATION_ERROR for an address without an account, and for one that is
 *   not verified and not accepted
 */
export async function nameInstallAdmin(principal: Principal, input: z.infer<typeof NameInstallAdminInput>): Promise<InstallAdmin> {
  await assertInstallAdmin(principal);
  const email = input.email.toLowerCase();
  return db().$transaction(async (tx) => {
    const user = await tx.user.findFirst({ where: { email, deleted_at: null }, select: { ...shownFields, ...judgedFields } });
    if (!user) throw refused("email", "Nobody has an account with this address here: invite them to a project first.");
    if (user.is_install_admin) return toInstallAdmin(user);
    if (!user.email_verified_at && !input.accept_unverified)
      throw refused(
        "accept_unverified",
        `The address of this account is not verified: somebody made it on ${user.created_at.toISOString().slice(0, 10)}, and nobody knows whether it is theirs. Ask them, then name them with accept_unverified.`,
      );
    await tx.user.update({ where: { id: user.id }, data: { is_install_admin: true } });
    const resource = { resource_type: "install_admin", resource_id: user.id, resource_name: user.email };
    await recordAuditEverywhere(tx, principal, { action: "install_admin.add", ...resource });
    return toInstallAdmin(user);
  });
}
