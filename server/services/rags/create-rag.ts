import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { CreateRagInput, Rag } from "#server/schemas/rag.ts";
import { checkAddress } from "#server/services/rags/check-address.ts";
import { assertEmbeddingKey } from "#server/services/rags/embedding-of.ts";
import { checkConfig, sealConfig } from "#server/services/rags/rag-config.ts";
import { saveRag } from "#server/services/rags/save-rag.ts";

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
