import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import type { ChangePasswordInput, UpdateProfileInput, UserProfile } from "#server/features/identity/schema.ts";
import { choicesOf } from "#server/features/notifications/schema.ts";
import { tellPasswordChanged } from "#server/features/security/password-reset.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { projectLimit } from "#server/platform/auth/rights.ts";
import { endSessions } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
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
      notification_choices: true,
      time_zone: true,
      locale: true,
      memberships: {
        ...(limit && { where: { project_id: { in: [...limit] } } }),
        select: { role: true, slug: true, project: { select: { id: true, slug: true, name: true } } },
        orderBy: [{ created_at: "asc" }, { project_id: "asc" }],
      },
    },
  });
  const { memberships, created_at, notification_choices, ...who } = row;
  const notifications = choicesOf(notification_choices);
  return {
    ...who,
    created_at: created_at.toISOString(),
    notifications,
    notify_run_failed: notifications.run_failed.mail,
    projects: memberships.map(({ project, slug, role }) => ({ ...project, slug: slug ?? project.slug, role })),
  };
}

/** The choices that somebody has after a change, as they are stored. */
async function changedChoices(tx: Prisma.TransactionClient, id: string, { notifications, notify_run_failed }: Update) {
  // One change at a time, so that of two at once none is lost.
  await tx.$queryRaw`SELECT id FROM users WHERE id = ${id}::uuid FOR UPDATE`;
  const { notification_choices } = await tx.user.findUniqueOrThrow({ where: { id }, select: { notification_choices: true } });
  const before = choicesOf(notification_choices);
  const after = { ...before, ...notifications };
  return notify_run_failed === undefined ? after : { ...after, run_failed: { ...after.run_failed, mail: notify_run_failed } };
}

type Update = z.infer<typeof UpdateProfileInput>;

/** Changes the caller's name, how times and numbers are shown, and what they are told of; what is left out stays. */
export async function updateProfile(principal: Principal, input: Update): Promise<UserProfile> {
  const { id, email, name: before } = principal.user;
  const { name, time_zone, locale, notifications, notify_run_failed } = input;
  const data = {
    ...(name !== undefined && { name }),
    ...(time_zone !== undefined && { time_zone }),
    ...(locale !== undefined && { locale }),
  };
  const isChosen = notifications !== undefined || notify_run_failed !== undefined;
  if (isChosen || Object.keys(data).length > 0)
    await db().$transaction(async (tx) => {
      const notification_choices = isChosen ? await changedChoices(tx, id, input) : undefined;
      await tx.user.update({ where: { id }, data: { ...data, ...(notification_choices && { notification_choices }) } });
      const record = { action: "account.update", resource_type: "account", resource_id: id, resource_name: email } as const;
      const told = { ...data, ...(notifications && { notifications }), ...(notify_run_failed !== undefined && { notify_run_failed }) };
      await recordAuditEverywhere(tx, principal, { ...record, detail: { ...told, ...(name !== undefined && { before }) } });
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
  if (!(await isPassword(password_hash, current_password))) throw invalidField("current_password", "This is not your current password.");
  await forgetOwnPasswordTries(user.id, "change");
  const changed = await hashPassword(new_password);
  await db().$transaction(async (tx) => {
    // Not where the account got another password meanwhile, or lost it to whom the address belongs.
    const { count } = await tx.user.updateMany({ where: { id: user.id, password_hash }, data: { password_hash: changed } });
    if (count === 0) throw new AppError("CONFLICT", "The password has been changed just now: sign in again.");
    await endSessions(tx, user.id);
    if (end_api_keys) await tx.platformKey.deleteMany({ where: { user_id: user.id } });
    const record = { resource_type: "account", resource_id: user.id, resource_name: user.email } as const;
    await recordAuditEverywhere(tx, principal, {
      action: "account.change_password",
      ...record,
      ...(end_api_keys && { detail: { api_keys: "ended" } }),
    });
  });
  tellPasswordChanged(user.email);
}
