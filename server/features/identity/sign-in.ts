import type { Prisma, User } from "#prisma/generated/client.ts";
import { hasOwner } from "#server/features/identity/first-owner.ts";
import { insertAccount } from "#server/features/identity/new-account.ts";
import type { ProviderIdentity } from "#server/features/identity/provider-identity.ts";
import type { OwnIdentities, SignInProblem } from "#server/features/identity/schema.ts";
import { insertFirstProject } from "#server/features/projects/service.ts";
import { PROOF_OPTIONS, provenAddress } from "#server/features/security/proven-address.ts";
import { checkSecondFactor } from "#server/features/security/second-factor.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import { countPasswordTry, forgetPasswordTries } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { passwordMark } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { isAppError, isUniqueViolation } from "#server/platform/errors.ts";
import { hashPassword, isPassword } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";
import { shorten } from "#server/shared/shorten.ts";

let nobody: Promise<string> | undefined;

/**
 * The user with this address and password, with the mark of that password, or null. An unknown address takes as long as a wrong password.
 * @param address of the client, for the throttle
 * @param code of the authenticator app, or a recovery code
 * @throws CodeNeeded where the account asks for a code as well; AppError RATE_LIMIT_EXCEEDED after too many tries, VALIDATION_ERROR for a
 *   code that is not right
 */
export async function signInWithPassword(
  email: string,
  password: string,
  address: string,
  code = "",
): Promise<{ id: string; email: string; name: string; password_mark: string } | null> {
  await countPasswordTry(email, address);
  const user = await db().user.findUnique({ where: { email: email.toLowerCase() } });
  nobody ??= hashPassword("the password of nobody");
  const isRight = await isPassword(user?.password_hash ?? (await nobody), password);
  if (!user?.password_hash || !isRight) return null;
  // Before the address becomes a known one: the password alone does not make it that.
  await checkSecondFactor(user, code.trim(), address);
  await forgetPasswordTries(email, address);
  return { id: user.id, email: user.email, name: user.name, password_mark: passwordMark(user.password_hash) };
}

/**
 * The account of the address that a service vouches for, when the service may open it by the address alone: with one identity of this
 * issuer it is opened by that, and with a second factor by its own session first.
 * @param session_user_id whose session the browser has, if any
 */
async function accountOf(
  tx: Prisma.TransactionClient,
  { issuer, subject, email }: Pick<ProviderIdentity, "issuer" | "subject"> & { email: string },
  session_user_id: string | undefined,
): Promise<User | SignInProblem | null> {
  // Of several first sign-ins at once each sees what the one before it has done.
  await tx.$queryRaw`SELECT id FROM users WHERE email = ${email} FOR UPDATE`;
  const found = await tx.user.findUnique({ where: { email }, include: { identities: { where: { issuer } }, second_factor: true } });
  if (!found) return null;
  const { identities, second_factor, ...user } = found;
  if (user.service_project_id) return "AccessDenied";
  if (!user.email_verified_at) return provenAddress(tx, user.id, { by: "provider" });
  const [known] = identities;
  if (user.id === session_user_id || known?.subject === subject) return user;
  if (known) return "OtherIdentity";
  return second_factor?.confirmed_at ? "AccountAsksForCode" : user;
}

async function newAccountOf(tx: Prisma.TransactionClient, email: string, name: string): Promise<User | SignInProblem> {
  const isInvited = (await tx.invitation.findFirst({ where: { email, accepted_at: null, expires_at: { gt: new Date() } } })) !== null;
  if (!(isInvited || settings().ALLOW_SIGNUP) || !(await hasOwner(tx))) return "AccessDenied";
  const created = await insertAccount(tx, { email, name, password_hash: null, made_through: "provider", is_verified: true });
  if (!isInvited) await insertFirstProject(tx, created);
  return created;
}

async function userOfIdentity(
  tx: Prisma.TransactionClient,
  { issuer, subject, email, name }: ProviderIdentity,
  session_user_id: string | undefined,
): Promise<User | SignInProblem> {
  const known = await findIdentity({ issuer, subject }, tx);
  if (known) return known;
  if ("problem" in email) return email.problem;
  const { address } = email;
  const user = (await accountOf(tx, { issuer, subject, email: address }, session_user_id)) ?? (await newAccountOf(tx, address, name));
  if (typeof user === "string") return user;

  const user_id = user.id;
  await tx.signInIdentity.upsert({
    where: { user_id_issuer: { user_id, issuer } },
    create: { user_id, issuer, subject },
    update: { subject, created_at: new Date() },
  });
  const record = { action: "account.connect_service", resource_type: "account", resource_id: user.id, resource_name: user.email } as const;
  await recordAuditEverywhere(tx, { user, auth: { type: "session" } }, { ...record, detail: { issuer: shorten(issuer, 200) } });
  return user;
}

/** The account that an identity at a service opens. */
export async function findIdentity(
  { issuer, subject }: Pick<ProviderIdentity, "issuer" | "subject">,
  within: Pick<Prisma.TransactionClient, "signInIdentity"> = db(),
): Promise<User | undefined> {
  const where = { issuer_subject: { issuer, subject } };
  return (await within.signInIdentity.findUnique({ where, include: { user: true } }))?.user;
}

/** As whom the caller signs in through services, oldest first. */
export async function listOwnIdentities({ user }: Principal): Promise<OwnIdentities> {
  const rows = await db().signInIdentity.findMany({ where: { user_id: user.id }, orderBy: { created_at: "asc" }, take: 50 });
  return { items: rows.map(({ issuer, created_at }) => ({ issuer, created_at: created_at.toISOString() })) };
}

/** Returns true when another account or identity was created meanwhile, so that a second try finds it. */
const isTaken = (error: unknown): boolean => isUniqueViolation(error) || (isAppError(error) && error.code === "CONFLICT");

/**
 * The account of a person whom a sign-in service has identified, or why there is none. The identity opens the account that it is kept
 * with, whatever its address is by now. The first time, the address finds the account (see `accountOf`), or makes one when it was
 * invited (whether to join is asked in the app), or where anybody may sign up. What an account had before its address was proven is put
 * aside, and its password ends: another person may have created it.
 */
export async function signInWithProvider(identity: ProviderIdentity, session_user_id?: string): Promise<User | SignInProblem> {
  const attempt = () => db().$transaction((tx) => userOfIdentity(tx, identity, session_user_id), PROOF_OPTIONS);
  return attempt().catch((error: unknown) => {
    if (isTaken(error)) return attempt();
    throw error;
  });
}
