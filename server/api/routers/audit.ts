import { adminProcedure, endpoint, router } from "#server/api/trpc.ts";
import { AuditActors, AuditPage, ListAuditInput } from "#server/schemas/audit.ts";
import { Nothing } from "#server/schemas/primitives.ts";
import { listAudit } from "#server/services/audit/list-audit.ts";
import { listAuditActors } from "#server/services/audit/list-audit-actors.ts";

const description = `Who changed what in this project, newest first. Starting a run is no entry, because the execution is its own record; \
cancelling, rerunning and deciding are. What a user does to the own account (API keys, password, name) stands in the log of each \
project that the user is in at that time. The log goes when the project is deleted.`;

export const auditRouter = router({
  list: adminProcedure
    .meta(endpoint("GET", "/audit", { tag: "Audit log", summary: "Read the audit log", description }))
    .input(ListAuditInput)
    .output(AuditPage)
    .query(({ ctx, input }) => listAudit(ctx.principal, input)),
  // The filter of the settings page.
  actors: adminProcedure
    .input(Nothing)
    .output(AuditActors)
    .query(({ ctx }) => listAuditActors(ctx.principal)),
});
