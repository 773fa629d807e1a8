import type { Prisma, User } from "#prisma/generated/client.ts";
import { AppError } from "#server/errors.ts";
import { isUniqueViolation } from "#server/services/database-errors.ts";

/**
 * Adds a user.
 * @param account `email` in any case; `password_hash` null for one that only signs in through another service
 * @throws AppError CONFLICT when the address has an account
 */
export async function insertAccount(
  within: Prisma.TransactionClient,
  { email, name, password_hash }: { email: string; name: string; password_hash: string | null },
): Promise<User> {
  try {
    return await within.user.create({ data: { email: email.toLowerCase(), name, password_hash } });
  } catch (error) {
    throw isUniqueViolation(error)
      ? new AppError("CONFLICT", "There is an account with this e-mail address already: sign in instead.")
      : error;
  }
}

/** What a new account is told about itself. */
export const signedUp = ({ id, email, name }: User): { id: string; email: string; name: string } => ({ id, email, name });
