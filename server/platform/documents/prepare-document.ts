import { type Chunk, chunkText } from "#server/platform/documents/chunk-text.ts";
import { guessLanguage } from "#server/platform/documents/guess-language.ts";
import { type ReadOptions, readDocument } from "#server/platform/documents/read-document.ts";

/** A document, as it travels to the process that reads it. */
export interface RawDocument {
  bytes: Uint8Array;
  /** As `mediaTypeOf` gave it. */
  mediaType: string;
  options?: ReadOptions;
}

/** A document, ready to be stored and searched. */
export interface PreparedDocument {
  /** What the document itself says that it is called. */
  title: string | undefined;
  text: string;
  /** A configuration of PostgreSQL's text search. */
  language: string;
  chunks: Chunk[];
}

/**
 * Reads the text out of a document and cuts it into pieces. A document can be made so that this takes minutes or gigabytes: call it in a
 * process of its own (`readDocumentApart`).
 * @throws AppError VALIDATION_ERROR that says what is wrong with the document
 */
export async function prepareDocument({ bytes, mediaType, options }: RawDocument): Promise<PreparedDocument> {
  const { title, sections } = await readDocument(bytes, mediaType, options);
  const text = sections.map((section) => (section.place ? `${section.place}\n\n${section.text}` : section.text)).join("\n\n");
  return { title, text, language: guessLanguage(text), chunks: chunkText(sections) };
}
