import {
  CreateCredentialInput,
  Credential,
  CredentialPage,
  CredentialRef,
  ReplaceCredentialInput,
} from "#server/features/credentials/schema.ts";
import { createCredential, deleteCredential, listCredentials, replaceCredential } from "#server/features/credentials/service.ts";
import { adminProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "Credentials";

export const credentialsRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/credentials", { tag, summary: "List the project's credentials", description: "Names only, never a value." }))
    .input(ListInput)
    .output(CredentialPage)
    .query(({ ctx, input }) => listCredentials(ctx.principal, input)),
  create: adminProcedure
    .meta(
      endpoint("POST", "/credentials", {
        tag,
        summary: "Add a credential",
        description: "Workflows read it as `{{credentials.NAME}}`.",
        status: 201,
      }),
    )
    .input(CreateCredentialInput)
    .output(Credential)
    .mutation(({ ctx, input }) => createCredential(ctx.principal, input)),
  delete: adminProcedure
    .meta(
      endpoint("DELETE", "/credentials/{cred_id}", {
        tag,
        summary: "Delete a credential",
        description: "409 while a workflow reads it, in its saved version or its draft.",
        status: 204,
      }),
    )
    .input(CredentialRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteCredential(ctx.principal, input)),
  replace: adminProcedure
    .meta(
      endpoint("PUT", "/credentials/{cred_id}", {
        tag,
        summary: "Replace a credential's value",
        description:
          "Also while workflows read it: the name stays, and nodes that start from now on read the new value. The old value cannot be restored.",
      }),
    )
    .input(ReplaceCredentialInput)
    .output(Credential)
    .mutation(({ ctx, input }) => replaceCredential(ctx.principal, input)),
});
