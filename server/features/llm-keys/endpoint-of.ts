import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import type { ProviderId } from "#server/llm/kinds.ts";
import { endpointReach } from "#server/platform/net/guard.ts";
import { unseal } from "#server/platform/secrets.ts";

/**
 * A stored key, opened for calling. Keep the result inside the call: it holds the secret.
 * @param open how it is opened; `unsealOften` for calls that come one after the other
 * @throws AppError INTERNAL_ERROR when the key was sealed under another ENCRYPTION_KEY
 */
export const endpointOf = (row: LlmKeyRow, open: (sealed: string) => string = unseal): ModelEndpoint => ({
  provider: row.provider as ProviderId, // cast: only rows of the provider table are ever stored
  apiKey: open(row.sealed_key),
  baseUrl: row.base_url,
  apiVersion: row.api_version,
  keyName: row.name,
  reach: endpointReach(row.private_allowed),
});
