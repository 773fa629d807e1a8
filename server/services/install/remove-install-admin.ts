import type { z } from "zod";
import { assertInstallAdmin } from "#server/auth/install-admin.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { InstallAdminRef } from "#server/schemas/install.ts";
import { recordAuditEverywhere } from "#server/services/audit/record-audit.ts";
import { isUuid } from "#server/services/ids.ts";
import { keepAnInstallAdmin } from "#server/services/install/keep-an-install-admin.ts";

/**
 * Takes the install out of somebody's hands, also out of one's own. What they allowed stays allowed.
 * @throws AppError PERMISSION_DENIED for who is no install admin; NOT_FOUND; CONFLICT for the last one
 */
export async function removeInstallAdmin(principal: Principal, { user_id }: z.infer<typeof InstallAdminRef>): Promise<void> {
  await assertInstallAdmin(principal);
  await db().$transaction(async (tx) => {
    const where = { id: user_id, is_install_admin: true, deleted_at: null };
    const user = isUuid(user_id) ? await tx.user.findFirst({ where, select: { id: true, email: true } }) : null;
    if (!user) throw new AppError("NOT_FOUND", "There is no such install admin.");
    await keepAnInstallAdmin(tx, user.id);
    await tx.user.update({ where: { id: user.id }, data: { is_install_admin: false } });
    const resource = { resource_type: "install_admin", resource_id: user.id, resource_name: user.email };
    await recordAuditEverywhere(tx, principal, { action: "install_admin.remove", ...resource });
  });
}
