import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import type { InstallAdmin, InstallAdminRef, NameInstallAdminInput } from "#server/features/install/schema.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { assertInstallAdmin } from "#server/platform/auth/rights.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** What a query must select for `toInstallAdmin`. */
export const shownFields = { id: true, email: true, name: true, created_at: true } as const;

export const toInstallAdmin = ({ id, email, name, created_at }: Pick<User, keyof typeof shownFields>): InstallAdmin => ({
  user_id: id,
  email,
  name,
  created_at: created_at.toISOString(),
});

/**
 * Refuses what would leave an install that people use without an admin. Of two who leave at once, the second is refused.
 * @throws AppError CONFLICT
 */
export async function keepAnInstallAdmin(within: Prisma.TransactionClient, leavingId: string): Promise<void> {
  const admins = await within.$queryRaw<{ id: string }[]>`
    SELECT id FROM users WHERE is_install_admin AND deleted_at IS NULL ORDER BY id FOR UPDATE`;
  const isLast = admins.length === 1 && admins[0]?.id === leavingId;
  if (
    !isLast ||
    !(await within.user.findFirst({ where: { deleted_at: null, service_project_id: null, id: { not: leavingId } }, select: { id: true } }))
  )
    return;
  throw new AppError("CONFLICT", "This is the last admin of the install. Name another one first, in Settings, Install.");
}

/** The admins of the install, newest account first. @throws AppError PERMISSION_DENIED for everybody else */
export async function listInstallAdmins(principal: Principal, input: PageInput): Promise<Page<InstallAdmin>> {
  await assertInstallAdmin(principal);
  const where = { is_install_admin: true, deleted_at: null };
  const rows = db().user.findMany({ where, select: shownFields, orderBy: { id: "desc" }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().user.count({ where }), rows]), toInstallAdmin);
}

const judgedFields = { is_install_admin: true, email_verified_at: true } as const;

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
    const user = await tx.user.findFirst({
      where: { email, deleted_at: null, service_project_id: null },
      select: { ...shownFields, ...judgedFields },
    });
    if (!user) throw invalidField("email", "This install has no account with this address. Invite the person to a project first.");
    if (user.is_install_admin) return toInstallAdmin(user);
    if (!user.email_verified_at && !input.accept_unverified)
      throw invalidField(
        "accept_unverified",
        `The address of this account, created on ${user.created_at.toISOString().slice(0, 10)}, is not verified, so it may belong to someone else. Ask the owner of the address, then send accept_unverified: true.`,
      );
    await tx.user.update({ where: { id: user.id }, data: { is_install_admin: true } });
    const resource = { resource_type: "install_admin", resource_id: user.id, resource_name: user.email } as const;
    await recordAuditEverywhere(tx, principal, { action: "install_admin.add", ...resource });
    return toInstallAdmin(user);
  });
}

/**
 * Takes the install out of somebody's hands, also out of one's own. What they allowed stays allowed; links to new passwords that they made end.
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
    // Whoever keeps a link that they made would still open the account of another with it.
    await tx.passwordReset.deleteMany({ where: { made_by_id: user.id } });
    const resource = { resource_type: "install_admin", resource_id: user.id, resource_name: user.email } as const;
    await recordAuditEverywhere(tx, principal, { action: "install_admin.remove", ...resource });
  });
}
