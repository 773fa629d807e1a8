import type { z } from "zod";
import type { Prisma, Project, User } from "#prisma/generated/client.ts";
import { insertAccount, type NewAccount, signedUp } from "#server/features/identity/new-account.ts";
import type { InstallStatus, SetUpInput, SignedUp } from "#server/features/identity/schema.ts";
import { insertFirstProject } from "#server/features/projects/service.ts";
import { countPasswordTry } from "#server/platform/auth/limits.ts";
import type { Visitor } from "#server/platform/auth/request-origin.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { isMailOn } from "#server/platform/mail/send-mail.ts";
import { hashPassword, isSameSecret, storedPlatformKey } from "#server/platform/secrets.ts";
import { type Settings, settings } from "#server/platform/settings.ts";

/** Whether the install still waits for its first owner, and whether anybody may make an account. */
export async function getInstallStatus({ isOnThisMachine }: Visitor): Promise<InstallStatus> {
  return { is_empty: !(await hasOwner()), needs_code: !isOnThisMachine, signup_open: settings().ALLOW_SIGNUP, sends_mail: isMailOn() };
}

/** Any number that nothing else locks on. */
const FIRST_OWNER_LOCK = 7_308_313;

/** Whether anybody has an account here. */
export const hasOwner = async (within: Pick<Prisma.TransactionClient, "user"> = db()): Promise<boolean> =>
  (await within.user.findFirst({ where: { deleted_at: null }, select: { id: true } })) !== null;

/**
 * Adds the owner of an empty install with a first project; null when there is a user already. Of several callers at
 * once, in whichever process, one succeeds. The address is taken as verified: whoever runs the machine says that it is theirs.
 */
export async function insertFirstOwner(
  tx: Prisma.TransactionClient,
  account: Pick<NewAccount, "email" | "name" | "password_hash" | "made_through">,
): Promise<{ user: User; project: Project } | null> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${FIRST_OWNER_LOCK}::bigint)`;
  if (await hasOwner(tx)) return null;
  const { id } = await insertAccount(tx, { ...account, is_verified: true });
  const user = await tx.user.update({ where: { id }, data: { is_install_admin: true } });
  return { user, project: await insertFirstProject(tx, user) };
}

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

/**
 * Headless start: creates owner, project and API key from the BOOTSTRAP_ settings when no user exists, and does nothing
 * afterwards.
 * @returns true when the owner was created now
 * @throws Error with one sentence when only some of the settings are there
 */
export async function bootstrapOwner(
  given: Pick<Settings, "BOOTSTRAP_EMAIL" | "BOOTSTRAP_PASSWORD" | "BOOTSTRAP_API_KEY"> = settings(),
): Promise<boolean> {
  const { BOOTSTRAP_EMAIL: email, BOOTSTRAP_PASSWORD: password, BOOTSTRAP_API_KEY: key } = given;
  if (!email && !password && !key) return false;
  if (!email || !password) throw new Error("A headless start needs both BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD.");
  if (await hasOwner()) return false;
  const password_hash = await hashPassword(password);
  const name = email.split("@")[0] ?? email;
  return db().$transaction(async (tx) => {
    const owner = await insertFirstOwner(tx, { email, name, password_hash, made_through: "bootstrap" });
    if (!owner) return false;
    if (key) await tx.platformKey.create({ data: { user_id: owner.user.id, name: "Bootstrap key", ...storedPlatformKey(key) } });
    log.info(
      { user_id: owner.user.id, project_id: owner.project.id, has_key: key !== undefined },
      "owner created from the BOOTSTRAP settings",
    );
    return true;
  });
}
