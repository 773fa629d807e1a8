import type pg from "pg";
import { v7 as uuid } from "uuid";
import type { Prisma, PrismaClient } from "#prisma/generated/client.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";

/** Whose act it is: a principal, or whoever holds a link that was sent by e-mail. */
export interface AuditActor {
  user: { id: string | null; email: string };
  auth: { type: "platform_key" | "session" | "email" | "assistant" };
  project: { id: string };
}

export interface AuditRecord {
  /** Resource and verb, e.g. `workflow.update`. */
  action: string;
  resource_type: string;
  resource_id: string;
  resource_name: string;
  /** What changed, as JSON; never a secret. */
  detail?: Prisma.InputJsonObject;
  /** When it was done, where the resource tells that too; else now. */
  at?: Date;
}

/**
 * Writes one entry of the project's audit log in the name of the principal.
 * @param within pass the transaction that makes the change, so that both are kept or neither
 */
export async function recordAudit(
  principal: AuditActor,
  { action, resource_type, resource_id, resource_name, detail, at }: AuditRecord,
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
      ...(at && { created_at: at }),
    },
  });
}

/** The same within a transaction that is written in SQL. */
export async function recordAuditOn(
  client: Pick<pg.ClientBase, "query">,
  { user, auth, project }: AuditActor,
  record: AuditRecord,
): Promise<void> {
  const { action, resource_type, resource_id, resource_name, detail } = record;
  await client.query(
    `INSERT INTO audit_log (id, project_id, actor_id, actor_email, via, action, resource_type, resource_id, resource_name, detail)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb)`,
    [
      uuid(),
      project.id,
      user.id,
      user.email,
      auth.type,
      action,
      resource_type,
      resource_id,
      resource_name,
      detail ? JSON.stringify(detail) : null,
    ],
  );
}

/**
 * What users do to their own account concerns every project that they are in, since it is how they come in: each of them
 * hears of it.
 * @param about the user whose account it is done to, where that is another one: that one's projects hear of it too
 */
export async function recordAuditEverywhere(
  within: Prisma.TransactionClient,
  { user, auth }: { user: Principal["user"]; auth: AuditActor["auth"] },
  { action, resource_type, resource_id, resource_name, detail }: AuditRecord,
  about: string = user.id,
): Promise<void> {
  const where = { user_id: { in: [user.id, about] } };
  const memberships = await within.membership.findMany({ where, select: { project_id: true }, distinct: ["project_id"] });
  await within.auditEntry.createMany({
    data: memberships.map(({ project_id }) => ({
      project_id,
      actor_id: user.id,
      actor_email: user.email,
      via: auth.type,
      action,
      resource_type,
      resource_id,
      resource_name,
      ...(detail && { detail }),
    })),
  });
}
