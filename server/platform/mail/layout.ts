import { visibleName, visibleText } from "#server/shared/visible-text.ts";

// Texts in our mails that somebody else wrote. Who sends the mail is us, so they must not pass for our words, nor lead anywhere.

/** Control and format characters that have no escape, except line breaks, tabs and joiners. */
const UNSEEN = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** What mail programs make links of: `://` after any scheme, and a dot of any alphabet before a name. */
const LEADING = /(?<=\S)(:\/\/|[.\u3002\uFF0E\uFF61](?=[\p{L}\p{N}\u200C\u200D]*\p{L}))/gu;

/** Schemes that lead somewhere without `//`, and the beginning of a share of Windows. */
const SCHEME = /\b(?:javascript|vbscript|data|mailto|tel|sms|callto|skype|facetime|file|blob|intent):(?=\S)|\\\\(?=\w)/giu;

/** Text that no mail program makes a link of: a space parts what would be an address. Hidden characters are shown as escapes. */
export const unlinked = (text: string): string => visibleText(text).replace(UNSEEN, "").replace(LEADING, "$1 ").replace(SCHEME, "$& ");

const QUOTED_WIDTH = 72;
/** Characters at which a mail program may break a line. */
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;

/** Lines of at most 72 characters, broken at spaces where there are any. */
function wrapped(line: string): string[] {
  const lines: string[] = [];
  let rest = [...line];
  while (rest.length > QUOTED_WIDTH) {
    const space = rest.lastIndexOf(" ", QUOTED_WIDTH);
    const end = space > 0 ? space : QUOTED_WIDTH;
    lines.push(rest.slice(0, end).join(""));
    rest = rest.slice(space > 0 ? end + 1 : end);
  }
  return [...lines, rest.join("")];
}

/**
 * Text of others in a plain mail: `> ` stands before each of its lines, so that nothing in it passes for ours. Long lines are broken,
 * since a mail program that breaks them puts nothing before the rest.
 */
export const quotedLines = (text: string): string =>
  unlinked(text)
    .split(LINE_BREAK)
    .flatMap(wrapped)
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");

const LONGEST_NAME = 80;

/** A name in quotes, on one line, of at most 80 characters. */
export function quotedName(name: string): string {
  const plain = unlinked(visibleName(name))
    .replace(/\s+/g, " ")
    .replace(/["“”„«»]/g, "'")
    .trim();
  const characters = [...plain];
  return `“${characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join("")}…` : plain}”`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as HTML that shows exactly it. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

/** A paragraph that keeps its line breaks. @param text is escaped here */
export const paragraph = (text: string): string => `<p style="margin:0 0 16px;white-space:pre-line">${escapeHtml(text)}</p>`;

/** Text set apart, with its line breaks. @param text is escaped here */
export const quote = (text: string): string =>
  `<div style="margin:0 0 16px;padding:12px 14px;background:#f4f2ee;border-radius:6px;white-space:pre-wrap;word-break:break-word">${escapeHtml(text)}</div>`;

/** HTML set apart from the words of this service. @param html with all texts escaped */
export const framed = (html: string): string =>
  `<div style="margin:0 0 16px;padding:12px 14px 4px;background:#f4f2ee;border-radius:6px;word-break:break-word">${html}</div>`;

/** A link that looks like a button. */
export const button = (label: string, url: string): string =>
  `<p style="margin:0 0 16px"><a href="${escapeHtml(url)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1f1d1a;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(label)}</a></p>`;

/** Footer of an email of a project: the reason it was sent, and the link to change that. */
export interface MailFooter {
  words: string;
  label: string;
  url: string;
}

/** A footer as plain text. */
export const footerText = ({ words, label, url }: MailFooter): string => `${words} ${label}:\n${url}`;

/** A footer as HTML. */
export const footerHtml = ({ words, label, url }: MailFooter): string =>
  `<p style="margin:24px 0 0;color:#6b665e;font-size:13px">${escapeHtml(words)} <a href="${escapeHtml(url)}" style="color:#6b665e">${escapeHtml(label)}</a></p>`;

/** The frame of every mail, drawn with what mail programs understand. @param parts are HTML already */
export const page = (title: string, parts: string[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>` +
  `<body style="margin:0;padding:24px;background:#ffffff;color:#1f1d1a;font:15px/1.5 system-ui,sans-serif"><div style="max-width:560px;margin:0 auto">` +
  `<h1 style="margin:0 0 16px;font-size:19px;line-height:1.3">${escapeHtml(title)}</h1>${parts.join("")}</div></body></html>`;

/** A moment as mails write it, since they do not know the reader's zone: `2026-11-21 14:02 UTC`. */
export const utc = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
