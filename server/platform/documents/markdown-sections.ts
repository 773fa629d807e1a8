import type { Section } from "#server/platform/documents/chunk-text.ts";

const SEPARATOR = " › ";
const MOST_PLACE = 300;

const plain = (heading: string) =>
  heading
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[*_`]{1,3}/g, "")
    .trimEnd()
    .replace(/(?<!\s)\s+#+$/, "")
    .trim();

const HTML_BLOCKS = [
  { start: /^ {0,3}<!--/, end: /-->/ },
  { start: /^ {0,3}<(?:pre|script|style|textarea)(?:[\s>]|$)/i, end: /<\/(?:pre|script|style|textarea)>/i },
];

/**
 * Returns the pattern of the line that ends a block of literal text which this line opens: a code fence, or HTML whose content is not
 * Markdown (CommonMark 0.31.2, sections 4.5 and 4.6).
 */
function literalEnd(line: string): RegExp | undefined {
  const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
  if (fence) return new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`);

  const html = HTML_BLOCKS.find(({ start }) => start.test(line));
  return html && !html.end.test(line) ? html.end : undefined;
}

/** Returns the sections of a Markdown text: the text under each heading, with the path of headings as its place. */
export function markdownSections(markdown: string): Section[] {
  const sections: { place: string; heading: string; lines: string[] }[] = [{ place: "", heading: "", lines: [] }];
  const path: { level: number; heading: string }[] = [];
  let end: RegExp | undefined;
  let isAfterLiteral = false;
  const open = (level: number, heading: string) => {
    while (path.length && (path.at(-1)?.level ?? 0) >= level) path.pop();
    if (heading) path.push({ level, heading });
    const place = path
      .map((step) => step.heading)
      .join(SEPARATOR)
      .slice(0, MOST_PLACE);
    sections.push({ place, heading, lines: [] });
  };
  for (const line of markdown.split(/\r\n?|\n/)) {
    const lines = sections.at(-1)?.lines ?? [];
    const opened = end === undefined ? literalEnd(line) : undefined;
    if (end !== undefined || opened) {
      lines.push(line);
      end = end?.test(line) ? undefined : (end ?? opened);
      isAfterLiteral = true;
      continue;
    }

    const atx = /^ {0,3}(#{1,6})(?:[ \t]+(?![ \t])(.*))?$/.exec(line);
    const under = isAfterLiteral ? null : /^ {0,3}(=+|-{2,})[ \t]*$/.exec(line);
    const before = lines.at(-1) ?? "";
    isAfterLiteral = false;
    if (atx) open(atx[1]?.length ?? 1, plain(atx[2] ?? ""));
    else if (under && before.trim() !== "" && !/^[ \t]*([-*+>|]|\d+\.)/.test(before) && (lines.at(-2) ?? "").trim() === "") {
      lines.pop();
      open(under[1]?.startsWith("=") ? 1 : 2, plain(before));
    } else lines.push(line);
  }
  return sections.flatMap(({ place, heading, lines }, index) => {
    const text = lines.join("\n").trim();
    if (text) return [{ place, text }];
    // A heading without text of its own is kept where nothing below repeats it.
    const isRepeated = sections[index + 1]?.place.startsWith(`${place}${SEPARATOR}`) ?? false;
    return heading && !isRepeated ? [{ place, text: heading }] : [];
  });
}

/** The first heading of the highest rank, for a document that has no other title. */
export const firstHeading = (sections: readonly Section[]): string | undefined =>
  sections.find(({ place }) => place)?.place.split(SEPARATOR)[0];
