import { parse } from "yaml";

/** Longest block that is parsed, in characters. */
const MAX_FRONT_MATTER = 16 * 1024;

function mappingOf(yaml: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parse(yaml, { logLevel: "error" });
    // cast: any other object is a list
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Splits a Markdown text into its front matter and its body. A block between two lines `---` at the beginning is front matter only
 * when it is a YAML mapping; else it is text between two rules.
 */
export function splitFrontMatter(markdown: string): { title: string | undefined; body: string } {
  const block = /^---[ \t]*\r?\n([\s\S]*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/.exec(markdown.slice(0, MAX_FRONT_MATTER));
  const mapping = block && mappingOf(block[1] ?? "");
  if (!block || !mapping) return { title: undefined, body: markdown };

  const { title } = mapping;
  const named = typeof title === "string" || typeof title === "number" ? String(title).trim() : "";
  return { title: named || undefined, body: markdown.slice(block[0].length) };
}
