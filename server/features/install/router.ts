import { executorContact } from "#server/events/contact.ts";
import { ExecutorContact } from "#server/events/schema.ts";
import { InstallAdmin, InstallAdminPage, InstallAdminRef, NameInstallAdminInput } from "#server/features/install/schema.ts";
import { listInstallAdmins, nameInstallAdmin, removeInstallAdmin } from "#server/features/install/service.ts";
import { endpoint, router, userProcedure, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { NoContent, Nothing, PageInput } from "#server/shared/primitives-schema.ts";

const tag = "Install";
const role = "install_admin";

export const installRouter = router({
  admins: userProcedure
    .meta(endpoint("GET", "/install/admins", { tag, role, summary: "List the install admins" }))
    .input(PageInput)
    .output(InstallAdminPage)
    .query(({ ctx, input }) => listInstallAdmins(ctx.principal, input)),
  nameAdmin: userProcedure
    .meta(
      endpoint("POST", "/install/admins", {
        tag,
        role,
        summary: "Name an install admin",
        description: "Somebody who has an account here. Whoever is one already stays one.",
        status: 201,
      }),
    )
    .input(NameInstallAdminInput)
    .output(InstallAdmin)
    .mutation(({ ctx, input }) => nameInstallAdmin(ctx.principal, input)),
  removeAdmin: userProcedure
    .meta(
      endpoint("DELETE", "/install/admins/{user_id}", {
        tag,
        role,
        summary: "Remove an install admin",
        description: "409 for the last one. The private addresses that they saved stay.",
        status: 204,
      }),
    )
    .input(InstallAdminRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => removeInstallAdmin(ctx.principal, input)),
  // The web UI only; others ask /api/health/ready.
  executor: viewerProcedure
    .input(Nothing)
    .output(ExecutorContact)
    .query(() => executorContact()),
});
