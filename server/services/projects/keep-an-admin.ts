import type { Prisma } from "#prisma/generated/client.ts";
import { AppError } from "#server/errors.ts";

/**
 * Call it before a member's admin role is taken away. It holds the project for the rest of the transaction, so that
 * two admins who remove each other at once cannot both succeed.
 * @throws AppError CONFLICT when the user is the project's last admin
 */
export async function keepAnAdmin(within: Prisma.TransactionClient, projectId: string, userId: string): Promise<void> {
  await within.$queryRaw`SELECT id FROM projects WHERE id = ${projectId}::uuid FOR UPDATE`;
  const admins = await within.membership.findMany({ where: { project_id: projectId, role: "admin" }, select: { user_id: true } });
  if (admins.length === 1 && admins[0]?.user_id === userId) {
    throw new AppError("CONFLICT", "This is the last admin of the project: make somebody else admin first.");
  }
}
