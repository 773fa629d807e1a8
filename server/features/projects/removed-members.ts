import type { Prisma } from "#prisma/generated/client.ts";
import { db } from "#server/platform/db/client.ts";

// Whom a project has removed: a link to an address does not outlive the membership of its account.

/** Notes that the member of an address was removed. */
export async function noteRemoved(tx: Prisma.TransactionClient, project_id: string, email: string): Promise<void> {
  const where = { project_id_email: { project_id, email } };
  await tx.removedMember.upsert({ where, create: { project_id, email }, update: {} });
}

/** Forgets it when the account of the address is a member again. */
export async function forgetRemoved(tx: Prisma.TransactionClient, project_id: string, user_id: string): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM removed_members r USING users u
    WHERE r.project_id = ${project_id}::uuid AND u.id = ${user_id}::uuid AND r.email = u.email`;
}

/** Returns true when the member of an address was removed and has not rejoined. @param email in lower case */
export const wasRemoved = async (project_id: string, email: string): Promise<boolean> =>
  (await db().removedMember.findUnique({ where: { project_id_email: { project_id, email } } })) !== null;
