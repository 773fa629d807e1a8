import type { SentencePart } from "#components/workflow-editor/nodes/types.ts";
import { parseTemplate } from "#server/workflow/expressions.ts";

const MAX_CHARACTERS = 90;

/** Text without the signs of Markdown that mean nothing on a card: of headings, bold words, code and links. */
const plain = (text: string): string =>
  text
    .replace(/^[ \t]*#{1,6}[ \t]+/gm, "")
    .replace(/\[([^[\]\n]+)\]\([^()\n]*\)/g, "$1")
    .replace(/(?<!\w)\*\*(?!\s)|(?<!\s)\*\*(?!\w)/g, "")
    .replace(/`+/g, "");

/** `Write about {{trigger.topic}}` as words and chips, cut to what a card holds. */
export function templateChips(template: string): SentencePart[] {
  const parts: SentencePart[] = [];
  let left = MAX_CHARACTERS;
  for (const part of parseTemplate(template.trim())) {
    if (left <= 0) {
      parts.push("…");
      break;
    }
    if ("reference" in part) {
      const name = part.reference.source.slice(2, -2).trim();
      parts.push({ chip: name, tone: "expression" });
      left -= name.length;
    } else {
      const text = plain(part.text).replace(/\s+/g, " ");
      parts.push(text.length > left ? `${text.slice(0, left)}…` : text);
      left -= text.length;
    }
  }
  return parts;
}

/** What is wrong with the expression in a chip: the sentence about the node that begins with it, as those of a field do. */
export const chipProblem = (name: string, sentences: readonly string[]): string | undefined =>
  sentences.find((sentence) => {
    const inner = sentence.startsWith("{{") ? sentence.slice(2).trimStart() : "";
    return inner.startsWith(name) && inner.slice(name.length).trimStart().startsWith("}}");
  });
