import type { Prisma, User } from "#prisma/generated/client.ts";
import { AppError } from "#server/errors.ts";
import type { MadeThrough } from "#server/schemas/project.ts";
import { isUniqueViolation } from "#server/services/database-errors.ts";

export interface NewAccount {
  /** In any case. */
  email: string;
  name: string;
  /** Null for one that only signs in through another service. */
  password_hash: string | null;
  made_through: MadeThrough;
  /** Who invited the person. */
  made_by_id?: string | null;
  /** Whether it is known that the person reads the mail of the address; see server/decisions/0021. */
  is_verified: boolean;
}

/**
 * Adds a user.
 * @throws AppError CONFLICT when the address has an account
 */
export async function insertAccount(within: Prisma.TransactionClient, { email, is_verified, ...account }: NewAccount): Promise<User> {
  try {
    return await within.user.create({
      data: { ...account, email: email.toLowerCase(), email_verified_at: is_verified ? new Date() : null },
    });
  } catch (error) {
    throw isUniqueViolation(error)
      ? new AppError("CONFLICT", "There is an account with this e-mail address already: sign in instead.")
      : error;
  }
}

/** What a new account is told about itself. */
export const signedUp = ({ id, email, name }: User): { id: string; email: string; name: string } => ({ id, email, name });
