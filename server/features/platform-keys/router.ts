import { createPlatformKey, deletePlatformKey, listPlatformKeys } from "#server/features/platform-keys/service.ts";
import { CreatedPlatformKey, CreatePlatformKeyInput, PlatformKeyPage, PlatformKeyRef } from "#server/platform/auth/platform-key-schema.ts";
import { endpoint, router, userProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "Platform keys";

export const platformKeysRouter = router({
  list: userProcedure
    .meta(
      endpoint("GET", "/platform-keys", {
        tag,
        summary: "List my API keys",
        description: "Without their values. A key for some projects sees itself only.",
      }),
    )
    .input(ListInput)
    .output(PlatformKeyPage)
    .query(({ ctx, input }) => listPlatformKeys(ctx.principal, input)),
  create: userProcedure
    .meta(
      endpoint("POST", "/platform-keys", {
        tag,
        summary: "Create an API key",
        description:
          "The answer holds the key; it is not shown again. It acts as you, within its scopes, projects and time: out of scope is 403, another project 404, expired 401. A key makes none with more rights than its own.",
        status: 201,
      }),
    )
    .input(CreatePlatformKeyInput)
    .output(CreatedPlatformKey)
    .mutation(({ ctx, input }) => createPlatformKey(ctx.principal, input)),
  delete: userProcedure
    .meta(endpoint("DELETE", "/platform-keys/{key_id}", { tag, summary: "Delete an API key", status: 204 }))
    .input(PlatformKeyRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deletePlatformKey(ctx.principal, input)),
});
