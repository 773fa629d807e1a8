import { v7 as uuid } from "uuid";
import type { Prisma } from "#prisma/generated/client.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { queryIn, type Tx } from "#server/platform/db/tx.ts";
import type { AuditAction, AuditResource } from "#server/shared/audit-actions.ts";

/** The principal who acts, or the person who uses a link that was sent by email. */
export interface AuditActor {
  user: { id: string | null; email: string };
  auth: { type: "platform_key" | "session" | "email" | "assistant" };
  project: { id: string };
}

export interface AuditRecord {
  action: AuditAction;
  resource_type: AuditResource;
  resource_id: string;
  resource_name: string;
  /** What changed, as JSON; never a secret. */
  detail?: Prisma.InputJsonObject;
  /** Time of the action, where the resource stores it too; now when left out. */
  at?: Date;
}

// One entry for each project, with ids of this process, by which entries are ordered.
const INSERT = `
  INSERT INTO audit_log (id, project_id, actor_id, actor_email, via, action, resource_type, resource_id, resource_name, detail, created_at)
  SELECT entry.id, entry.project_id, $3::uuid, $4, $5, $6, $7, $8, $9, $10::jsonb, coalesce($11::timestamptz, now())
  FROM unnest($1::uuid[], $2::uuid[]) AS entry(id, project_id)`;

const insert = (tx: Tx, projectIds: readonly string[], { user, auth }: Pick<AuditActor, "user" | "auth">, record: AuditRecord) =>
  queryIn(tx, INSERT, [
    projectIds.map(() => uuid()),
    projectIds,
    user.id,
    user.email,
    auth.type,
    record.action,
    record.resource_type,
    record.resource_id,
    record.resource_name,
    record.detail ? JSON.stringify(record.detail) : null,
    record.at ?? null,
  ]);

/**
 * Writes an entry into the audit log of the actor's project.
 * @param tx the transaction that makes the change, so that both are kept or neither
 */
export async function recordAudit(tx: Tx, actor: AuditActor, record: AuditRecord): Promise<void> {
  await insert(tx, [actor.project.id], actor, record);
}

// Lists each project once, also where both users are members.
const PROJECTS = "SELECT DISTINCT project_id FROM memberships WHERE user_id = ANY($1::uuid[])";

/**
 * Writes an entry into the audit log of every project of the user, since a change of an account changes how the user signs in to
 * all of them.
 * @param about user whose account is changed, where that is another one: entries go to the projects of both
 */
export async function recordAuditEverywhere(
  tx: Tx,
  { user, auth }: { user: Principal["user"]; auth: AuditActor["auth"] },
  record: AuditRecord,
  about: string = user.id,
): Promise<void> {
  const projects = await queryIn<{ project_id: string }>(tx, PROJECTS, [[user.id, about]]);
  const ids = projects.map(({ project_id }) => project_id);
  if (ids.length) await insert(tx, ids, { user, auth }, record);
}
