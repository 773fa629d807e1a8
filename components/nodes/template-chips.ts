import type { SentencePart } from "#components/nodes/types.ts";
import { parseTemplate } from "#server/engine/expressions.ts";

const MOST_CHARACTERS = 90;

/** `Write about {{trigger.topic}}` as words and chips, cut to what a card holds. */
export function templateChips(template: string): SentencePart[] {
  const parts: SentencePart[] = [];
  let left = MOST_CHARACTERS;
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
      const text = part.text.replace(/\s+/g, " ");
      parts.push(text.length > left ? `${text.slice(0, left)}…` : text);
      left -= text.length;
    }
  }
  return parts;
}
