import { projectLimit } from "#server/auth/key-rights.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";

/**
 * Whether the caller may decide for the whole install: its first owner and whom install admins name. A key for some projects
 * never speaks for the install.
 */
export async function isInstallAdmin(principal: Principal): Promise<boolean> {
  if (projectLimit(principal)) return false;
  const where = { id: principal.user.id, is_install_admin: true, deleted_at: null };
  return (await db().user.findFirst({ where, select: { id: true } })) !== null;
}

/** @throws AppError PERMISSION_DENIED for everybody else */
export async function assertInstallAdmin(principal: Principal): Promise<void> {
  if (await isInstallAdmin(principal)) return;
  throw new AppError("PERMISSION_DENIED", "This is for install admins: the first owner of this install, and whom they name.");
}
