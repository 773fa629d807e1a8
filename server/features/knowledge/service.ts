import { Prisma, type RagSource } from "#prisma/generated/client.ts";
import { changedConfig, checkConfig, openConfig, sealConfig } from "#server/features/knowledge/config.ts";
import { announceIndexing, indexAgain } from "#server/features/knowledge/documents.ts";
import { assertEmbeddingKey } from "#server/features/knowledge/embedding.ts";
import { countDocuments, findRag, toRag } from "#server/features/knowledge/find-source.ts";
import type { CreateRagInput, Rag, RagConfig, RagType, UpdateRagInput } from "#server/features/knowledge/schema.ts";
import { deleteResource, namesInUse, saveResource } from "#server/platform/audit/resources.ts";
import { judgeAddress } from "#server/platform/auth/chosen-address.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { invalidField, notFound } from "#server/platform/errors.ts";
import { paged } from "#server/platform/paging.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";

/** The project's RAG sources, newest first, secrets masked. */
export async function listRags(principal: ProjectPrincipal, input: ListInput): Promise<Page<Rag>> {
  const from = Prisma.sql`rag_sources x WHERE x.project_id = ${principal.project.id}::uuid`;
  const { total, ids } = await findPage(input, from, Prisma.sql`x.name`);
  const rows = db().ragSource.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" }, omit: { sealed_secrets: true } });
  const [found, counts] = await Promise.all([rows, countDocuments(ids)]);
  return paged(input, [total, found], (row) => toRag(row, counts));
}

/**
 * One RAG source, secrets masked.
 * @throws AppError NOT_FOUND
 */
export async function getRag(principal: ProjectPrincipal, { rag_id }: { rag_id: string }): Promise<Rag> {
  const row = await findRag(principal.project.id, rag_id);
  return toRag(row, await countDocuments([row.id]));
}

/** Where the store or the service is, as it was configured; "" for documents, which are kept here. */
const addressOf = (config: RagConfig): string =>
  "connection_string" in config ? config.connection_string : "url" in config ? config.url : "";

/**
 * Refuses an address that this install does not call, or that the caller may not choose, before it is stored; each call
 * checks again.
 * @returns whether it may lead to a private network, because an install admin chose it
 * @throws AppError VALIDATION_ERROR at the field of the address
 */
async function checkAddress(principal: ProjectPrincipal, config: RagConfig): Promise<boolean> {
  const address = addressOf(config);
  if (!address) return false;
  // A database's address is checked as one of the web would be: what counts is the host.
  const url = new URL(address.replace(/^postgres(ql)?:/, "http:"));
  const verdict = await judgeAddress(principal, url);
  if (verdict.refusal === undefined) return verdict.private_allowed;
  const path = "connection_string" in config ? "config.connection_string" : "config.url";
  throw invalidField(path, verdict.refusal);
}

/**
 * Writes a source and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name that is taken
 */
async function saveRag(
  principal: ProjectPrincipal,
  record: { action: "rag.create" | "rag.update"; name: string; detail: Prisma.InputJsonObject },
  write: (tx: Prisma.TransactionClient) => Promise<RagSource>,
): Promise<Rag> {
  const row = await saveResource(principal, { what: "a RAG source", resource_type: "rag", ...record }, write);
  return toRag(row, await countDocuments([row.id]));
}

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

const vectorsOf = (config: RagConfig) => ("embedding_model" in config ? `${config.embedding_llm_key_id} ${config.embedding_model}` : "");

/**
 * Changes a RAG source; fields and settings left out keep their value. With another embedding model all its documents are
 * indexed anew.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR and CONFLICT as at creation
 */
export async function updateRag(principal: ProjectPrincipal, { rag_id, name, type, config: given }: UpdateRagInput): Promise<Rag> {
  const before = await findRag(principal.project.id, rag_id);
  if (type !== undefined && type !== before.type)
    throw invalidField("type", `A source stays of its type, which is ${before.type}. Make another source instead.`);
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

async function ragInUse(rag_source_id: string): Promise<string | undefined> {
  const where = { rag_sources: { some: { rag_source_id } } };
  const agents = await db().agent.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  return agents.length ? `The RAG source is used by ${namesInUse("agent", agents)}. Take it out there first.` : undefined;
}

/**
 * Deletes a RAG source of the project and the documents in it. What lies in a store of the user's is left alone.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents that use it
 */
export async function deleteRag(principal: ProjectPrincipal, { rag_id }: { rag_id: string }): Promise<void> {
  const { id, name } = await findRag(principal.project.id, rag_id);
  const record = { action: "rag.delete", resource_type: "rag", resource_id: id, resource_name: name } as const;
  await deleteResource(
    principal,
    "RAG source",
    record,
    (tx) => tx.ragSource.deleteMany({ where: { id } }),
    () => ragInUse(id),
  );
}
