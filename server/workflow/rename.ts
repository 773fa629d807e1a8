import { CREDENTIALS, type IsName, isNameOf, parseTemplate, type Reference, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, isReadable } from "#server/workflow/graph.ts";
import { withTexts } from "#server/workflow/node-texts.ts";
import { unescaped } from "#server/workflow/python-string.ts";

// Texts that read nodes by name, carried along when names change: {{expressions}}, and node_outputs in Python conditions.
// Pure and browser-safe: renaming, pasting, and the look at what a changed graph makes stale ask the same functions.

/** Which node a name stands for, as a run finds it (server/runs/executor/run-scope.ts), and each node's own name. */
export interface Names {
  /** The node that `{{name.…}}` reads: by its label, else by the label's slug. */
  read(name: string): string | undefined;
  /** The node that `node_outputs["name"]` reads: by its label alone. */
  exact(name: string): string | undefined;
  of(id: string): string | undefined;
  /** Tells names with dots in them; left out where there is none. */
  isName: IsName | undefined;
}

/** Names that mean something else than a node, however nodes are called. */
export const RESERVED_NAMES: readonly string[] = ["trigger", "execution", CREDENTIALS];

/** The names of nodes, by label; of several with the same slug the first answers to it. */
export function namesFrom(labels: Iterable<readonly [id: string, label: string]>): Names {
  const byId = new Map<string, string>();
  const exact = new Map<string, string>();
  const slugs = new Map<string, string>();
  for (const [id, label] of labels) {
    byId.set(id, label);
    if (!exact.has(label)) exact.set(label, id);
    const slug = slugOf(label);
    if (slug !== "" && !slugs.has(slug)) slugs.set(slug, id);
  }
  return {
    read: (name) => (RESERVED_NAMES.includes(name) ? undefined : (exact.get(name) ?? slugs.get(slugOf(name)))),
    exact: (name) => exact.get(name),
    of: (id) => byId.get(id),
    isName: isNameOf([...exact.keys()]),
  };
}

/** What a name is to be written as, or undefined when it may stay: it does not name a node, or still names the same. */
type Rewrite = (name: string) => string | undefined;

/** True for what may begin with the dotted name of an agent, which is not known here: no node has such a field. */
const isForeign = ({ path, fault }: Reference): boolean => !fault && path.length > 1 && !isReadable(String(path[0]));

/** `{{old.…}}` → `{{new.…}}`. */
function inTemplate(text: string, isName: IsName | undefined, rewrite: Rewrite): string {
  if (!text.includes("{{")) return text;
  return parseTemplate(text, isName)
    .map((part) => {
      if ("text" in part) return part.text;
      const { source, head, pathAt } = part.reference;
      const name = pathAt === source.length || isForeign(part.reference) ? undefined : rewrite(head);
      return name === undefined ? source : `{{${name}${source.slice(pathAt)}`;
    })
    .join("");
}

const TOKEN =
  /#[^\n]*|(?<prefix>[rRbBuUfF]{0,2})(?<quote>"""|'''|"|')(?<inner>(?:\\[\s\S]|(?!\k<quote>)[^\\])*)\k<quote>|[^\W\d]\w*|\s+|[\s\S]/gu;

interface Token {
  text: string;
  /** Of a text in quotes: the letters before them, one of the quotes, and what stands between them. */
  string?: { prefix: string; quote: string; inner: string };
}

function tokensOf(python: string): Token[] {
  return [...python.matchAll(TOKEN)].map(({ 0: text, groups = {} }) => {
    const { prefix = "", quote, inner = "" } = groups;
    return { text, ...(quote !== undefined && { string: { prefix: prefix.toLowerCase(), quote, inner } }) };
  });
}

/** The text that a literal stands for; undefined for one that is put together, or of bytes. */
function textIn({ string }: Token): string | undefined {
  if (!string || /[fb]/.test(string.prefix)) return undefined;
  return string.prefix.includes("r") ? string.inner : unescaped(string.inner);
}

const literal = (text: string, quote: string): string => {
  const mark = quote.charAt(0);
  return mark + text.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`).replaceAll("\n", "\\n") + mark;
};

/** The expressions within an f-string, each handed to `change`; the words between them stay. */
function inFormatted(inner: string, change: (python: string) => string): string {
  return inner.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (whole, python: string | undefined) =>
    python === undefined ? whole : `{${change(python)}}`,
  );
}

/** What may stand before a text that is looked for in node_outputs, so that the text alone is looked for. */
const BEFORE_KEY: readonly (string | undefined)[] = [undefined, "(", "[", "{", ",", ":", "and", "or", "not", "if", "else"];

/** The texts that are keys of node_outputs. */
function keysRead(tokens: readonly Token[]): Set<Token> {
  const reads = new Set<Token>();
  const word = (index: number) => tokens[index]?.text;
  const take = (index: number) => {
    const token = tokens[index];
    if (token?.string) reads.add(token);
  };
  for (const [at, { text }] of tokens.entries()) {
    if (text !== "node_outputs" || word(at - 1) === ".") continue;
    if (word(at + 1) === "[" && word(at + 3) === "]") take(at + 2);
    if (word(at + 1) === "." && word(at + 2) === "get" && word(at + 3) === "(" && [",", ")"].includes(word(at + 5) ?? "")) take(at + 4);
    // "Old" in node_outputs["X"] looks into a text.
    const isWhole = word(at + 1) !== "[" && (word(at + 1) !== "." || word(at + 2) === "keys");
    const key = word(at - 2) === "not" ? at - 3 : at - 2;
    if (isWhole && word(at - 1) === "in" && BEFORE_KEY.includes(word(key - 1))) take(key);
  }
  return reads;
}

/** `node_outputs["old"]`, `node_outputs.get("old")` and `"old" in node_outputs`; any other text of the condition stays. */
function inCondition(condition: string, rewrite: Rewrite): string {
  if (!condition.includes("node_outputs")) return condition;
  const tokens = tokensOf(condition);
  const reads = keysRead(tokens.filter(({ text }) => !/^(?:\s+|#.*)$/s.test(text)));
  return tokens
    .map((token) => {
      const { string, text } = token;
      if (string?.prefix.includes("f")) {
        const { prefix, quote, inner } = string;
        return text.slice(0, prefix.length + quote.length) + inFormatted(inner, (python) => inCondition(python, rewrite)) + quote;
      }
      const value = reads.has(token) ? textIn(token) : undefined;
      const name = value === undefined ? undefined : rewrite(value);
      return string && name !== undefined ? literal(name, string.quote) : text;
    })
    .join("");
}

/**
 * A node's data with every name in it written so that it names the same node as before: in expressions, in conditions, and in
 * what a note quotes of them. The same object when nothing had to change. What only looks like a name is left alone.
 */
export function withNames<Data extends Readonly<Record<string, unknown>>>(type: string, data: Data, before: Names, after: Names): Data {
  const definition = definitionOf(type);
  if (!definition) return data;
  const by =
    (find: "read" | "exact"): Rewrite =>
    (name) => {
      const id = before[find](name);
      const now = id === undefined ? undefined : after.of(id);
      if (id === undefined || now === undefined || now === name) return undefined;
      // A slug that still leads there stays as it was written.
      return after[find](name) === id && before.of(id) !== name ? undefined : now;
    };
  const inText = (text: string) => inTemplate(text, before.isName, by("read"));
  const read = withTexts(definition, withTexts(definition, data, "template", inText), "markdown", inText);
  return withTexts(definition, read, "python", (text) => inCondition(text, by("exact")));
}
