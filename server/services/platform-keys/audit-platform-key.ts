import type { Prisma } from "#prisma/generated/client.ts";
import type { Principal } from "#server/auth/principal.ts";
import { recordAuditEverywhere } from "#server/services/audit/record-audit.ts";

/** A platform key opens every project of its owner, so each of them hears of it. */
export const auditPlatformKey = (
  within: Prisma.TransactionClient,
  principal: Principal,
  action: "platform_key.create" | "platform_key.delete",
  key: { id: string; name: string },
): Promise<void> =>
  recordAuditEverywhere(within, principal, { action, resource_type: "platform_key", resource_id: key.id, resource_name: key.name });
