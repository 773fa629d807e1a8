import type { Invitation, Prisma, Project } from "#prisma/generated/client.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { sha256 } from "#server/secrets.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * How somebody came to an invitation: by the link that whoever invites was given and hands over, by the one that only the mail
 * has, or in the app, where a verified account is asked.
 */
export type InvitationWay = "handed" | "mailed" | "asked";

export type FoundInvitation = Invitation & { project: Project; way: InvitationWay };

/** The invitations that an account is asked about in the app; of one whose address is not verified, none. */
export const askedOf = (user: { email: string; email_verified_at: Date | null }): Prisma.InvitationWhereInput =>
  user.email_verified_at ? { email: user.email, accepted_at: null, expires_at: { gt: new Date() } } : { id: { in: [] } };

/**
 * The invitation behind the token of a link, or behind its id for the verified account that it is for; with the project.
 * @throws AppError NOT_FOUND for an unknown or expired one; CONFLICT for one that was used
 */
export async function findInvitation(token: string, principal: Principal | null): Promise<FoundInvitation> {
  const found = (await ofLink(token)) ?? (await ofAccount(token, principal));
  if (found?.accepted_at) throw invitationUsed();
  if (!found || found.expires_at <= new Date()) {
    throw new AppError("NOT_FOUND", "This invitation is unknown or has expired: ask an admin of the project for a new one.");
  }
  return found;
}

async function ofLink(token: string): Promise<FoundInvitation | null> {
  const hash = sha256(token);
  const row = await db().invitation.findFirst({
    where: { OR: [{ token_hash: hash }, { mail_token_hash: hash }] },
    include: { project: true },
  });
  return row && { ...row, way: row.token_hash === hash ? "handed" : "mailed" };
}

async function ofAccount(id: string, principal: Principal | null): Promise<FoundInvitation | null> {
  if (principal?.auth.type !== "session" || !isUuid(id)) return null;
  const user = await db().user.findUniqueOrThrow({ where: { id: principal.user.id } });
  const row = await db().invitation.findFirst({ where: { ...askedOf(user), AND: { id } }, include: { project: true } });
  return row && { ...row, way: "asked" };
}

export const invitationUsed = (): AppError => new AppError("CONFLICT", "This invitation has been used already: sign in instead.");
