import { executorContact } from "#server/events/contact.ts";
import { ExecutorContact } from "#server/events/schema.ts";
import { MailState } from "#server/features/emails/schema.ts";
import { readMailState } from "#server/features/emails/state.ts";
import { readOutgoingProxy } from "#server/features/install/outgoing-proxy.ts";
import { linkToNewPassword, listPeople, removeSecondFactor } from "#server/features/install/people.ts";
import {
  InstallAdmin,
  InstallAdminPage,
  InstallAdminRef,
  NameInstallAdminInput,
  OutgoingProxyState,
  PersonPage,
  PersonRef,
} from "#server/features/install/schema.ts";
import { listInstallAdmins, nameInstallAdmin, removeInstallAdmin } from "#server/features/install/service.ts";
import { PasswordLink } from "#server/features/security/schema.ts";
import { endpoint, router, userProcedure, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent, Nothing, PageInput } from "#server/shared/primitives-schema.ts";

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
        description: "A person with an account on this install. No effect for an install admin.",
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
        description: "409 for the last one. The private addresses that they saved stay; links to new passwords that they made end.",
        status: 204,
      }),
    )
    .input(InstallAdminRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => removeInstallAdmin(ctx.principal, input)),
  people: userProcedure
    .meta(endpoint("GET", "/install/people", { tag, role, summary: "List who has an account" }))
    .input(ListInput)
    .output(PersonPage)
    .query(({ ctx, input }) => listPeople(ctx.principal, input)),
  linkToNewPassword: userProcedure
    .meta(
      endpoint("POST", "/install/people/{user_id}/password-link", {
        tag,
        role,
        summary: "Make a link that sets a person's new password",
        description:
          "To hand over. It works once, for an hour; the person gets an email. Two-factor authentication stays. 403 for your own account.",
        status: 201,
        isIdempotent: false,
      }),
    )
    .input(PersonRef)
    .output(PasswordLink)
    .mutation(({ ctx, input }) => linkToNewPassword(ctx.principal, input)),
  removeSecondFactor: userProcedure
    .meta(
      endpoint("DELETE", "/install/people/{user_id}/second-factor", {
        tag,
        role,
        summary: "Remove a person's two-factor authentication",
        description: "For who has lost it and the recovery codes. The person gets an email. 403 for your own account.",
        status: 204,
      }),
    )
    .input(PersonRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => removeSecondFactor(ctx.principal, input)),
  mail: userProcedure
    .meta(
      endpoint("GET", "/install/mail", {
        tag,
        role,
        summary: "Read the state of the mail server",
        description: "When it last took an email, why it last did not, and how many emails wait to be sent.",
      }),
    )
    .input(Nothing)
    .output(MailState)
    .query(({ ctx }) => readMailState(ctx.principal)),
  // The web UI only; others ask /api/health/ready.
  proxy: userProcedure
    .input(Nothing)
    .output(OutgoingProxyState)
    .query(({ ctx }) => readOutgoingProxy(ctx.principal)),
  executor: viewerProcedure
    .input(Nothing)
    .output(ExecutorContact)
    .query(() => executorContact()),
});
