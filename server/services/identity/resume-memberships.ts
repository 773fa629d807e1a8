import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/auth/sign-in-throttle.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { ResumedMemberships, ResumeMembershipsInput } from "#server/schemas/identity.ts";
import { isPassword } from "#server/secrets.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { joinProject } from "#server/services/projects/join-project.ts";

/** So many earlier passwords are tried, since each costs some 50 ms: the oldest first, so that nobody pushes them out by taking the account over and over. */
const MOST_PASSWORDS = 100;

async function hashOf(email: string, password: string): Promise<string | undefined> {
  const rows = await db().invitation.groupBy({
    by: ["held_password_hash"],
    where: { email, accepted_at: null, held_password_hash: { not: null } },
    _min: { created_at: true },
    orderBy: { _min: { created_at: "asc" } },
    take: MOST_PASSWORDS,
  });
  for (const { held_password_hash: hash } of rows) if (hash && (await isPassword(hash, password))) return hash;
  return undefined;
}

/**
 * Takes up the memberships again that were put aside when the account got a new password through somebody's invitation: who
 * knows the password that it had in them is who was in them.
 * @throws AppError VALIDATION_ERROR when it had no such password; RATE_LIMIT_EXCEEDED after too many
 */
export async function resumeMemberships(
  principal: Principal,
  { password }: z.infer<typeof ResumeMembershipsInput>,
): Promise<z.infer<typeof ResumedMemberships>> {
  const { id: user_id, email } = principal.user;
  await countOwnPasswordTry(user_id, "earlier");
  const held_password_hash = await hashOf(email, password);
  if (held_password_hash === undefined) {
    const message = "That is not the password that this account had before.";
    throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "password", message }] });
  }
  await forgetOwnPasswordTries(user_id, "earlier");
  return db().$transaction(async (tx) => {
    const where = { email, accepted_at: null, held_password_hash };
    const rows = await tx.invitation.findMany({ where, include: { project: { select: { id: true, name: true } } } });
    for (const { id, role, project } of rows) {
      await tx.invitation.delete({ where: { id } });
      await joinProject(tx, { project_id: project.id, user_id, role });
      const resource = { resource_type: "member", resource_id: user_id, resource_name: email };
      const detail = { role, because: "earlier password" };
      await recordAudit({ ...principal, project }, { action: "member.join", ...resource, detail }, tx);
    }
    return { projects: rows.map(({ project }) => project.name) };
  });
}
