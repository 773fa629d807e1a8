import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import { findLlmKey } from "#server/features/llm-keys/find-llm-key.ts";
import { AppError } from "#server/platform/errors.ts";

/** The refusal of a key that the project does not have, or no longer. */
export function unknownLlmKey(): AppError {
  const message = "There is no such LLM key in this project. Choose one of GET /llm-keys.";
  return new AppError("VALIDATION_ERROR", message, { errors: [{ path: "llm_key_id", message }] });
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
