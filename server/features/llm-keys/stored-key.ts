import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import type { ProviderId } from "#server/llm/kinds.ts";
import { db } from "#server/platform/db/client.ts";
import { type AppError, invalidField } from "#server/platform/errors.ts";
import { endpointReach } from "#server/platform/net/guard.ts";
import { isUuid } from "#server/platform/new-id.ts";
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

/** The stored key with this id in this project, or null. */
export async function findLlmKey(projectId: string, keyId: string): Promise<LlmKeyRow | null> {
  return isUuid(keyId) ? db().llmKey.findFirst({ where: { id: keyId, project_id: projectId } }) : null;
}

/** The refusal of a key that the project does not have, or no longer. */
export function unknownLlmKey(): AppError {
  return invalidField("llm_key_id", "There is no such LLM key in this project. Choose one of GET /llm-keys.");
}

/**
 * The project's LLM key that an agent names.
 * @throws AppError VALIDATION_ERROR when the project has none with this id
 */
export async function chooseLlmKey(projectId: string, keyId: string): Promise<LlmKeyRow> {
  const key = await findLlmKey(projectId, keyId);
  if (!key) throw unknownLlmKey();
  return key;
}
