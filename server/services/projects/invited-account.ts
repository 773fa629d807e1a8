import type { Prisma } from "#prisma/generated/client.ts";
import { type InvitedAccount, MadeThrough } from "#server/schemas/project.ts";

/** What is read of a user for `invitedAccount`. */
export const accountFields = {
  created_at: true,
  email_verified_at: true,
  made_through: true,
  made_by: { select: { email: true, name: true, deleted_at: true } },
} satisfies Prisma.UserSelect;

/** What the admin who invites an account is told of it. */
export function invitedAccount(user: Prisma.UserGetPayload<{ select: typeof accountFields }>): InvitedAccount {
  const { created_at, email_verified_at, made_through, made_by } = user;
  return {
    verified: email_verified_at !== null,
    created_at: created_at.toISOString(),
    made_through: MadeThrough.nullable().catch(null).parse(made_through),
    invited_by: made_by && (made_by.deleted_at ? made_by.name : made_by.email),
  };
}
