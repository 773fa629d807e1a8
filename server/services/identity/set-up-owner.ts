import type { z } from "zod";
import type { Visitor } from "#server/auth/request-origin.ts";
import { countPasswordTry } from "#server/auth/sign-in-throttle.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { SetUpInput, SignedUp } from "#server/schemas/identity.ts";
import { hashPassword, isSameSecret } from "#server/secrets.ts";
import { signedUp } from "#server/services/identity/insert-account.ts";
import { hasOwner, insertFirstOwner } from "#server/services/identity/insert-first-owner.ts";
import { settings } from "#server/settings.ts";

const isTaken = () => new AppError("CONFLICT", "This install has an owner already: sign in instead.");

/** That it is whoever runs the machine: somebody at it, or somebody who has read what the start printed. */
async function assertOperator(code: string | undefined, { address, isOnThisMachine }: Visitor): Promise<void> {
  if (isOnThisMachine) return;
  const { TREADLE_SETUP_CODE } = settings();
  if (TREADLE_SETUP_CODE !== undefined && code !== undefined && isSameSecret(code, TREADLE_SETUP_CODE)) return;
  // Only wrong ones count: nobody can guess it, and others' tries are not to keep the operator out.
  await countPasswordTry("set-up", address);
  throw new AppError(
    "PERMISSION_DENIED",
    "The owner is made from the machine that runs Treadle, or with the whole address that its start has printed (…/setup?code=…). Each start prints a new one.",
  );
}

/**
 * Creates the owner of an empty install, with a project to start in.
 * @throws AppError CONFLICT when anybody has an account here; PERMISSION_DENIED from elsewhere without the code that the start
 *   has printed; RATE_LIMIT_EXCEEDED after too many codes
 */
export async function setUpOwner(
  { email, name, password, code }: z.infer<typeof SetUpInput>,
  visitor: Visitor,
): Promise<z.infer<typeof SignedUp>> {
  if (await hasOwner()) throw isTaken();
  await assertOperator(code, visitor);
  const password_hash = await hashPassword(password);
  const owner = await db().$transaction((tx) => insertFirstOwner(tx, { email, name, password_hash, made_through: "setup" }));
  if (!owner) throw isTaken();
  return signedUp(owner.user);
}
