// What the fields of Python need to know about it: colours, what can be put in, and how lines are indented. The server judges it.

export type TokenKind = "text" | "string" | "comment" | "keyword" | "number" | "known";

export interface PythonToken {
  kind: TokenKind;
  text: string;
}

const KEYWORDS = new Set(
  "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield".split(
    " ",
  ),
);
/** Names at hand in every condition (specification, branchNode; contract, section 4). */
const MODULES = ["re", "json", "math"];
const CONDITION_NAMES = ["output", "trigger_output", "node_outputs", ...MODULES];
/** Modules at hand in every code (contract, section 6). */
export const CODE_MODULES = [...MODULES, "datetime"];

const TOKEN =
  /(?<comment>#[^\n]*)|(?<string>[rbfRBF]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?))|(?<number>\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>[^\W\d]\w*)/gu;

/**
 * The text in coloured pieces; together they are the text.
 * @param known names that it has without making them
 */
export function pythonTokens(text: string, known: readonly string[] = CONDITION_NAMES): PythonToken[] {
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
            : word && !isAttribute && known.includes(word)
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
  const key = /\bnode_outputs\s*\[(?:\s*["'])?([^"'[\]\n]*)$/.exec(before);
  if (key) return { start: key.index, query: key[1]?.trimStart() ?? "" };
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

/** Coloured pieces by line, without the line breaks. */
export function tokenLines(tokens: readonly PythonToken[]): PythonToken[][] {
  const lines: PythonToken[][] = [[]];
  for (const { kind, text } of tokens)
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ kind, text: part });
    }
  return lines;
}

const STEP = "    ";

/** How far the line below a text is indented: as its last line, and one step more after a colon. */
export function indentBelow(text: string): string {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  return line.trimEnd().endsWith(":") || /:\s*#/.test(line) ? indent + STEP : indent;
}

export interface TextEdit {
  /** What takes the place of the text from `start` to `end`. */
  text: string;
  start: number;
  end: number;
  /** What is selected after it. */
  selection: [start: number, end: number];
}

/** What Tab does at a selection: a caret moves on by a step, lines are indented; outwards, their indent is taken back. Null for nothing. */
export function indented(text: string, start: number, end: number, isOutwards: boolean): TextEdit | null {
  if (!isOutwards && start === end) return { text: STEP, start, end, selection: [start + STEP.length, start + STEP.length] };
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const stop = text.indexOf("\n", Math.max(from, end - 1));
  const to = stop === -1 ? text.length : stop;
  const lines = text.slice(from, to).split("\n");
  const moved = lines.map((line) => (isOutwards ? line.replace(/^(?: {1,4}|\t)/, "") : line === "" ? line : STEP + line));
  const whole = moved.join("\n");
  if (whole === text.slice(from, to)) return null;
  const atFirst = (moved[0]?.length ?? 0) - (lines[0]?.length ?? 0);
  const selection: TextEdit["selection"] = [Math.max(from, start + atFirst), Math.max(from, end + whole.length - (to - from))];
  return { text: whole, start: from, end: to, selection };
}
