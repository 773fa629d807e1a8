import type { Prisma } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { AuditEntry, ListAuditInput } from "#server/schemas/audit.ts";
import type { Page } from "#server/schemas/primitives.ts";
import { isUuid } from "#server/services/ids.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

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
  const where: Prisma.AuditEntryWhereInput = {
    project_id: project.id,
    ...(actor !== undefined && { actor_id: actor }),
    ...(resource_type !== undefined && { resource_type }),
    ...(resource_id !== undefined && { resource_id }),
    ...(action !== undefined && { action }),
    ...((from !== undefined || to !== undefined) && {
      created_at: { ...(from !== undefined && { gte: new Date(from) }), ...(to !== undefined && { lt: new Date(to) }) },
    }),
  };
  const found = await Promise.all([
    db().auditEntry.count({ where }),
    db().auditEntry.findMany({ where, orderBy: { id: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, found, entryDto);
}
