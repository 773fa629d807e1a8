import type { z } from "zod";
import { hasOwner } from "#server/features/identity/first-owner.ts";
import { insertAccount, signedUp } from "#server/features/identity/new-account.ts";
import type { SignedUp, SignUpInput } from "#server/features/identity/schema.ts";
import { insertFirstProject } from "#server/features/projects/service.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { hashPassword } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";

/**
 * Creates an account with a project of its own, where anybody may sign up.
 * @throws AppError PERMISSION_DENIED unless ALLOW_SIGNUP is set, and before there is an owner; CONFLICT for an address that has an account
 */
export async function signUp({ email, name, password }: SignUpInput): Promise<z.infer<typeof SignedUp>> {
  if (!settings().ALLOW_SIGNUP) {
    throw new AppError("PERMISSION_DENIED", "Sign-up is closed on this install: ask an admin of a project for an invitation.");
  }
  // The first account is the owner's, and not for whoever is first.
  if (!(await hasOwner())) throw new AppError("PERMISSION_DENIED", "This install has no owner yet: its owner has to set it up first.");
  const password_hash = await hashPassword(password);
  return db().$transaction(async (tx) => {
    const user = await insertAccount(tx, { email, name, password_hash, made_through: "sign_up", is_verified: false });
    await insertFirstProject(tx, user);
    return signedUp(user);
  });
}
