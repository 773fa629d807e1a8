import type { z } from "zod";
import { Prisma } from "#prisma/generated/client.ts";
import type { Person, PersonRef } from "#server/features/install/schema.ts";
import { mailAccount } from "#server/features/security/account-mail.ts";
import { makePasswordLink } from "#server/features/security/password-reset.ts";
import type { PasswordLink } from "#server/features/security/schema.ts";
import { dropSecondFactor } from "#server/features/security/second-factor.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { assertInstallAdmin } from "#server/platform/auth/rights.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { AppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged } from "#server/platform/paging.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";

// What install admins do for people who cannot sign in any more.

/** The people who have an account here, newest first. @throws AppError PERMISSION_DENIED for who is no install admin */
export async function listPeople(principal: Principal, input: ListInput): Promise<Page<Person>> {
  await assertInstallAdmin(principal);
  const from = Prisma.sql`users x WHERE x.deleted_at IS NULL AND x.service_project_id IS NULL`;
  const { total, ids } = await findPage(input, from, Prisma.sql`concat_ws(' ', x.email, x.name)`);
  const rows = await db().user.findMany({ where: { id: { in: ids } }, include: { second_factor: true }, orderBy: { id: "desc" } });
  return paged(input, [total, rows], (user) => ({
    user_id: user.id,
    email: user.email,
    name: user.name,
    created_at: user.created_at.toISOString(),
    is_verified: user.email_verified_at !== null,
    is_install_admin: user.is_install_admin,
    has_second_factor: Boolean(user.second_factor?.confirmed_at),
  }));
}

/**
 * An account is not its own way around the password and the code that change how it signs in: neither for a key that has leaked nor for
 * a browser that was left open.
 * @throws AppError PERMISSION_DENIED
 */
function assertOther({ user }: Principal, user_id: string): void {
  if (user_id.toLowerCase() !== user.id) return;
  throw new AppError(
    "PERMISSION_DENIED",
    "Of your own account you change that in Settings, Security, with your password and a code. Without them another install admin helps: name one.",
  );
}

const noPerson = () => new AppError("NOT_FOUND", "There is no such person.");

/**
 * Makes a link that sets a new password for a person, once and within an hour, to hand over. The person is told by mail.
 * @throws AppError PERMISSION_DENIED for who is no install admin, and for one's own account; NOT_FOUND
 */
export async function linkToNewPassword(
  principal: Principal,
  { user_id }: z.infer<typeof PersonRef>,
): Promise<z.infer<typeof PasswordLink>> {
  await assertInstallAdmin(principal);
  assertOther(principal, user_id);
  if (!isUuid(user_id)) throw noPerson();
  return makePasswordLink(principal, user_id);
}

/**
 * Removes the second factor of a person who has lost it, and the recovery codes. The person is told by mail.
 * @throws AppError PERMISSION_DENIED for who is no install admin, and for one's own account; NOT_FOUND for nobody, and for one who has none
 */
export async function removeSecondFactor(principal: Principal, { user_id }: z.infer<typeof PersonRef>): Promise<void> {
  await assertInstallAdmin(principal);
  assertOther(principal, user_id);
  const email = await db().$transaction(async (tx) => {
    const user = isUuid(user_id) ? await tx.user.findFirst({ where: { id: user_id, deleted_at: null } }) : null;
    if (!user || !(await dropSecondFactor(tx, user.id)))
      throw new AppError("NOT_FOUND", "There is no such person, or they have no two-factor authentication.");
    const record = {
      action: "account.remove_second_factor",
      resource_type: "account",
      resource_id: user.id,
      resource_name: user.email,
    } as const;
    await recordAuditEverywhere(tx, principal, record, user.id);
    return user.email;
  });
  mailAccount(email, {
    subject: "Two-factor authentication of your Treadle account was removed",
    title: "An install admin removed your two-factor authentication",
    paragraphs: [`${principal.user.email} removed it. You now sign in with your password only. If you did not ask for this, contact them.`],
  });
}
