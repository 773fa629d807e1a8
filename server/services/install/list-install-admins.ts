import { assertInstallAdmin } from "#server/auth/install-admin.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { InstallAdmin } from "#server/schemas/install.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { shownFields, toInstallAdmin } from "#server/services/install/install-admin-dto.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

/** The admins of the install, newest account first. @throws AppError PERMISSION_DENIED for everybody else */
export async function listInstallAdmins(principal: Principal, input: PageInput): Promise<Page<InstallAdmin>> {
  await assertInstallAdmin(principal);
  const where = { is_install_admin: true, deleted_at: null };
  const rows = db().user.findMany({ where, select: shownFields, orderBy: { id: "desc" }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().user.count({ where }), rows]), toInstallAdmin);
}
