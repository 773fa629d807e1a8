import { addressOf, checkAddress } from "#server/features/knowledge/check-address.ts";
import { assertEmbeddingKey } from "#server/features/knowledge/embedding-of.ts";
import { findRag } from "#server/features/knowledge/find-rag.ts";
import { changedConfig, openConfig, sealConfig } from "#server/features/knowledge/rag-config.ts";
import { announceIndexing, indexAgain } from "#server/features/knowledge/request-indexing.ts";
import { saveRag } from "#server/features/knowledge/save-rag.ts";
import type { Rag, RagConfig, RagType, UpdateRagInput } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { AppError, notFound } from "#server/platform/errors.ts";

const vectorsOf = (config: RagConfig) => ("embedding_model" in config ? `${config.embedding_llm_key_id} ${config.embedding_model}` : "");

/**
 * Changes a RAG source; fields and settings left out keep their value. With another embedding model all its documents are
 * indexed anew.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR and CONFLICT as at creation
 */
export async function updateRag(principal: ProjectPrincipal, { rag_id, name, type, config: given }: UpdateRagInput): Promise<Rag> {
  const before = await findRag(principal.project.id, rag_id);
  if (type !== undefined && type !== before.type) {
    const message = `A source stays of its type, which is ${before.type}. Make another source instead.`;
    throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "type", message }] });
  }
  const old = openConfig(before);
  const config = given === undefined ? old : changedConfig(before.type as RagType, before, given); // cast: only these are ever stored
  let { private_allowed } = before;
  if (given !== undefined) {
    await assertEmbeddingKey(principal.project.id, config);
    // An install admin who saves it vouches for it from then on.
    if (!private_allowed || addressOf(config) !== addressOf(old)) private_allowed = await checkAddress(principal, config);
  }
  const hasNewVectors = before.type === "documents" && vectorsOf(config) !== vectorsOf(old);
  const changed = [...(name !== undefined && name !== before.name ? ["name"] : []), ...changedSettings(old, config)];
  let asked: Awaited<ReturnType<typeof indexAgain>> = [];
  const saved = await saveRag(principal, { action: "rag.update", name: name ?? before.name, detail: { changed } }, async (tx) => {
    const { count } = await tx.ragSource.updateMany({
      where: { id: before.id },
      data: { ...(name !== undefined && { name }), ...(given !== undefined && { private_allowed, ...sealConfig(config) }) },
    });
    if (count === 0) throw notFound("RAG source");
    if (hasNewVectors) asked = await indexAgain({ rag_source_id: before.id }, tx);
    return tx.ragSource.findUniqueOrThrow({ where: { id: before.id } });
  });
  await announceIndexing(principal.project.id, asked);
  return saved;
}

/** Names of the settings that differ; never a value. */
const changedSettings = (before: RagConfig, after: RagConfig): string[] =>
  Object.entries(after).flatMap(([key, value]) =>
    JSON.stringify(value) === JSON.stringify(Reflect.get(before, key)) ? [] : [`config.${key}`],
  );
