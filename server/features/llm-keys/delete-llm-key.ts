import { findLlmKey } from "#server/features/llm-keys/find-llm-key.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation, notFound } from "#server/platform/errors.ts";
import { namesInUse } from "#server/platform/names-in-use.ts";

async function stillUsed(keyId: string): Promise<AppError | undefined> {
  const agents = await db().agent.findMany({ where: { llm_key_id: keyId }, select: { name: true }, orderBy: { name: "asc" } });
  if (agents.length) return new AppError("CONFLICT", `The key is used by ${namesInUse("agent", agents)}. Choose another key there first.`);
  const where = { config: { path: ["embedding_llm_key_id"], equals: keyId } };
  const sources = await db().ragSource.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  if (!sources.length) return undefined;
  return new AppError("CONFLICT", `The key makes the vectors of ${namesInUse("RAG source", sources)}. Choose another key there first.`);
}

/**
 * Deletes an LLM key of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents or RAG sources that use it
 */
export async function deleteLlmKey(principal: ProjectPrincipal, { key_id }: { key_id: string }): Promise<void> {
  const key = await findLlmKey(principal.project.id, key_id);
  if (!key) throw notFound("LLM key");
  const conflict = await stillUsed(key.id);
  if (conflict) throw conflict;
  try {
    await db().$transaction(async (tx) => {
      const { count } = await tx.llmKey.deleteMany({ where: { id: key.id } });
      if (count === 0) throw notFound("LLM key");
      await recordAudit(
        principal,
        { action: "llm_key.delete", resource_type: "llm_key", resource_id: key.id, resource_name: key.name },
        tx,
      );
    });
  } catch (error) {
    // An agent took the key in this very moment.
    if (isForeignKeyViolation(error)) throw (await stillUsed(key.id)) ?? error;
    throw error;
  }
}
