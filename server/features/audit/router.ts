import { AuditActors, AuditPage, ListAuditInput } from "#server/features/audit/schema.ts";
import { listAudit, listAuditActors } from "#server/features/audit/service.ts";
import { adminProcedure, endpoint, router } from "#server/platform/rpc/trpc.ts";
import { Nothing } from "#server/shared/primitives-schema.ts";

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
