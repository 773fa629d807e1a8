import { createHash } from "node:crypto";
import { Prisma, type RagDocument as RagDocumentRow } from "#prisma/generated/client.ts";
import { documentAdded } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { findRag, findRagDocument, toRagDocument } from "#server/features/knowledge/find-source.ts";
import {
  type AddRagDocumentInput,
  type ListRagDocumentsInput,
  type RagDocument,
  type RagDocumentDetail,
  type RagDocumentRef,
  type ReindexRagDocumentInput,
  SHOWN_TEXT,
} from "#server/features/knowledge/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { splitFrontMatter } from "#server/platform/documents/front-matter.ts";
import { isDecoded, mediaTypeOf } from "#server/platform/documents/read-document.ts";
import { AppError, invalidField, isForeignKeyViolation, isUniqueViolation, notFound } from "#server/platform/errors.ts";
import { paged } from "#server/platform/paging.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { noteStored } from "#server/runs/store/space.ts";
import type { FieldError } from "#server/shared/error-schema.ts";
import type { Page } from "#server/shared/primitives-schema.ts";

/** A document that waits to be indexed, and the how manieth time that is. */
type AskedDocument = Pick<RagDocumentRow, "id" | "generation">;

/** An indexing that has told nothing for so long is taken for lost; the executor's own retries are closer together. */
const LOST_MS = 15 * 60_000;
/** How many lost ones are asked for again at a time. */
const BATCH = 200;

/**
 * Marks documents to be indexed anew. Call `announceIndexing` when the transaction is through.
 * @param within the transaction that makes the change
 */
export function indexAgain(where: Prisma.RagDocumentWhereInput, within: Prisma.TransactionClient): Promise<RagDocumentRow[]> {
  return within.ragDocument.updateManyAndReturn({
    where,
    data: { status: "indexing", error: null, chunk_count: 0, chunks_done: 0, generation: { increment: 1 } },
  });
}

/** Has documents indexed in the background. What cannot be sent is made up for by `resumeIndexing`. */
export async function announceIndexing(project_id: string, documents: readonly AskedDocument[]): Promise<void> {
  await publishEvents(
    documents.map(({ id, generation }) => documentAdded.create({ document_id: id, project_id, generation }, { id: `${id}-${generation}` })),
  );
}

/**
 * Asks again for documents whose indexing got lost: an event that was not sent, a server that forgot it.
 * @returns how many were asked for
 */
export async function resumeIndexing(): Promise<number> {
  const lost = await db().ragDocument.findMany({
    where: { status: "indexing", updated_at: { lt: new Date(Date.now() - LOST_MS) } },
    select: { id: true, rag_source: { select: { project_id: true } } },
    orderBy: { updated_at: "asc" },
    take: BATCH,
  });
  for (const { id, rag_source } of lost) {
    const asked = await db().$transaction((tx) => indexAgain({ id, status: "indexing" }, tx));
    await announceIndexing(rag_source.project_id, asked);
  }
  return lost.length;
}

/**
 * The documents of a source, newest first; none for a source that keeps them elsewhere.
 * @throws AppError NOT_FOUND
 */
export async function listDocuments(principal: ProjectPrincipal, input: ListRagDocumentsInput): Promise<Page<RagDocument>> {
  const { id } = await findRag(principal.project.id, input.rag_id);
  const status = input.status ? Prisma.sql`x.status = ${input.status}::"DocumentStatus"` : Prisma.sql`true`;
  const from = Prisma.sql`rag_documents x WHERE x.rag_source_id = ${id}::uuid AND ${status}`;
  const { total, ids } = await findPage(input, from, Prisma.sql`concat_ws(' ', x.title, x.uri)`);
  const rows = await db().ragDocument.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" } });
  return paged(input, [total, rows], toRagDocument);
}

/**
 * One document with the beginning of its text, as it was read.
 * @throws AppError NOT_FOUND
 */
export async function getDocument(principal: ProjectPrincipal, ref: RagDocumentRef): Promise<RagDocumentDetail> {
  const row = await findRagDocument(principal.project.id, ref);
  const { rows } = await pool().query<{ text: string }>("SELECT left(text, $2) AS text FROM rag_document_contents WHERE document_id = $1", [
    row.id,
    SHOWN_TEXT,
  ]);
  return { ...toRagDocument(row), text: rows[0]?.text ?? "" };
}

interface NewDocument {
  title: string;
  uri: string | null;
  media_type: string;
  /** What the same content has in common, however it is called. */
  hash: string;
  /** The document itself; null when it is fetched from its address at each indexing. */
  data: Uint8Array | null;
}

async function assertNew(rag_source_id: string, hash: string, tx: Prisma.TransactionClient): Promise<void> {
  // What could not be read is no obstacle to the same once more.
  await tx.ragDocument.deleteMany({ where: { rag_source_id, hash, status: "failed" } });
  const same = await tx.ragDocument.findFirst({ where: { rag_source_id, hash }, select: { id: true, title: true } });
  if (!same) return;
  throw new AppError(
    "CONFLICT",
    `The source already has this content, as "${same.title}" (document ${same.id}). Delete that one first to add it anew.`,
  );
}

/**
 * Stores a document and has it indexed in the background. A document with the same content that failed is replaced.
 * @throws AppError NOT_FOUND; CONFLICT for a source that keeps its documents elsewhere, for content that is there, and for a
 *   project that holds as much as it may
 */
async function insertDocument(
  principal: ProjectPrincipal,
  rag_id: string,
  { title, uri, media_type, hash, data }: NewDocument,
): Promise<RagDocument> {
  const source = await findRag(principal.project.id, rag_id);
  if (source.type !== "documents")
    throw new AppError("CONFLICT", `"${source.name}" is a ${source.type} source, which keeps its documents elsewhere. Add them there.`);
  await assertRoom(principal.project.id);
  try {
    const row = await db().$transaction(async (tx) => {
      await assertNew(source.id, hash, tx);
      const saved = await tx.ragDocument.create({
        data: {
          rag_source_id: source.id,
          title,
          uri,
          media_type,
          hash,
          bytes: data?.byteLength ?? 0,
          content: { create: { text: "", data: data && new Uint8Array(data) } },
        },
      });
      await recordAudit(tx, principal, {
        action: "rag.add_document",
        resource_type: "rag",
        resource_id: source.id,
        resource_name: source.name,
        detail: { document_id: saved.id, title },
      });
      return saved;
    });
    noteStored(principal.project.id, "documents", row.bytes);
    await announceIndexing(principal.project.id, [row]);
    return toRagDocument(row);
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError("CONFLICT", "The source already has this content.");
    if (isForeignKeyViolation(error)) await findRag(principal.project.id, rag_id);
    throw error;
  }
}

/** Beginning of an uploaded file in which its own title is looked for, in bytes: it is parsed in the serving process. */
const MAX_TITLE_BLOCK = 4096;

function frontMatterTitle(bytes: Uint8Array): string | undefined {
  return splitFrontMatter(cleanText(new TextDecoder().decode(bytes.subarray(0, MAX_TITLE_BLOCK)))).title;
}

const hashOf = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");
const MOST_TITLE = 300;

function faultsOf({ title, text, url }: AddRagDocumentInput): FieldError[] {
  if (text !== undefined && url !== undefined) return [{ path: "url", message: "Send a text or a URL, not both." }];
  if (text === undefined && url === undefined)
    return [{ path: "text", message: "Send a text with its title, a URL, or a file as multipart/form-data." }];
  if (text === undefined) return [];
  return [
    ...(title === undefined ? [{ path: "title", message: "Give the text a title." }] : []),
    ...(text.trim() === "" ? [{ path: "text", message: "The text is empty." }] : []),
  ];
}

/**
 * Adds a text (Markdown is understood) or an address to a source; it is fetched and indexed in the background.
 * @throws AppError VALIDATION_ERROR; NOT_FOUND; CONFLICT for content or an address that is there already
 */
export async function addDocument(principal: ProjectPrincipal, input: AddRagDocumentInput): Promise<RagDocument> {
  const errors = faultsOf(input);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", `${errors[0].path}: ${errors[0].message}`, { errors });
  const { rag_id, title, text, url } = input;
  if (url !== undefined) {
    const uri = Object.assign(new URL(url), { hash: "" }).href;
    // Without a title it gets the page's own, once that is known.
    return insertDocument(principal, rag_id, {
      title: title ?? uri.slice(0, MOST_TITLE),
      uri,
      media_type: "text/html",
      hash: hashOf(`url ${uri}`),
      data: null,
    });
  }
  const data = Buffer.from(text ?? "");
  return insertDocument(principal, rag_id, { title: title ?? "", uri: null, media_type: "text/markdown", hash: hashOf(data), data });
}

export interface UploadedFile {
  name: string;
  /** Content-Type of the part. */
  type: string;
  bytes: Uint8Array;
  /** In place of the file's own title or name. */
  title: string | undefined;
}

/**
 * Adds a file: text, Markdown, HTML, PDF or DOCX.
 * @throws AppError VALIDATION_ERROR at `file` for one of another kind; NOT_FOUND; CONFLICT for content that is there already
 */
export async function addFile(
  principal: ProjectPrincipal,
  rag_id: string,
  { name, type, bytes, title }: UploadedFile,
): Promise<RagDocument> {
  await findRag(principal.project.id, rag_id);
  const refused = (message: string) => invalidField("file", message);
  if (bytes.byteLength === 0) throw refused("The file is empty.");
  let media_type: string;
  try {
    media_type = mediaTypeOf(bytes, name, type);
  } catch (error) {
    throw error instanceof AppError ? refused(error.message) : error;
  }
  const ownTitle = media_type === "text/markdown" ? frontMatterTitle(bytes) : undefined;
  const shown = (title ?? ownTitle ?? name.replace(/^.*[\\/]/, "")).trim().slice(0, MOST_TITLE) || "File";
  return insertDocument(principal, rag_id, { title: shown, uri: null, media_type, hash: hashOf(bytes), data: bytes });
}

/**
 * Indexes a document anew: one that failed, one whose address has new content, or one decoded by the wrong charset.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR at `charset` for PDF and DOCX
 */
export async function reindexDocument(principal: ProjectPrincipal, { charset, ...ref }: ReindexRagDocumentInput): Promise<RagDocument> {
  const { id, title, media_type } = await findRagDocument(principal.project.id, ref);
  const source = await findRag(principal.project.id, ref.rag_id);
  if (charset && !isDecoded(media_type))
    throw invalidField("charset", "PDF and Word files name the charset of their text themselves. Leave `charset` out.");

  const asked = await db().$transaction(async (tx) => {
    if (charset !== undefined) await tx.ragDocument.updateMany({ where: { id }, data: { chosen_charset: charset } });
    const [document] = await indexAgain({ id }, tx);
    if (!document) throw notFound("document");
    await recordAudit(tx, principal, {
      action: "rag.index_document",
      resource_type: "rag",
      resource_id: source.id,
      resource_name: source.name,
      detail: { document_id: id, title, ...(charset !== undefined && { charset }) },
    });
    return document;
  });
  await announceIndexing(principal.project.id, [asked]);
  // As it was asked for: by now it may be indexed already.
  return toRagDocument(asked);
}

/**
 * Deletes a document; searches find it no more.
 * @throws AppError NOT_FOUND
 */
export async function deleteDocument(principal: ProjectPrincipal, ref: RagDocumentRef): Promise<void> {
  const { id, title, rag_source_id } = await findRagDocument(principal.project.id, ref);
  await db().$transaction(async (tx) => {
    const { count } = await tx.ragDocument.deleteMany({ where: { id } });
    if (count === 0) throw notFound("document");
    const source = await tx.ragSource.update({
      where: { id: rag_source_id },
      data: { revision: { increment: 1 } },
      select: { name: true },
    });
    await recordAudit(tx, principal, {
      action: "rag.delete_document",
      resource_type: "rag",
      resource_id: rag_source_id,
      resource_name: source.name,
      detail: { document_id: id, title },
    });
  });
}
