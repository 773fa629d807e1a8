import { createHash } from "node:crypto";
import { findRag } from "#server/features/knowledge/find-rag.ts";
import { insertDocument } from "#server/features/knowledge/insert-document.ts";
import type { AddRagDocumentInput, RagDocument } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { mediaTypeOf } from "#server/platform/documents/read-document.ts";
import { AppError } from "#server/platform/errors.ts";
import type { FieldError } from "#server/shared/error-schema.ts";

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
  /** In place of the file's name. */
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
  const refused = (message: string) => new AppError("VALIDATION_ERROR", message, { errors: [{ path: "file", message }] });
  if (bytes.byteLength === 0) throw refused("The file is empty.");
  const shown = (title ?? name.replace(/^.*[\\/]/, "")).trim().slice(0, MOST_TITLE) || "File";
  let media_type: string;
  try {
    media_type = mediaTypeOf(bytes, name, type);
  } catch (error) {
    throw error instanceof AppError ? refused(error.message) : error;
  }
  return insertDocument(principal, rag_id, { title: shown, uri: null, media_type, hash: hashOf(bytes), data: bytes });
}
