import type { Invitation, Prisma, Project } from "#prisma/generated/client.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { sha256 } from "#server/secrets.ts";

/**
 * The invitation behind the token of its link, with the project.
 * @throws AppError NOT_FOUND for an unknown or expired one; CONFLICT for one that was used
 */
export async function findInvitation(token: string, within: Prisma.TransactionClient = db()): Promise<Invitation & { project: Project }> {
  const invitation = await within.invitation.findUnique({ where: { token_hash: sha256(token) }, include: { project: true } });
  if (invitation?.accepted_at) throw invitationUsed();
  if (!invitation || invitation.expires_at <= new Date()) {
    throw new AppError("NOT_FOUND", "This invitation is unknown or has expired: ask an admin of the project for a new one.");
  }
  return invitation;
}

export const invitationUsed = (): AppError => new AppError("CONFLICT", "This invitation has been used already: sign in instead.");
