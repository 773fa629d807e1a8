import { z } from "zod";
import { providerIds } from "#server/providers/kinds.ts";
import { Id, Name, pageOf, Timestamp } from "#server/schemas/primitives.ts";

export const ProviderId = z.enum(providerIds).meta({ id: "ProviderId", description: "Provider kind, as listed by GET /llm-providers" });

export const Provider = z
  .object({
    id: ProviderId,
    label: z.string(),
    requires_base_url: z.boolean(),
    supports_tools: z.boolean(),
    key_prefix: z.string().nullable(),
    key_hint: z.string(),
    routing_prefix: z.string().nullable(),
    model_listing: z.enum(["live", "catalogue", "deployments"]),
    docs_url: z.string(),
  })
  .meta({ id: "Provider" });
export const ProviderList = z.object({ items: z.array(Provider) });

export const LlmKey = z
  .object({
    id: Id,
    name: z.string(),
    provider: ProviderId,
    masked_key: z.string().meta({ description: "Enough to recognise the key, never enough to use it", example: "sk-…9f2c" }),
    base_url: z.string().nullable(),
    api_version: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: "LlmKey" });
export type LlmKey = z.infer<typeof LlmKey>;

export const CreateLlmKeyInput = z.strictObject({
  name: Name,
  provider: ProviderId,
  api_key: z
    .string()
    .trim()
    .min(1, "Paste the key.")
    .max(4000)
    .meta({ title: "API key", description: "Stored encrypted, never shown again" }),
  base_url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional()
    .meta({ title: "Base URL", description: "Required for azure and openai_compatible, an optional override for the others" }),
  api_version: z.string().max(40).optional().meta({ title: "API version", description: "azure only", example: "2024-10-21" }),
});
export type CreateLlmKeyInput = z.infer<typeof CreateLlmKeyInput>;
export const LlmKeyRef = z.strictObject({ key_id: Id });
export const LlmKeyPage = pageOf(LlmKey);

export const ModelList = z
  .object({
    source: z.enum(["live", "curated"]).meta({ description: "live: listed by the vendor with this key; curated: a short list of ours" }),
    models: z.array(z.object({ id: z.string(), label: z.string().optional() })),
  })
  .meta({ id: "ModelList" });
export type ModelList = z.infer<typeof ModelList>;
