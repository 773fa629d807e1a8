import { createRequire } from "node:module";
import { dirname } from "node:path";
import { charsetOf, ownCharset } from "#server/platform/charset.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import type { Section } from "#server/platform/documents/chunk-text.ts";
import { decodeBy, decodeText } from "#server/platform/documents/decode-text.ts";
import { splitFrontMatter } from "#server/platform/documents/front-matter.ts";
import { htmlToMarkdown } from "#server/platform/documents/html-to-markdown.ts";
import { firstHeading, markdownSections } from "#server/platform/documents/markdown-sections.ts";
import { type FormField, formLines } from "#server/platform/documents/pdf-form.ts";
import { unpacksWithin } from "#server/platform/documents/zip-size.ts";
import { AppError } from "#server/platform/errors.ts";

export const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const PDF = "application/pdf";

/** True for media types whose text is decoded by a charset. */
export const isDecoded = (mediaType: string): boolean => mediaType !== PDF && mediaType !== DOCX;

/** Longest text that is kept of one document, in characters. */
const MOST_TEXT = 5_000_000;
const MOST_PAGES = 3000;
const MOST_UNPACKED = 100 * 1024 * 1024;

interface ReadDocument {
  /** What the document itself says that it is called. */
  title: string | undefined;
  /** Charset that the bytes were decoded by; absent for PDF and DOCX. */
  charset?: string;
  sections: Section[];
}

const BY_ENDING: Record<string, string> = {
  txt: "text/plain",
  text: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  markdown: "text/markdown",
  mdx: "text/markdown",
  html: "text/html",
  htm: "text/html",
  xhtml: "text/html",
  csv: "text/csv",
  tsv: "text/csv",
  json: "application/json",
  jsonl: "application/json",
  xml: "text/xml",
  yaml: "text/plain",
  yml: "text/plain",
  rst: "text/plain",
  pdf: PDF,
  docx: DOCX,
};

/** Bytes in which the header of a PDF may begin (PDF 1.7 reference, appendix H, note 13). */
const MAX_PDF_HEADER_OFFSET = 1024;

const startsWith = (bytes: Uint8Array, text: string) => Buffer.from(bytes.subarray(0, text.length)).toString("latin1") === text;

const unknownKind = () =>
  new AppError("VALIDATION_ERROR", "This kind of file cannot be read. Send text, Markdown, HTML, PDF or DOCX (Word).");

/**
 * What a file is: what its first bytes say, then its name, then what the sender declared.
 * @returns a media type that `readDocument` reads
 * @throws AppError VALIDATION_ERROR for any other kind
 */
export function mediaTypeOf(bytes: Uint8Array, name: string, declared = ""): string {
  if (startsWith(bytes, "%PDF-")) return PDF;
  const ending = BY_ENDING[/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""];
  const said = declared.split(";")[0]?.trim().toLowerCase() ?? "";
  if (startsWith(bytes, "PK\u0003\u0004")) {
    if (ending === DOCX || said === DOCX) return DOCX;
    throw unknownKind();
  }
  const mayBePdf = ending === PDF || said === PDF || (!ending && (said === "" || said === "application/octet-stream"));
  if (mayBePdf && Buffer.from(bytes.subarray(0, MAX_PDF_HEADER_OFFSET)).includes("%PDF-")) return PDF;
  // A file called .pdf or .docx that does not begin like one is damaged, or another thing.
  if (ending === PDF || ending === DOCX) throw new AppError("VALIDATION_ERROR", `The file ${name} is damaged, or not what its name says.`);
  if (bytes.subarray(0, 4096).includes(0) && !startsWith(bytes, "\u00ff\u00fe") && !startsWith(bytes, "\u00fe\u00ff")) throw unknownKind();
  // Text to the eye of a machine, and mostly marks to anybody else's.
  if (startsWith(bytes, "{\\rtf")) throw unknownKind();
  if (ending) return ending;
  if (said === "application/xhtml+xml") return "text/html";
  if (said.startsWith("text/") || said === "application/json" || said === "application/xml") return said;
  if (said === "" || said === "application/octet-stream") return "text/plain";
  throw unknownKind();
}

/** Folder of the character maps and standard fonts that PDF files name without holding them. */
const PDF_DATA = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
const PDF_OPTIONS = {
  verbosity: 0,
  cMapUrl: `${PDF_DATA}/cmaps/`,
  cMapPacked: true,
  standardFontDataUrl: `${PDF_DATA}/standard_fonts/`,
};

async function readPdf(bytes: Uint8Array): Promise<ReadDocument> {
  const { getDocumentProxy, getMeta } = await import("unpdf");
  let pdf: Awaited<ReturnType<typeof getDocumentProxy>>;
  try {
    pdf = await getDocumentProxy(new Uint8Array(bytes), PDF_OPTIONS); // a copy: it is taken over
  } catch (cause) {
    const isLocked = cause instanceof Error && cause.name === "PasswordException";
    const message = isLocked ? "The PDF is locked with a password. Save it without one." : "The PDF is damaged and cannot be read.";
    throw new AppError("VALIDATION_ERROR", message, { cause });
  }
  try {
    if (pdf.numPages > MOST_PAGES) throw new AppError("VALIDATION_ERROR", `The PDF has more than ${MOST_PAGES} pages. Split it up.`);
    const { info } = await getMeta(pdf);
    const sections: Section[] = [];
    const fields = new Set<string>();
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const words = linesOf(items.filter((item) => "str" in item));
      // cast: pdfjs declares annotations as any
      const filledIn = formLines((await page.getAnnotations()) as FormField[], fields);
      sections.push({ place: `Page ${number}`, text: [words, ...filledIn].join("\n") });
      page.cleanup();
    }
    const title = typeof info.Title === "string" ? info.Title.trim() : "";
    return { title: title || undefined, sections };
  } finally {
    await pdf.destroy();
  }
}

interface PdfText {
  str: string;
  hasEOL: boolean;
  transform: number[];
  height: number;
}

/** The text of a page; where the distance between two lines is large, a new paragraph begins. */
function linesOf(items: PdfText[]): string {
  let text = "";
  let lastY: number | undefined;
  let height = 0;
  for (const { str, hasEOL, transform, height: size } of items) {
    const y = transform[5] ?? 0;
    if (str && lastY !== undefined && height > 0 && lastY - y > height * 1.9 && text.endsWith("\n")) text += "\n";
    if (str) {
      lastY = y;
      if (size > 0) height = size;
    }
    text += str;
    if (hasEOL) text += "\n";
  }
  // Words that were divided at the end of a line are whole again.
  return text.replace(/(\p{Ll})-\n(\p{Ll})/gu, "$1$2");
}

async function readDocx(bytes: Uint8Array): Promise<ReadDocument> {
  if (!unpacksWithin(bytes, MOST_UNPACKED))
    throw new AppError("VALIDATION_ERROR", "The Word file is damaged, or unpacks to more than 100 MiB.");
  const { default: mammoth } = await import("mammoth");
  let html: string;
  try {
    // Pictures would come as long texts.
    const convertImage = mammoth.images.imgElement(async () => ({ src: "" }));
    ({ value: html } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage, externalFileAccess: false }));
  } catch (cause) {
    throw new AppError("VALIDATION_ERROR", "The Word file is damaged and cannot be read.", { cause });
  }
  const { markdown } = await htmlToMarkdown(html);
  return { title: undefined, sections: markdownSections(markdown) };
}

async function sectionsOf(bytes: Uint8Array, mediaType: string, options: ReadOptions): Promise<ReadDocument> {
  if (mediaType === PDF) return readPdf(bytes);
  if (mediaType === DOCX) return readDocx(bytes);
  const { declared = "", charset: chosen } = options;
  const namesItself = mediaType === "text/html" || mediaType.endsWith("/xml");
  const { text, charset } = chosen
    ? decodeBy(bytes, chosen)
    : await decodeText(bytes, charsetOf(declared) ?? (namesItself ? ownCharset(bytes) : undefined));

  if (mediaType === "text/html") {
    const { title, markdown } = await htmlToMarkdown(text, {
      isWebPage: options.url !== undefined,
      ...(options.url && { url: options.url }),
    });
    return { title, charset, sections: markdownSections(markdown) };
  }
  if (mediaType === "text/markdown") {
    const { title, body } = splitFrontMatter(text);
    const sections = markdownSections(body);
    return { title: title ?? firstHeading(sections), charset, sections };
  }
  return { title: undefined, charset, sections: [{ place: "", text }] };
}

export interface ReadOptions {
  /** Where it was fetched. */
  url?: string;
  /** The Content-Type that came with it, for the encoding. */
  declared?: string;
  /** Charset to decode by, whatever the document declares. */
  charset?: string;
}

/**
 * Reads the text out of a document: sections in reading order, each with its place for citations.
 * @param mediaType as `mediaTypeOf` gave it
 * @throws AppError VALIDATION_ERROR that says what is wrong with the document
 */
export async function readDocument(bytes: Uint8Array, mediaType: string, options: ReadOptions = {}): Promise<ReadDocument> {
  const { title, charset, sections } = await sectionsOf(bytes, mediaType, options);
  const kept: Section[] = [];
  let length = 0;
  for (const { place, text } of sections) {
    const clean = cleanText(text).replace(/\r\n?/g, "\n").trim();
    if (!clean) continue;
    length += clean.length;
    if (length > MOST_TEXT)
      throw new AppError(
        "VALIDATION_ERROR",
        `The document holds more than ${MOST_TEXT / 1_000_000} million characters of text. Split it up.`,
      );
    kept.push({ place: cleanText(place), text: clean });
  }
  if (!kept.length) {
    const advice = mediaType === PDF ? " It may hold scanned pictures: run text recognition (OCR) over it first." : "";
    throw new AppError("VALIDATION_ERROR", `The document holds no text.${advice}`);
  }
  return { title: title && cleanText(title).slice(0, 300), ...(charset && { charset }), sections: kept };
}
