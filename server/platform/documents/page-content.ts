import { cleanText } from "#server/platform/clean-text.ts";
import { pageToMarkdown } from "#server/platform/documents/page-to-markdown.ts";
import { mediaTypeOf, readDocument } from "#server/platform/documents/read-document.ts";
import { AppError } from "#server/platform/errors.ts";

/** Longest file that is read, in bytes. */
export const MOST_BYTES = 15 * 1024 * 1024;
/** Longest page that is taken apart, in bytes: its tree costs many times as much. */
const MOST_HTML = 2 * 1024 * 1024;

/** What was fetched, as it travels to the process that reads it. */
export interface Content {
  url: string;
  bytes: Uint8Array;
  contentType: string;
  /** Whether it goes on where `bytes` end. */
  isCut: boolean;
}

export interface ContentText {
  title: string;
  markdown: string;
}

/** The last part of the path, as people read it. */
function nameOf({ pathname }: URL): string {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/**
 * The text of what was fetched.
 * @throws AppError VALIDATION_ERROR that says what is wrong with the file
 */
export async function contentOf({ url: address, bytes, contentType, isCut }: Content): Promise<ContentText> {
  const url = new URL(address);
  const name = nameOf(url);
  const said = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  const isPage =
    said === "text/html" ||
    said === "application/xhtml+xml" ||
    (said === "" && /^\s*</.test(Buffer.from(bytes.subarray(0, 100)).toString("latin1")));
  if (isPage) return pageToMarkdown(bytes.subarray(0, MOST_HTML), url, contentType);
  // The declared type decides: an address such as /report.php has an ending that says nothing.
  const mediaType = mediaTypeOf(bytes, /^(text\/|application\/(json|xml|pdf))/.test(said) ? "" : name, contentType);
  if (isCut && !mediaType.startsWith("text/"))
    throw new AppError("VALIDATION_ERROR", `The file is larger than ${MOST_BYTES / 1024 / 1024} MiB.`);
  const { title, sections } = await readDocument(bytes, mediaType, { declared: contentType });
  const isPaged = mediaType === "application/pdf";
  const markdown = sections.map(({ place, text }) => (isPaged ? `## ${place}\n\n${text}` : text)).join("\n\n");
  return { title: title ?? (cleanText(name) || url.href), markdown };
}
