import type { z } from "zod";
import type { Invitation as InvitationRow, Prisma, Project } from "#prisma/generated/client.ts";
import { countPutAside } from "#server/features/identity/put-aside.ts";
import type {
  DeclineInvitationInput,
  Invitation,
  InvitationInput,
  OpenedInvitation,
  OwnInvitations,
} from "#server/features/identity/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { sha256 } from "#server/platform/secrets.ts";

/**
 * How somebody came to an invitation: by the link that whoever invites was given and hands over, by the one that only the mail
 * has, or in the app, where a verified account is asked.
 */
export type InvitationWay = "handed" | "mailed" | "asked";

export type FoundInvitation = InvitationRow & { project: Project; way: InvitationWay };

/** The invitations that an account is asked about in the app; of one whose address is not verified, none. */
export const askedOf = (user: { email: string; email_verified_at: Date | null }): Prisma.InvitationWhereInput =>
  user.email_verified_at
    ? { email: user.email, accepted_at: null, put_aside_at: null, expires_at: { gt: new Date() } }
    : { id: { in: [] } };

/**
 * The invitation behind the token of a link, or behind its id for the verified account that it is for; with the project.
 * @throws AppError NOT_FOUND for an unknown or expired one, and for one of a person who is no admin any more; CONFLICT for one that was
 *   used
 */
export async function findInvitation(token: string, principal: Principal | null): Promise<FoundInvitation> {
  const found = (await ofLink(token)) ?? (await ofAccount(token, principal));
  if (found?.accepted_at) throw invitationUsed();
  if (!found || found.expires_at <= new Date() || !(await isByAdmin(found))) {
    throw new AppError("NOT_FOUND", "This invitation is unknown or has expired: ask an admin of the project for a new one.");
  }
  return found;
}

/** Returns true while the person who invited is an admin of the project; also for an older invitation without an inviter. */
const isByAdmin = async ({ project_id, invited_by_id }: InvitationRow): Promise<boolean> =>
  invited_by_id === null || (await db().membership.count({ where: { project_id, user_id: invited_by_id, role: "admin" } })) > 0;

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

const dto = ({ email, project, role, expires_at }: FoundInvitation): z.infer<typeof Invitation> => ({
  email,
  project: { name: project.name, slug: project.slug },
  role,
  expires_at: expires_at.toISOString(),
});

/** What somebody is invited to. @throws AppError NOT_FOUND for an unknown or expired one; CONFLICT for one that was used */
export const getInvitation = async ({ token }: z.infer<typeof InvitationInput>): Promise<z.infer<typeof Invitation>> =>
  dto(await findInvitation(token, null));

/** Returns the invitation for its page, with the way to accept it from this browser. @throws as `getInvitation` */
export async function openInvitation({ token }: z.infer<typeof InvitationInput>, principal: Principal | null): Promise<OpenedInvitation> {
  const found = await findInvitation(token, null);
  const user = await db().user.findUnique({ where: { email: found.email } });
  const isOwn = principal?.auth.type === "session" && principal.user.id === user?.id;
  return {
    ...dto(found),
    project_id: found.project_id,
    account: !user ? "none" : isOwn ? "signed_in" : "signed_out",
    signed_in_as: principal?.user.email ?? null,
  };
}

/** More than anybody answers in one go. */
const MOST = 50;

/** What the signed-in person is asked to join, newest first, and whether an earlier password of theirs would open more. */
export async function listOwnInvitations({ user: { id } }: Principal): Promise<OwnInvitations> {
  const user = await db().user.findUniqueOrThrow({ where: { id } });
  const rows = await db().invitation.findMany({
    where: askedOf(user),
    select: {
      id: true,
      role: true,
      held_password_hash: true,
      project: { select: { id: true, name: true } },
      invited_by: { select: { name: true, email: true, deleted_at: true } },
    },
    orderBy: { id: "desc" },
    take: MOST,
  });
  const isHeld = { email: user.email, accepted_at: null, held_password_hash: { not: null } };
  const earlier = user.email_verified_at ? null : await db().invitation.findFirst({ where: isHeld, select: { id: true } });
  return {
    items: rows.map(({ invited_by, held_password_hash, ...row }) => ({
      ...row,
      invited_by: invited_by && (invited_by.deleted_at ? invited_by.name : `${invited_by.name} (${invited_by.email})`),
      was_member: held_password_hash !== null,
    })),
    has_earlier: earlier !== null,
    put_aside: await countPutAside(user.email),
  };
}

/** Says no to an invitation that the signed-in person is asked about. @throws AppError NOT_FOUND */
export async function declineInvitation(principal: Principal, { invitation_id }: z.infer<typeof DeclineInvitationInput>): Promise<void> {
  const { id, email, project, role } = await findInvitation(invitation_id, principal);
  await db().$transaction(async (tx) => {
    await tx.invitation.deleteMany({ where: { id } });
    const resource = { resource_type: "member", resource_id: id, resource_name: email } as const;
    await recordAudit(tx, { ...principal, project }, { action: "member.decline", ...resource, detail: { role } });
  });
}
