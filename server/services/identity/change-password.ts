import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/auth/sign-in-throttle.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { ChangePasswordInput } from "#server/schemas/identity.ts";
import { hashPassword, isPassword } from "#server/secrets.ts";
import { recordAuditEverywhere } from "#server/services/audit/record-audit.ts";

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
