import type { z } from "zod";
import type { ChangePasswordInput, UpdateProfileInput, UserProfile } from "#server/features/identity/schema.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { projectLimit } from "#server/platform/auth/rights.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { hashPassword, isPassword } from "#server/platform/secrets.ts";

/** The caller with all projects that the key opens, in the order of joining. */
export async function getProfile(principal: Principal): Promise<UserProfile> {
  const { user } = principal;
  const limit = projectLimit(principal);
  const row = await db().user.findUniqueOrThrow({
    where: { id: user.id },
    select: {
      id: true,
      email: true,
      name: true,
      created_at: true,
      is_install_admin: true,
      notify_run_failed: true,
      memberships: {
        ...(limit && { where: { project_id: { in: [...limit] } } }),
        select: { role: true, slug: true, project: { select: { id: true, slug: true, name: true } } },
        orderBy: [{ created_at: "asc" }, { project_id: "asc" }],
      },
    },
  });
  const { memberships, created_at, ...who } = row;
  return {
    ...who,
    created_at: created_at.toISOString(),
    projects: memberships.map(({ project, slug, role }) => ({ ...project, slug: slug ?? project.slug, role })),
  };
}

/** Changes the caller's name, and what they are told of by e-mail; what is left out stays. */
export async function updateProfile(
  principal: Principal,
  { name, notify_run_failed }: z.infer<typeof UpdateProfileInput>,
): Promise<UserProfile> {
  const { id, email, name: before } = principal.user;
  const data = { ...(name !== undefined && { name }), ...(notify_run_failed !== undefined && { notify_run_failed }) };
  if (Object.keys(data).length > 0)
    await db().$transaction(async (tx) => {
      await tx.user.update({ where: { id }, data });
      const record = { action: "account.update", resource_type: "account", resource_id: id, resource_name: email };
      await recordAuditEverywhere(tx, principal, { ...record, detail: { ...data, ...(name !== undefined && { before }) } });
    });
  return getProfile(principal);
}

/**
 * Sets a new password. Every browser session opened under the old one ends, this one too: the page signs in again. API keys end too when
 * `end_api_keys` says so.
 * @throws AppError VALIDATION_ERROR for a wrong current password; CONFLICT for an account without one and for one whose password was changed meanwhile;
 *   RATE_LIMIT_EXCEEDED after too many tries
 */
export async function changePassword(
  principal: Principal,
  { current_password, new_password, end_api_keys }: z.infer<typeof ChangePasswordInput>,
): Promise<void> {
  const { user } = principal;
  const { password_hash } = await db().user.findUniqueOrThrow({ where: { id: user.id }, select: { password_hash: true } });
  if (!password_hash) throw new AppError("CONFLICT", "This account has no password: it signs in through another service.");
  await countOwnPasswordTry(user.id, "change");
  if (!(await isPassword(password_hash, current_password))) {
    const message = "This is not your current password.";
    throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "current_password", message }] });
  }
  await forgetOwnPasswordTries(user.id, "change");
  const changed = await hashPassword(new_password);
  await db().$transaction(async (tx) => {
    // Not where the account got another password meanwhile, or lost it to whom the address belongs.
    const { count } = await tx.user.updateMany({ where: { id: user.id, password_hash }, data: { password_hash: changed } });
    if (count === 0) throw new AppError("CONFLICT", "The password has been changed just now: sign in again.");
    if (end_api_keys) await tx.platformKey.deleteMany({ where: { user_id: user.id } });
    const record = { resource_type: "account", resource_id: user.id, resource_name: user.email };
    await recordAuditEverywhere(tx, principal, {
      action: "account.change_password",
      ...record,
      ...(end_api_keys && { detail: { api_keys: "ended" } }),
    });
  });
}
