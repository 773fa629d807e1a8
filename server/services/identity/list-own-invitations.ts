import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { OwnInvitations } from "#server/schemas/identity.ts";
import { askedOf } from "#server/services/identity/find-invitation.ts";

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
  };
}
