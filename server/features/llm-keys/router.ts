import {
  CreateLlmKeyInput,
  LlmKey,
  LlmKeyPage,
  LlmKeyRef,
  ModelList,
  ProviderList,
  UpdateLlmKeyInput,
} from "#server/features/llm-keys/schema.ts";
import { createLlmKey, deleteLlmKey, listLlmKeys, listModels, listProviders, updateLlmKey } from "#server/features/llm-keys/service.ts";
import { adminProcedure, endpoint, router, userProcedure, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent, Nothing } from "#server/shared/primitives-schema.ts";

const tag = "LLM keys";

export const llmKeysRouter = router({
  providers: userProcedure
    .meta(
      endpoint("GET", "/llm-providers", {
        tag,
        summary: "List the provider kinds",
        description: "The registry that forms are drawn from.",
      }),
    )
    .input(Nothing)
    .output(ProviderList)
    .query(() => listProviders()),
  list: viewerProcedure
    .meta(endpoint("GET", "/llm-keys", { tag, summary: "List the project's LLM keys", description: "Masked." }))
    .input(ListInput)
    .output(LlmKeyPage)
    .query(({ ctx, input }) => listLlmKeys(ctx.principal, input)),
  create: adminProcedure
    .meta(
      endpoint("POST", "/llm-keys", {
        tag,
        summary: "Add an LLM key",
        description: "With `verify` it is tried first, and refused with 502 when the provider does not take it.",
        status: 201,
      }),
    )
    .input(CreateLlmKeyInput)
    .output(LlmKey)
    .mutation(({ ctx, input }) => createLlmKey(ctx.principal, input)),
  update: adminProcedure
    .meta(
      endpoint("PUT", "/llm-keys/{key_id}", {
        tag,
        summary: "Replace an LLM key, or change its name or prices",
        description:
          "`prices` replaces the key's own prices; they count before the built-in list, for calls from now on. A new `api_key` is first tried with an agent that uses the key (502 when it fails, and nothing is changed), unless `verify` says otherwise. Provider and address stay as they are: for others, add a new key.",
      }),
    )
    .input(UpdateLlmKeyInput)
    .output(LlmKey)
    .mutation(({ ctx, input }) => updateLlmKey(ctx.principal, input)),
  delete: adminProcedure
    .meta(
      endpoint("DELETE", "/llm-keys/{key_id}", {
        tag,
        summary: "Delete an LLM key",
        description: "409 while an agent, a RAG source or the assistant uses it.",
        status: 204,
      }),
    )
    .input(LlmKeyRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteLlmKey(ctx.principal, input)),
  models: viewerProcedure
    .meta(
      endpoint("GET", "/llm-keys/{key_id}/models", {
        tag,
        summary: "List the models of a key",
        description: "Live from the vendor, else a short curated list; `source` says which, and `problem` why.",
      }),
    )
    .input(LlmKeyRef)
    .output(ModelList)
    .query(({ ctx, input }) => listModels(ctx.principal, input)),
});
