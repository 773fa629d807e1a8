import type { Prisma } from "#prisma/generated/client.ts";
import type { Principal } from "#server/auth/principal.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";

/** A platform key opens every project of its owner, so each of them hears of it. */
export async function auditPlatformKey(
  within: Prisma.TransactionClient,
  principal: Principal,
  action: "platform_key.create" | "platform_key.delete",
  key: { id: string; name: string },
): Promise<void> {
  const memberships = await within.membership.findMany({
    where: { user_id: principal.user.id },
    select: { project: { select: { id: true, slug: true, name: true } } },
  });
  for (const { project } of memberships) {
    await recordAudit(
      { ...principal, project },
      { action, resource_type: "platform_key", resource_id: key.id, resource_name: key.name },
      within,
    );
  }
}
