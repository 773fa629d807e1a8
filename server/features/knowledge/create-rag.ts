import { checkAddress } from "#server/features/knowledge/check-address.ts";
import { assertEmbeddingKey } from "#server/features/knowledge/embedding-of.ts";
import { checkConfig, sealConfig } from "#server/features/knowledge/rag-config.ts";
import { saveRag } from "#server/features/knowledge/save-rag.ts";
import type { CreateRagInput, Rag } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

/**
 * Adds a RAG source. Whether a store of the user's answers is said by its test.
 * @throws AppError VALIDATION_ERROR for settings that its type does not have, an unknown key or an address out of reach;
 *   CONFLICT for a name that is taken
 */
export async function createRag(principal: ProjectPrincipal, { name, type, config: given }: CreateRagInput): Promise<Rag> {
  const project_id = principal.project.id;
  const config = checkConfig(type, given);
  await assertEmbeddingKey(project_id, config);
  const private_allowed = await checkAddress(principal, config);
  return saveRag(principal, { action: "rag.create", name, detail: { type } }, (tx) =>
    tx.ragSource.create({ data: { project_id, name, type, private_allowed, ...sealConfig(config) } }),
  );
}
