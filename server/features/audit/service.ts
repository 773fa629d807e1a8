import { Prisma } from "#prisma/generated/client.ts";
import type { AuditActors, AuditEntry, ListAuditInput } from "#server/features/audit/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged } from "#server/platform/paging.ts";
import type { Page } from "#server/shared/primitives-schema.ts";
import { firstInstant, lastInstant } from "#server/shared/time-input.ts";

/** More than this cannot be chosen from in a list. */
const MOST = 500;

// From one actor to the next along the index, so that a long log is not read.
const ACTORS = `
  WITH RECURSIVE actors AS (
    (SELECT actor_id FROM audit_log WHERE project_id = $1 AND actor_id IS NOT NULL ORDER BY actor_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.actor_id FROM audit_log l WHERE l.project_id = $1 AND l.actor_id > a.actor_id ORDER BY l.actor_id LIMIT 1)
    FROM actors a WHERE a.actor_id IS NOT NULL
  )
  SELECT a.actor_id AS id, latest.actor_email AS email FROM actors a
  CROSS JOIN LATERAL (
    SELECT actor_email FROM audit_log WHERE project_id = $1 AND actor_id = a.actor_id ORDER BY id DESC LIMIT 1
  ) AS latest
  WHERE a.actor_id IS NOT NULL ORDER BY latest.actor_email LIMIT ${MOST}`;

/** Everybody who did something in the project, with the address that they had last, also when they are no member any more. */
export async function listAuditActors({ project }: ProjectPrincipal): Promise<AuditActors> {
  return (await pool().query<AuditActors[number]>({ name: "audit-actors", text: ACTORS, values: [project.id] })).rows;
}

type Row = Prisma.AuditEntryGetPayload<object>;

const entryDto = (row: Row): AuditEntry => ({
  id: row.id,
  created_at: row.created_at.toISOString(),
  actor: { id: row.actor_id, email: row.actor_email },
  via: row.via as AuditEntry["via"],
  action: row.action,
  resource_type: row.resource_type,
  resource_id: row.resource_id,
  resource_name: row.resource_name,
  detail: row.detail as AuditEntry["detail"],
});

/** The project's audit log, newest first. Filters that name what does not exist find nothing. */
export async function listAudit({ project }: ProjectPrincipal, input: ListAuditInput): Promise<Page<AuditEntry>> {
  const { actor, resource_type, resource_id, action, from, to } = input;
  if (actor !== undefined && !isUuid(actor)) return paged(input, [0, []], entryDto);
  const conditions = [
    Prisma.sql`x.project_id = ${project.id}::uuid`,
    ...(actor === undefined ? [] : [Prisma.sql`x.actor_id = ${actor}::uuid`]),
    ...(resource_type === undefined ? [] : [Prisma.sql`x.resource_type = ${resource_type}`]),
    ...(resource_id === undefined ? [] : [Prisma.sql`x.resource_id = ${resource_id}`]),
    ...(action === undefined ? [] : [Prisma.sql`x.action = ${action}`]),
    ...(from === undefined ? [] : [Prisma.sql`x.created_at >= ${firstInstant(from)}`]),
    ...(to === undefined ? [] : [Prisma.sql`x.created_at < ${lastInstant(to)}`]),
  ];
  const table = Prisma.sql`audit_log x WHERE ${Prisma.join(conditions, " AND ")}`;
  const text = Prisma.sql`concat_ws(' ', x.resource_name, x.action, x.actor_email)`;
  const { total, ids } = await findPage(input, table, text);
  const rows = await db().auditEntry.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" } });
  return paged(input, [total, rows], entryDto);
}
