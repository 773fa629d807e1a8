import type { Prisma, PrismaClient } from "#prisma/generated/client.ts";
import { db } from "#server/db/client.ts";

/** Whose act it is: a principal, or whoever holds a link that was sent by e-mail. */
export interface AuditActor {
  user: { id: string | null; email: string };
  auth: { type: "platform_key" | "session" | "email" };
  project: { id: string };
}

interface AuditRecord {
  /** Resource and verb, e.g. `workflow.update`. */
  action: string;
  resource_type: string;
  resource_id: string;
  resource_name: string;
  /** What changed, as JSON; never a secret. */
  detail?: Prisma.InputJsonObject;
}

/**
 * Writes one entry of the project's audit log in the name of the principal.
 * @param within pass the transaction that makes the change, so that both are kept or neither
 */
export async function recordAudit(
  principal: AuditActor,
  { action, resource_type, resource_id, resource_name, detail }: AuditRecord,
  within: Pick<PrismaClient, "auditEntry"> = db(),
): Promise<void> {
  await within.auditEntry.create({
    data: {
      project_id: principal.project.id,
      actor_id: principal.user.id,
      actor_email: principal.user.email,
      via: principal.auth.type,
      action,
      resource_type,
      resource_id,
      resource_name,
      ...(detail && { detail }),
    },
  });
}
