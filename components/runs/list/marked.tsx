import { searchWords } from "#server/shared/search-text.ts";

/** How much of a text stands before the first word that was found, in characters. */
const BEFORE = 40;
/** Of a longer text no more is looked at: lists show the beginning. */
const MOST = 2000;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Finds beginnings of words; of a script without blanks anywhere. */
export function finderOf(q: string): RegExp | null {
  const words = searchWords(q, 12);
  return words.length
    ? new RegExp(
        `(?<![\\p{L}\\p{N}])(?:${words.map(escaped).join("|")})|${words.filter(isUnspaced).map(escaped).join("|") || "(?!)"}`,
        "giu",
      )
    : null;
}
const isUnspaced = (word: string) =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(word);

/** The first of these texts in which something was found, from a little before that on. */
export function excerptOf(texts: readonly (string | null)[], finder: RegExp): string | null {
  for (const text of texts) {
    const at = text?.slice(0, MOST).search(finder) ?? -1;
    if (text && at >= 0) return at > BEFORE ? `…${text.slice(at - BEFORE, MOST)}` : text.slice(0, MOST);
  }
  return null;
}

/** A text with what was looked for marked. */
export function Marked({ text, finder }: { text: string; finder: RegExp | null }) {
  if (!finder) return text;
  const parts: React.ReactNode[] = [];
  let end = 0;
  for (const match of text.slice(0, MOST).matchAll(finder)) {
    parts.push(
      text.slice(end, match.index),
      <mark key={match.index} className="rounded-xs bg-waiting-soft text-ink">
        {match[0]}
      </mark>,
    );
    end = match.index + match[0].length;
  }
  return parts.length ? [...parts, text.slice(end)] : text;
}
