import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/auth/sign-in-throttle.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { AcceptInvitationInput, SignedUp } from "#server/schemas/identity.ts";
import { hashPassword, isPassword } from "#server/secrets.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { findInvitation, invitationUsed } from "#server/services/identity/find-invitation.ts";
import { insertAccount, signedUp } from "#server/services/identity/insert-account.ts";
import { joinProject } from "#server/services/projects/join-project.ts";

/** Somebody who got an account after being invited proves with its password that it is theirs. */
async function assertOwnPassword(user: User, password: string): Promise<void> {
  await countOwnPasswordTry(user.id, "invitation");
  if (!user.password_hash || !(await isPassword(user.password_hash, password))) {
    const message = "This address has an account already: give the password of that account.";
    throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "password", message }] });
  }
  await forgetOwnPasswordTries(user.id, "invitation");
}

/** Marks the invitation as used. Of two who accept at once, the second is refused here. */
async function use(tx: Prisma.TransactionClient, invitationId: string): Promise<void> {
  const { count } = await tx.invitation.updateMany({ where: { id: invitationId, accepted_at: null }, data: { accepted_at: new Date() } });
  if (count === 0) throw invitationUsed();
}

/**
 * Makes whoever has the link a member of the project, with a new account, or with the one that the address has by now.
 * @throws AppError NOT_FOUND for an unknown or expired invitation, CONFLICT for a used one, VALIDATION_ERROR when the
 *   address has an account and the password is not its own
 */
export async function acceptInvitation({
  token,
  name,
  password,
}: z.infer<typeof AcceptInvitationInput>): Promise<z.infer<typeof SignedUp>> {
  const { id, email, project, role } = await findInvitation(token);
  const existing = await db().user.findUnique({ where: { email } });
  if (existing) await assertOwnPassword(existing, password);
  const password_hash = existing ? null : await hashPassword(password);
  return db().$transaction(async (tx) => {
    await use(tx, id);
    const user = existing ?? (await insertAccount(tx, { email, name, password_hash }));
    await joinProject(tx, { project_id: project.id, user_id: user.id, role }, "keep role");
    const resource = { resource_type: "member", resource_id: user.id, resource_name: email };
    await recordAudit({ user, auth: { type: "session" }, project }, { action: "member.join", ...resource, detail: { role } }, tx);
    return signedUp(user);
  });
}
