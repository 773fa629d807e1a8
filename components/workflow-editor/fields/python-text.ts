// What the field of a Python condition needs to know about Python: colours, and what can be put in. The server judges it.

export type TokenKind = "text" | "string" | "comment" | "keyword" | "number" | "known";

export interface PythonToken {
  kind: TokenKind;
  text: string;
}

const KEYWORDS = new Set("and or not in is if else for lambda True False None async await".split(" "));
/** Names at hand in every condition (specification, branchNode; contract, section 4). */
const MODULES = ["re", "json", "math"];
const KNOWN_NAMES = ["output", "trigger_output", "node_outputs", ...MODULES];

const TOKEN =
  /(?<comment>#[^\n]*)|(?<string>[rbfRBF]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?))|(?<number>\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>[^\W\d]\w*)/gu;

/** The text in coloured pieces; together they are the text. */
export function pythonTokens(text: string): PythonToken[] {
  const tokens: PythonToken[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) tokens.push({ kind: "text", text: text.slice(end, match.index) });
    const { comment, string, number, word } = match.groups ?? {};
    // What follows a dot is an attribute, whatever it is called.
    const isAttribute = text[match.index - 1] === ".";
    const kind: TokenKind = comment
      ? "comment"
      : string
        ? "string"
        : number
          ? "number"
          : word && !isAttribute && KEYWORDS.has(word)
            ? "keyword"
            : word && !isAttribute && KNOWN_NAMES.includes(word)
              ? "known"
              : "text";
    tokens.push({ kind, text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < text.length) tokens.push({ kind: "text", text: text.slice(end) });
  return tokens;
}

/** The beginning of a name before the caret: where it starts, and what has been typed of it. */
export function unfinishedName(text: string, caret: number): { start: number; query: string } | null {
  const before = text.slice(0, caret);
  const key = /\bnode_outputs\s*\[\s*["']?([^"'\]\n]*)$/.exec(before);
  if (key) return { start: key.index, query: key[1] ?? "" };
  const word = /(?<![\w."'])([A-Za-z_]\w+)$/.exec(before);
  // What is a whole word of Python already is no beginning of a name: Enter after it begins a line.
  if (word && (KEYWORDS.has(word[0]) || MODULES.includes(word[0]))) return null;
  return word ? { start: word.index, query: word[1] ?? "" } : null;
}

/** The text with `code` put where the beginning of a name stood; what closes it already is used. */
export function insertCode(text: string, start: number, caret: number, code: string): { text: string; caret: number } {
  const rest = code.endsWith("]") ? text.slice(caret).replace(/^["']?\]/, "") : text.slice(caret);
  return { text: text.slice(0, start) + code + rest, caret: start + code.length };
}
