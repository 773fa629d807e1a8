import type { z } from "zod";
import { assertInstallAdmin } from "#server/auth/install-admin.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { InstallAdmin, NameInstallAdminInput } from "#server/schemas/install.ts";
import { recordAuditEverywhere } from "#server/services/audit/record-audit.ts";
import { shownFields, toInstallAdmin } from "#server/services/install/install-admin-dto.ts";

/**
 * Makes somebody who has an account here an admin of the install; who is one stays one.
 * @throws AppError PERMISSION_DENIED for who is none; VALIDATION_ERROR for an address without an account
 */
export async function nameInstallAdmin(principal: Principal, input: z.infer<typeof NameInstallAdminInput>): Promise<InstallAdmin> {
  await assertInstallAdmin(principal);
  const email = input.email.toLowerCase();
  return db().$transaction(async (tx) => {
    const { count } = await tx.user.updateMany({
      where: { email, deleted_at: null, is_install_admin: false },
      data: { is_install_admin: true },
    });
    const user = await tx.user.findFirst({ where: { email, deleted_at: null }, select: shownFields });
    if (!user) {
      const message = "Nobody has an account with this address here: invite them to a project first.";
      throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "email", message }] });
    }
    const resource = { resource_type: "install_admin", resource_id: user.id, resource_name: user.email };
    if (count > 0) await recordAuditEverywhere(tx, principal, { action: "install_admin.add", ...resource });
    return toInstallAdmin(user);
  });
}
