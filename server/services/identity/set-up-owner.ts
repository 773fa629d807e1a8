import type { z } from "zod";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { SignedUp, SignUpInput } from "#server/schemas/identity.ts";
import { hashPassword } from "#server/secrets.ts";
import { signedUp } from "#server/services/identity/insert-account.ts";
import { insertFirstOwner } from "#server/services/identity/insert-first-owner.ts";

const isTaken = () => new AppError("CONFLICT", "This install has an owner already: sign in instead.");

/**
 * Creates the owner of an empty install, with a project to start in.
 * @throws AppError CONFLICT when anybody has an account here
 */
export async function setUpOwner({ email, name, password }: SignUpInput): Promise<z.infer<typeof SignedUp>> {
  if (await db().user.findFirst({ where: { deleted_at: null }, select: { id: true } })) throw isTaken();
  const password_hash = await hashPassword(password);
  const owner = await db().$transaction((tx) => insertFirstOwner(tx, { email, name, password_hash }));
  if (!owner) throw isTaken();
  return signedUp(owner.user);
}
