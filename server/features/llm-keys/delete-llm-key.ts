import { findLlmKey } from "#server/features/llm-keys/find-llm-key.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { deleteResource, namesInUse } from "#server/platform/names-in-use.ts";

async function keyInUse(keyId: string): Promise<string | undefined> {
  const agents = await db().agent.findMany({ where: { llm_key_id: keyId }, select: { name: true }, orderBy: { name: "asc" } });
  if (agents.length) return `The key is used by ${namesInUse("agent", agents)}. Choose another key there first.`;
  const where = { config: { path: ["embedding_llm_key_id"], equals: keyId } };
  const sources = await db().ragSource.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  return sources.length ? `The key makes the vectors of ${namesInUse("RAG source", sources)}. Choose another key there first.` : undefined;
}

/**
 * Deletes an LLM key of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents or RAG sources that use it
 */
export async function deleteLlmKey(principal: ProjectPrincipal, { key_id }: { key_id: string }): Promise<void> {
  const key = await findLlmKey(principal.project.id, key_id);
  if (!key) throw notFound("LLM key");
  const { id, name } = key;
  const record = { action: "llm_key.delete", resource_type: "llm_key", resource_id: id, resource_name: name };
  await deleteResource(
    principal,
    "LLM key",
    record,
    (tx) => tx.llmKey.deleteMany({ where: { id } }),
    () => keyInUse(id),
  );
}
