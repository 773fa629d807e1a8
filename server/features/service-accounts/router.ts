import {
  CreatedServiceKey,
  CreateServiceAccountInput,
  CreateServiceKeyInput,
  ListServiceKeysInput,
  ServiceAccount,
  ServiceAccountPage,
  ServiceAccountRef,
  ServiceKeyPage,
  ServiceKeyRef,
  UpdateServiceAccountInput,
} from "#server/features/service-accounts/schema.ts";
import {
  createServiceAccount,
  createServiceKey,
  deleteServiceAccount,
  deleteServiceKey,
  listServiceAccounts,
  listServiceKeys,
  updateServiceAccount,
} from "#server/features/service-accounts/service.ts";
import { adminProcedure, endpoint, router } from "#server/platform/rpc/trpc.ts";
import { NoContent, PageInput } from "#server/shared/primitives-schema.ts";

const tag = "Service accounts";
const role = "admin";

export const serviceAccountsRouter = router({
  list: adminProcedure
    .meta(
      endpoint("GET", "/service-accounts", {
        tag,
        role,
        summary: "List the project's service accounts",
        description: "Each is a program with a role of its own. Its keys keep working when the person who created them leaves.",
      }),
    )
    .input(PageInput)
    .output(ServiceAccountPage)
    .query(({ ctx, input }) => listServiceAccounts(ctx.principal, input)),
  create: adminProcedure
    .meta(
      endpoint("POST", "/service-accounts", {
        tag,
        role,
        summary: "Create a service account",
        description: "It cannot sign in.",
        status: 201,
      }),
    )
    .input(CreateServiceAccountInput)
    .output(ServiceAccount)
    .mutation(({ ctx, input }) => createServiceAccount(ctx.principal, input)),
  update: adminProcedure
    .meta(
      endpoint("PUT", "/service-accounts/{account_id}", {
        tag,
        role,
        summary: "Change the name or role of a service account",
        description: "What is left out stays as it is.",
      }),
    )
    .input(UpdateServiceAccountInput)
    .output(ServiceAccount)
    .mutation(({ ctx, input }) => updateServiceAccount(ctx.principal, input)),
  delete: adminProcedure
    .meta(
      endpoint("DELETE", "/service-accounts/{account_id}", {
        tag,
        role,
        summary: "Delete a service account",
        description: "Its keys are refused from then on. Its name stays on what it did.",
        status: 204,
      }),
    )
    .input(ServiceAccountRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteServiceAccount(ctx.principal, input)),
  keys: adminProcedure
    .meta(
      endpoint("GET", "/service-accounts/{account_id}/keys", {
        tag,
        role,
        summary: "List the API keys of a service account",
        description: "Without their values.",
      }),
    )
    .input(ListServiceKeysInput)
    .output(ServiceKeyPage)
    .query(({ ctx, input }) => listServiceKeys(ctx.principal, input)),
  createKey: adminProcedure
    .meta(
      endpoint("POST", "/service-accounts/{account_id}/keys", {
        tag,
        role,
        summary: "Create an API key of a service account",
        description:
          "The answer holds the key; it is not shown again. It acts as the service account in this project alone, within its scopes and time.",
        status: 201,
      }),
    )
    .input(CreateServiceKeyInput)
    .output(CreatedServiceKey)
    .mutation(({ ctx, input }) => createServiceKey(ctx.principal, input)),
  deleteKey: adminProcedure
    .meta(
      endpoint("DELETE", "/service-accounts/{account_id}/keys/{key_id}", {
        tag,
        role,
        summary: "Delete an API key of a service account",
        status: 204,
      }),
    )
    .input(ServiceKeyRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteServiceKey(ctx.principal, input)),
});
