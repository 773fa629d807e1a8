// Texts in our mails that somebody else wrote. Who sends the mail is us, so they must not pass for our words, nor lead anywhere.

/** Control and format characters (those that turn the direction of text, too), but line breaks and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** What mail programs make links of: `://` after any scheme, and a dot of any alphabet before a name. */
const LEADING = /(?<=\S)(:\/\/|[.\u3002\uFF0E\uFF61](?=[\p{L}\p{N}]*\p{L}))/gu;

/** Text that no mail program makes a link of: a space parts what would be an address. It reads as before. */
export const unlinked = (text: string): string => text.replace(UNSEEN, "").replace(LEADING, "$1 ");

const LONGEST_NAME = 80;

/** A name in quotes, on one line, of at most 80 characters. */
export function quotedName(name: string): string {
  const plain = unlinked(name)
    .replace(/\s+/g, " ")
    .replace(/["“”„«»]/g, "'")
    .trim();
  const characters = [...plain];
  return `“${characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join("")}…` : plain}”`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text of at most `max` characters; one that was cut ends in …. */
export const shorten = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text);

/** Text as HTML that shows exactly it. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

/** A paragraph that keeps its line breaks. @param text is escaped here */
export const paragraph = (text: string): string => `<p style="margin:0 0 16px;white-space:pre-line">${escapeHtml(text)}</p>`;

/** Text set apart, with its line breaks. @param text is escaped here */
export const quote = (text: string): string =>
  `<div style="margin:0 0 16px;padding:12px 14px;background:#f4f2ee;border-radius:6px;white-space:pre-wrap;word-break:break-word">${escapeHtml(text)}</div>`;

/** A link that looks like a button. */
export const button = (label: string, url: string): string =>
  `<p style="margin:0 0 16px"><a href="${escapeHtml(url)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1f1d1a;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(label)}</a></p>`;

/** The frame of every mail, drawn with what mail programs understand. @param parts are HTML already */
export const page = (title: string, parts: string[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>` +
  `<body style="margin:0;padding:24px;background:#ffffff;color:#1f1d1a;font:15px/1.5 system-ui,sans-serif"><div style="max-width:560px;margin:0 auto">` +
  `<h1 style="margin:0 0 16px;font-size:19px;line-height:1.3">${escapeHtml(title)}</h1>${parts.join("")}</div></body></html>`;

/** A moment as mails write it, since they do not know the reader's zone: `2026-11-21 14:02 UTC`. */
export const utc = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
