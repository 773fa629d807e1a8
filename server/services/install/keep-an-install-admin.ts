import type { Prisma } from "#prisma/generated/client.ts";
import { AppError } from "#server/errors.ts";

/**
 * Refuses what would leave an install that people use without an admin. Of two who leave at once, the second is refused.
 * @throws AppError CONFLICT
 */
export async function keepAnInstallAdmin(within: Prisma.TransactionClient, leavingId: string): Promise<void> {
  const admins = await within.$queryRaw<{ id: string }[]>`
    SELECT id FROM users WHERE is_install_admin AND deleted_at IS NULL ORDER BY id FOR UPDATE`;
  const isLast = admins.length === 1 && admins[0]?.id === leavingId;
  if (!isLast || !(await within.user.findFirst({ where: { deleted_at: null, id: { not: leavingId } }, select: { id: true } }))) return;
  throw new AppError("CONFLICT", "This is the last admin of the install. Name another one first, in Settings, Install.");
}
