import { z } from "zod";
import { providerIds } from "#server/llm/kinds.ts";
import { Id, ignoredFields, Name, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

export const ProviderId = z
  .enum(providerIds)
  .meta({ id: "ProviderId", description: "Provider kind, as listed by GET /llm-providers", example: "openai" });

export const Provider = z
  .object({
    id: ProviderId,
    label: z.string().meta({ example: "OpenAI" }),
    requires_base_url: z.boolean().meta({ example: false }),
    supports_tools: z.boolean(),
    key_prefix: z.string().nullable().meta({ description: "What its keys begin with", example: "sk-" }),
    key_hint: z.string().meta({ description: "Where to find a key", example: "platform.openai.com, API keys" }),
    routing_prefix: z.string().nullable().meta({ description: "Put before the model id by the service", example: null }),
    model_listing: z.enum(["live", "catalogue", "deployments"]),
    docs_url: z.string().meta({ example: "https://platform.openai.com/docs/models" }),
  })
  .meta({ id: "Provider" });
export const ProviderList = z.object({ items: z.array(Provider) });

const perMillion = z.number().min(0).max(100_000);
export const ModelPrice = z
  .strictObject({
    model: z
      .string()
      .trim()
      .min(1, "Name the model.")
      .max(200)
      .meta({ title: "Model", description: "Model id, or the beginning of ids with * at its end", example: "gpt-4.1-mini" }),
    input_per_million: perMillion.meta({ title: "Input", description: "USD for a million input tokens; 0 is free", example: 0.4 }),
    cached_input_per_million: perMillion.optional().meta({
      title: "Cached input",
      description: "USD for a million input tokens that the provider read from its cache; left out, as other input",
      example: 0.1,
    }),
    output_per_million: perMillion.meta({ title: "Output", description: "USD for a million output tokens; 0 is free", example: 1.6 }),
  })
  .meta({ id: "ModelPrice" });
export type ModelPrice = z.infer<typeof ModelPrice>;
export const ModelPrices = z.array(ModelPrice).max(100).meta({
  title: "Prices",
  description: "What models cost with this key, before the built-in list. They count for calls from now on; costs on record stay",
});

export const LlmKey = z
  .object({
    id: Id,
    name: z.string().meta({ example: "Team key" }),
    provider: ProviderId,
    masked_key: z.string().meta({ description: "Enough to recognise the key, never enough to use it", example: "sk-…9f2c" }),
    base_url: z.string().nullable().meta({ example: null }),
    api_version: z.string().nullable().meta({ example: null }),
    prices: ModelPrices,
    created_at: Timestamp,
  })
  .meta({ id: "LlmKey" });
export type LlmKey = z.infer<typeof LlmKey>;

const verify = z.boolean().optional();
export const CreateLlmKeyInput = z.strictObject({
  name: Name.meta({ example: "Team key" }),
  provider: ProviderId,
  api_key: z
    .string()
    .trim()
    .min(1, "Paste the key.")
    .max(4000)
    .meta({ title: "API key", description: "Stored encrypted, never shown again", example: "sk-proj-9f2c" }),
  base_url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional()
    .meta({ title: "Base URL", description: "Required for azure and openai_compatible, an optional override for the others" }),
  api_version: z.string().max(40).optional().meta({ title: "API version", description: "azure only, such as 2024-10-21" }),
  prices: ModelPrices.optional(),
  verify: verify.meta({
    description:
      "true: one call is made with the key first, which costs nothing; when the provider refuses it or cannot be reached the answer is 502 in its words, and nothing is saved. Left out, the key is stored as it is",
    example: false,
  }),
});
export type CreateLlmKeyInput = z.infer<typeof CreateLlmKeyInput>;
const changeable = {
  name: Name.meta({ example: "Team key" }),
  api_key: CreateLlmKeyInput.shape.api_key.meta({
    title: "New API key",
    description: "In place of the stored one, for the same provider and address; tried before it is stored, see `verify`",
    example: "sk-proj-9f2c",
  }),
  prices: ModelPrices,
};
export const UpdateLlmKeyInput = z.strictObject({
  ...ignoredFields(LlmKey, changeable),
  key_id: Id,
  ...z.object(changeable).partial().shape,
  verify: verify.meta({
    description:
      "Of a new `api_key`. Left out, it is tried with an agent that uses the key, if there is one; true tries it also where none does; false stores it without any call",
    example: false,
  }),
});
export type UpdateLlmKeyInput = z.infer<typeof UpdateLlmKeyInput>;
export const LlmKeyRef = z.strictObject({ key_id: Id });
export const LlmKeyPage = pageOf(LlmKey);

export const ModelList = z
  .object({
    source: z.enum(["live", "curated"]).meta({ description: "live: listed by the vendor with this key; curated: a short built-in list" }),
    models: z.array(z.object({ id: z.string().meta({ example: "gpt-4.1-mini" }), label: z.string().optional() })),
    problem: z
      .object({
        detail: z.string().meta({ example: "This key was refused by OpenAI (401): Incorrect API key provided." }),
        is_key_refused: z.boolean().meta({ description: "Whether the provider does not accept the key, and not merely gave no list" }),
      })
      .nullable()
      .meta({ description: "Why the vendor's own list could not be had; null when nothing went wrong", example: null }),
  })
  .meta({ id: "ModelList" });
export type ModelList = z.infer<typeof ModelList>;
/** What a vendor is asked for; what went wrong is told apart. */
export type ListedModels = Omit<z.infer<typeof ModelList>, "problem">;
