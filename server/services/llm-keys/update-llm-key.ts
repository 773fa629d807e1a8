import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError, notFound } from "#server/errors.ts";
import type { LlmKey, UpdateLlmKeyInput } from "#server/schemas/llm-key.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isUniqueViolation } from "#server/services/database-errors.ts";
import { priceProblems } from "#server/services/llm-keys/check-llm-key.ts";
import { keyNameTaken } from "#server/services/llm-keys/create-llm-key.ts";
import { findLlmKey } from "#server/services/llm-keys/find-llm-key.ts";
import { toLlmKey } from "#server/services/llm-keys/llm-key-dto.ts";

/**
 * Changes a key's name or prices; fields left out keep their value. The key itself and where it leads are never changed:
 * whoever could do that would send the stored key elsewhere.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for two prices of one model; CONFLICT for a name that is taken
 */
export async function updateLlmKey(principal: ProjectPrincipal, { key_id, name, prices }: UpdateLlmKeyInput): Promise<LlmKey> {
  const before = await findLlmKey(principal.project.id, key_id);
  if (!before) throw notFound("LLM key");
  const errors = priceProblems(prices);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  const data = { ...(name !== undefined && { name }), ...(prices && { prices }) };
  try {
    return await db().$transaction(async (tx) => {
      const { count } = await tx.llmKey.updateMany({ where: { id: before.id }, data });
      if (count === 0) throw notFound("LLM key");
      await recordAudit(
        principal,
        {
          action: "llm_key.update",
          resource_type: "llm_key",
          resource_id: before.id,
          resource_name: name ?? before.name,
          detail: { changed: Object.keys(data), ...(prices && { prices }) },
        },
        tx,
      );
      return toLlmKey(await tx.llmKey.findUniqueOrThrow({ where: { id: before.id } }));
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw keyNameTaken(name ?? before.name);
    throw error;
  }
}
