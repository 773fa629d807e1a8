import {
  type IsName,
  isNameOf,
  parseTemplate,
  RESERVED_NAMES,
  type Reference,
  referencesOf,
  slugOf,
  writtenOf,
} from "#server/workflow/expressions.ts";
import { definitionOf, isReadable, namesOf, quoted } from "#server/workflow/graph.ts";
import { textsOf, withTexts } from "#server/workflow/node-texts.ts";
import { unescaped } from "#server/workflow/python-string.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

// Texts that read nodes by name, carried along when names change: {{expressions}}, and node_outputs in Python conditions.
// Pure and browser-safe: renaming, pasting, and the look at what a changed graph makes stale ask the same functions.

/** Which node a name stands for, as a run finds it (server/workflow/expression-scope.ts), and each node's own name. */
export interface Names {
  /** The node that `{{name.…}}` reads: by its label, else by the label's slug. */
  read(name: string): string | undefined;
  /** The node that `node_outputs["name"]` reads: by its label alone. */
  exact(name: string): string | undefined;
  of(id: string): string | undefined;
  /** Tells names with dots in them; left out where there is none. */
  isName: IsName | undefined;
  /** True when agents' names are among them, so that a dotted head is never the unknown name of an agent. */
  hasAgents?: boolean;
}

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
function inTemplate(text: string, { isName, hasAgents }: Names, rewrite: Rewrite): string {
  if (!text.includes("{{")) return text;
  return parseTemplate(text, isName)
    .map((part) => {
      if ("text" in part) return writtenOf(part);
      const { source, head, pathAt } = part.reference;
      const name = pathAt === source.length || (!hasAgents && isForeign(part.reference)) ? undefined : rewrite(head);
      return name === undefined ? source : `{{${name}${source.slice(pathAt)}`;
    })
    .join("");
}

/** A quote that is not closed takes the rest, so that the pattern stays linear. */
const TOKEN =
  /#[^\n]*|(?<prefix>[rRbBuUfF]{0,2})(?<quote>"""|'''|"(?!"")|'(?!''))(?<inner>(?:\\[\s\S]|(?!\k<quote>)[^\\])*)\k<quote>|["'][\s\S]*|[^\W\d]\w*|\s+|[\s\S]/gu;

export interface Token {
  text: string;
  /** Of a text in quotes: the letters before them, one of the quotes, and what stands between them. */
  string?: { prefix: string; quote: string; inner: string };
}

export function tokensOf(python: string): Token[] {
  return [...python.matchAll(TOKEN)].map(({ 0: text, groups = {} }) => {
    const { prefix = "", quote, inner = "" } = groups;
    return { text, ...(quote !== undefined && { string: { prefix: prefix.toLowerCase(), quote, inner } }) };
  });
}

/** The text that a literal stands for; undefined for one that is put together, or of bytes. */
export function textIn({ string }: Token): string | undefined {
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

/** The texts that are keys of node_outputs, and whether it is also used with keys that are not written out. */
function keysRead(tokens: readonly Token[]): { keys: Set<Token>; isComputed: boolean } {
  const keys = new Set<Token>();
  let isComputed = false;
  const word = (index: number) => tokens[index]?.text;
  for (const [at, { text }] of tokens.entries()) {
    if (text !== "node_outputs" || word(at - 1) === ".") continue;
    const found: (Token | undefined)[] = [];
    if (word(at + 1) === "[" && word(at + 3) === "]") found.push(tokens[at + 2]);
    if (word(at + 1) === "." && word(at + 2) === "get" && word(at + 3) === "(" && [",", ")"].includes(word(at + 5) ?? ""))
      found.push(tokens[at + 4]);
    // "Old" in node_outputs["X"] looks into a text.
    const isWhole = word(at + 1) !== "[" && (word(at + 1) !== "." || word(at + 2) === "keys");
    const key = word(at - 2) === "not" ? at - 3 : at - 2;
    if (isWhole && word(at - 1) === "in" && BEFORE_KEY.includes(word(key - 1))) found.push(tokens[key]);
    const literals = found.filter((token) => token !== undefined && textIn(token) !== undefined) as Token[];
    for (const token of literals) keys.add(token);
    const isNameless =
      (word(at + 1) === "." && word(at + 2) === "values") || (word(at - 2) === "len" && word(at - 1) === "(" && word(at + 1) === ")");
    isComputed ||= literals.length === 0 && !isNameless;
  }
  return { keys, isComputed };
}

const codeOf = (tokens: readonly Token[]): Token[] => tokens.filter(({ text }) => !/^(?:\s+|#.*)$/s.test(text));

/** `node_outputs["old"]`, `node_outputs.get("old")` and `"old" in node_outputs`; any other text of the condition stays. */
function inCondition(condition: string, rewrite: Rewrite): string {
  if (!condition.includes("node_outputs")) return condition;
  const tokens = tokensOf(condition);
  const { keys: reads } = keysRead(codeOf(tokens));
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
  const inText = (text: string) => inTemplate(text, before, by("read"));
  const read = withTexts(definition, withTexts(definition, data, "template", inText), "markdown", inText);
  return withTexts(definition, read, "python", (text) => inCondition(text, by("exact")));
}

/** Names of agents by id. */
export type AgentNames = Readonly<Record<string, string>>;

/** Target of an agent's name in `Names`; no node has such an id. */
const agentTarget = (agent_id: unknown): string => `agent\0${agent_id}`;

/** Names that expressions of a graph can read, with its agents under these names. */
function namesWith({ nodes, edges }: Graph, agents: AgentNames): Names {
  const named = namesOf({ nodes, edges }, { agentName: (id) => (Object.hasOwn(agents, id) ? agents[id] : undefined) });
  const entries = named.map(({ name, node, isAlias }) => [isAlias ? agentTarget(node.data.agent_id) : node.id, name] as const);
  return { ...namesFrom(entries), hasAgents: true };
}

/** A name in a text: what it stands for, if anything, and the path after it. */
interface Read {
  target: string | undefined;
  name: string;
  path: string;
}

/** A text that reads nodes by name. */
interface Reader {
  field: string;
  reads: Read[];
  /** True when its Python takes keys of node_outputs that are not written out. */
  isComputed: boolean;
}

/** True when a condition takes keys of node_outputs that are not written out in it. */
function hasComputedKeys(condition: string): boolean {
  if (!condition.includes("node_outputs")) return false;
  const tokens = tokensOf(condition);
  let isComputed = keysRead(codeOf(tokens)).isComputed;
  for (const { string } of tokens)
    if (string?.prefix.includes("f"))
      inFormatted(string.inner, (python) => {
        isComputed ||= hasComputedKeys(python);
        return python;
      });
  return isComputed;
}

/** The texts of a node that a run resolves by name. */
function readersIn({ type, data }: GraphNode, names: Names): Reader[] {
  const definition = definitionOf(type);
  const templates = textsOf(definition, data, "template").map(({ path: field, text }): Reader => {
    const references = text.includes("{{") ? referencesOf(text, names.isName) : [];
    const reads = references
      .filter(({ pathAt, source }) => pathAt < source.length)
      .map(({ source, head, pathAt }) => ({ target: names.read(head), name: head, path: source.slice(pathAt) }));
    return { field, reads, isComputed: false };
  });
  const conditions = textsOf(definition, data, "python").map(({ path: field, text }): Reader => {
    const reads: Read[] = [];
    inCondition(text, (name) => {
      reads.push({ target: names.exact(name), name, path: "" });
      return undefined;
    });
    return { field, reads, isComputed: hasComputedKeys(text) };
  });
  return [...templates, ...conditions];
}

/** Names of agents under which conditions find outputs. */
function agentKeys({ nodes }: Graph, names: Names): string {
  const targets = [...new Set(nodes.map(({ data }) => agentTarget(data.agent_id)))];
  return JSON.stringify(targets.map((target) => names.of(target)).filter((name, index) => name && names.exact(name) === targets[index]));
}

/** Expressions of a graph that a rename rewrites; looking through 20,000 takes a tenth of a second. */
const MAX_READS = 20_000;
/** Characters of Python that cost as much as an expression. */
const PYTHON_PER_READ = 50;

/** True when a graph has too many expressions to be looked through for names. */
function hasTooManyReads({ nodes }: Graph): boolean {
  let reads = 0;
  for (const { type, data } of nodes) {
    const definition = definitionOf(type);
    for (const { text } of textsOf(definition, data, "template"))
      for (let at = text.indexOf("{{"); at !== -1 && reads <= MAX_READS; at = text.indexOf("{{", at + 2)) reads += 1;
    for (const { text } of textsOf(definition, data, "python")) if (text.includes("node_outputs")) reads += text.length / PYTHON_PER_READ;
    if (reads > MAX_READS) return true;
  }
  return false;
}

/**
 * Returns the ids of nodes with a text that reads one of these names, or whose Python takes names that are not written out. Of a graph
 * with too many expressions to look through, all nodes.
 */
export function nodesReading(graph: Graph, isRead: (read: Pick<Read, "target" | "name">) => boolean): ReadonlySet<string> {
  const { nodes, agent_names = {} } = graph;
  const isTooLarge = hasTooManyReads(graph);
  const names = namesWith(graph, agent_names);
  const isReader = (node: GraphNode) => readersIn(node, names).some(({ reads, isComputed }) => isComputed || reads.some(isRead));
  return new Set(nodes.filter((node) => isTooLarge || isReader(node)).map(({ id }) => id));
}

/** A text that would read something else after a rename. */
export interface UnrenamedReader {
  node_id: string;
  field: string;
  message: string;
}

export interface AgentRename {
  /** The same object when no text had to change. */
  graph: Graph;
  /** True when a text reads a renamed agent by its name. */
  isRead: boolean;
  faults: UnrenamedReader[];
}

/**
 * Rewrites every text of a graph for agents that are called otherwise. A text that would then read something else, or whose Python
 * takes names that are not written out, is a fault.
 */
export function renameAgents(graph: Graph, before: AgentNames, after: AgentNames): AgentRename {
  const renamed = new Set(
    Object.keys(after)
      .filter((id) => before[id] !== after[id])
      .map(agentTarget),
  );
  if (renamed.size === 0) return { graph, isRead: false, faults: [] };
  if (hasTooManyReads(graph)) {
    const message = `It has more than ${MAX_READS.toLocaleString("en")} expressions, too many to rewrite.`;
    return { graph, isRead: false, faults: [{ node_id: "", field: "", message }] };
  }
  const [was, now] = [namesWith(graph, before), namesWith(graph, after)];
  const hasNewKeys = agentKeys(graph, was) !== agentKeys(graph, now);
  // The name of an agent that one node uses reads that node, as the node's label does.
  const users = Map.groupBy(graph.nodes, ({ data }) => agentTarget(data.agent_id));
  const meant = ({ target = "" }: Read): string => {
    const [node, ...others] = users.get(target) ?? [];
    return node && others.length === 0 ? node.id : target;
  };
  const isOther = (read: Read, then: Read | undefined) =>
    read.target !== undefined && (!then || meant(then) !== meant(read) || then.path !== read.path);

  const faults: UnrenamedReader[] = [];
  let isRead = false;
  const nodes = graph.nodes.map((node) => {
    const data = withNames(node.type, node.data, was, now);
    const rewritten = data === node.data ? node : { ...node, data };
    const results = new Map(readersIn(rewritten, now).map((reader) => [reader.field, reader.reads]));
    const isOfAgent = ({ target }: Read) => target !== undefined && renamed.has(target);
    isRead ||= [...results.values()].some((reads) => reads.some(isOfAgent));
    for (const { field, reads, isComputed } of readersIn(node, was)) {
      const then = results.get(field) ?? [];
      isRead ||= reads.some(isOfAgent);
      const fault = (why: string) => faults.push({ node_id: node.id, field, message: `${quoted(node, node.id)}, ${field}: ${why}` });
      if (isComputed && hasNewKeys) fault("its Python takes names from node_outputs that are not written out.");
      else if (then.length !== reads.length || reads.some((read, index) => isOther(read, then[index])))
        fault("the new name would read something else there.");
    }
    return rewritten;
  });
  const isSame = nodes.every((node, index) => node === graph.nodes[index]);
  return { graph: isSame ? graph : { ...graph, nodes }, isRead, faults };
}

/** An agent with the names that it had before. */
export interface FormerlyNamed {
  id: string;
  name: string;
  former_names: readonly string[];
}

/**
 * Rewrites texts that read an agent by a former name, as long as nothing in the graph has that name now. A client that read the
 * graph before a rename can thus save it afterwards.
 */
export function withoutFormerNames(graph: Graph, agents: readonly FormerlyNamed[]): Graph {
  if (agents.every(({ former_names }) => former_names.length === 0) || hasTooManyReads(graph)) return graph;
  const current = Object.fromEntries(agents.map(({ id, name }) => [id, name]));
  const names = namesWith(graph, current);
  const unresolved = graph.nodes
    .flatMap((node) => readersIn(node, names).flatMap(({ reads }) => reads))
    .filter(({ target, name }) => target === undefined && !RESERVED_NAMES.includes(name));
  if (unresolved.length === 0) return graph;
  const slugs = new Set(unresolved.map(({ name }) => slugOf(name)));
  const starts = [...new Set(unresolved.map(({ name, path }) => name + path))];
  const owners = Map.groupBy(
    agents.flatMap(({ id, former_names }) => former_names.map((name) => ({ id, name }))),
    ({ name }) => name,
  );
  let result = graph;
  for (const [name, [owner, ...others]] of owners) {
    const isRead = slugs.has(slugOf(name)) || starts.some((start) => start.startsWith(name));
    if (owner && others.length === 0 && isRead) result = renameAgents(result, { ...current, [owner.id]: name }, current).graph;
  }
  return result;
}
