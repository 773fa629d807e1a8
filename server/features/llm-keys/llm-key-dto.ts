import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import { type LlmKey, ModelPrices } from "#server/features/llm-keys/schema.ts";
import type { ProviderId } from "#server/llm/kinds.ts";

/** What the API shows of a stored key: masked, never the key itself. */
export const toLlmKey = (row: Omit<LlmKeyRow, "sealed_key">): LlmKey => ({
  id: row.id,
  name: row.name,
  provider: row.provider as ProviderId, // cast: only rows of the provider table are ever stored
  masked_key: row.masked_key,
  base_url: row.base_url,
  api_version: row.api_version,
  prices: ModelPrices.parse(row.prices),
  created_at: row.created_at.toISOString(),
});
