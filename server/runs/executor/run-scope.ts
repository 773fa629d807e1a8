import { type Frame, progressOf } from "#server/runs/executor/frame.ts";
import type { RunSecrets } from "#server/runs/executor/run-secrets.ts";
import type { LedgerRow, RunState } from "#server/runs/ports.ts";
import { dictionary, parseJson } from "#server/shared/json-text.ts";
import type { CompiledGraph } from "#server/workflow/compiled-graph.ts";
import { CREDENTIALS, type IsName, isNameOf, type Reference, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, namesOf } from "#server/workflow/graph.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { MAX_OUTPUT, tooLong } from "#server/workflow/output-size.ts";
import {
  asText,
  ExpressionError,
  type LongReads,
  longReadsOf,
  type ReadResult,
  type Scope,
  type ScopeEntry,
} from "#server/workflow/resolve-expressions.ts";
import { isLive } from "#server/workflow/scheduler.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";
import { triggerFields } from "#server/workflow/trigger-fields.ts";

/** Texts of this length are worth remembering as what they say, a few at a time. */
const LONG = 2000;
const MOST_READ = 8;
/** Results of long reads that are remembered, and the length below which one is. */
const MAX_AHEAD = 100;
const LONG_RESULT = 256 * 1024;
const ENDED = new Set(["complete", "failed", "skipped"]);

/** What a node left behind, as text; of a failed one whose run goes on, its error. */
export const outputOf = (row: LedgerRow): string => (row.status === "failed" ? row.error : row.output) ?? "";

/** Nodes by what they can be called, and all of them by the slug of it. */
class NameIndex {
  readonly labels = new Map<string, GraphNode[]>();
  readonly aliases = new Map<string, GraphNode[]>();
  readonly slugs = new Map<string, GraphNode[]>();
  readonly isName: IsName | undefined;

  constructor(graph: Graph, scope: NodeScope) {
    // Thousands of nodes may call the same agent, whose name is then that of all of them.
    const add = (map: Map<string, GraphNode[]>, key: string, node: GraphNode) => {
      const nodes = map.get(key);
      if (nodes) nodes.push(node);
      else map.set(key, [node]);
    };
    const names = namesOf(graph, scope);
    this.isName = isNameOf(names.map(({ name }) => name));
    for (const { name, node, isAlias } of names) {
      add(isAlias ? this.aliases : this.labels, name, node);
      // Labels come first, so they come before aliases of the same slug.
      add(this.slugs, slugOf(name), node);
    }
  }
}

/** The names of a graph, looked up once for a whole segment, when the first is asked for. */
export class RunNames {
  #index: NameIndex | undefined;
  readonly #scope: NodeScope;
  readonly #run: RunState;
  readonly #read = new Map<string, unknown>();
  /** Results of long reads by source, with the text that each read. */
  readonly #ahead = new Map<string, { text: string; result: ReadResult }>();
  readonly #secrets: RunSecrets;
  readonly #trigger: GraphNode | undefined;
  readonly #callbackUrl: (wait_id: string) => string;

  constructor(run: RunState, scope: NodeScope, secrets: RunSecrets, callbackUrl: (wait_id: string) => string) {
    this.#run = run;
    this.#callbackUrl = callbackUrl;
    this.#scope = scope;
    this.#secrets = secrets;
    this.#trigger = run.graph.nodes.find(({ type }) => definitionOf(type)?.group === "trigger");
  }

  /** Whether a node is called so, where some name has a dot in it. */
  readonly isName: IsName = (text) => this.#named().isName?.(text) ?? false;

  #named(): NameIndex {
    this.#index ??= new NameIndex(this.#run.graph, this.#scope);
    return this.#index;
  }

  /**
   * What expressions can read in a frame at this moment: the trigger, the execution, the project's credentials (in clear),
   * the loops around, and every node that has ended (a skipped one reads as empty text). Of several nodes with one alias the latest to complete answers to it.
   */
  in(frame: Frame, readAhead?: ReadonlyMap<string, ReadResult>): Scope {
    const run = this.#run;
    const { values, fault } = this.#secrets;
    const fixed: Record<string, ScopeEntry> = {
      trigger: { name: "trigger", fields: triggerFields(this.#trigger, run) },
      execution: { name: "execution", fields: { id: run.id } },
      [CREDENTIALS]: { name: CREDENTIALS, fields: values, isFlat: true },
    };
    const find = (name: string): ScopeEntry | undefined => {
      if (fault && slugOf(name) === CREDENTIALS) throw new ExpressionError(fault);
      if (Object.hasOwn(fixed, name)) return fixed[name];
      const { labels, aliases, slugs } = this.#named();
      for (const candidates of [labels.get(name), latest(aliases.get(name), frame), slugs.get(slugOf(name))])
        for (const node of candidates ?? []) {
          const fields = this.#fieldsOf(node, frame);
          if (fields) return { name, fields, isSkipped: frame.lookup(node.id)?.status === "skipped" };
        }
      const slug = slugOf(name);
      return Object.hasOwn(fixed, slug) ? fixed[slug] : undefined;
    };
    const names = () => [
      ...Object.keys(fixed),
      ...[...this.#named().labels, ...this.#named().aliases].flatMap(([name, nodes]) =>
        nodes.some((node) => this.#fieldsOf(node, frame)) ? [name] : [],
      ),
    ];
    return { find, names, parse: (text, count) => this.#parse(text, count), isName: this.isName, readAhead };
  }

  /**
   * Has long texts read that these references read, if there are any. Items of a loop often read the same in the same text, so the
   * last results are remembered.
   * @throws as EngineServices.readLong
   */
  readAhead(
    frame: Frame,
    references: readonly Reference[],
    read: (reads: LongReads) => Promise<ReadResult[]>,
  ): Promise<ReadonlyMap<string, ReadResult>> | undefined {
    const long = longReadsOf(references, this.in(frame), (text) => this.#read.has(text));
    return long && this.#readLong(long, read);
  }

  async #readLong(long: LongReads, read: (reads: LongReads) => Promise<ReadResult[]>): Promise<ReadonlyMap<string, ReadResult>> {
    const results = new Map<string, ReadResult>();
    const reads = long.reads.filter(({ reference: { source }, text }) => {
      const known = this.#ahead.get(source);
      if (known && known.text === long.texts[text]) results.set(source, known.result);
      return !results.has(source);
    });
    // Only the texts that are still read.
    const indexes = [...new Set(reads.map(({ text }) => text))];
    const texts = indexes.map((index) => long.texts[index] ?? "");
    const sent = reads.map(({ reference, text }) => ({ reference, text: indexes.indexOf(text) }));
    const answers = sent.length ? await read({ texts, reads: sent }) : [];
    if (this.#ahead.size + sent.length > MAX_AHEAD) this.#ahead.clear();
    for (const [index, { reference, text }] of sent.entries()) {
      const result = answers[index] ?? { error: "The expression was not read." };
      results.set(reference.source, result);
      const size = "text" in result ? result.text.length : "json" in result ? result.json.length : 0;
      if (size < LONG_RESULT && sent.length <= MAX_AHEAD) this.#ahead.set(reference.source, { text: texts[text] ?? "", result });
    }
    return results;
  }

  /** What can be read of a node, or undefined when it has not ended, is no loop around the frame, and has nothing to read before its end. */
  #fieldsOf(node: GraphNode, frame: Frame): Record<string, unknown> | undefined {
    const iteration = frame.iterationOf(node.id);
    if (iteration) return { current_item: iteration.item, index: iteration.index };
    const row = frame.lookup(node.id);
    const definition = definitionOf(node.type);
    const hasEnded = row !== undefined && ENDED.has(row.status);
    const early = row?.status === "waiting" ? definition?.earlyFields : undefined;
    if (!row || !(hasEnded || early)) return undefined;
    const output = outputOf(row);
    const callbackUrl = () => this.#callbackUrl(row.id);
    const left = { output, handle: row.handle, details: row.details ?? {}, data: node.data, callbackUrl };
    const own = Object.entries(definition?.fields ?? {}).filter(([name]) => hasEnded || early?.includes(name));
    return { ...(hasEnded && { output }), ...Object.fromEntries(own.map(([name, read]) => [name, read(left)])) };
  }

  #parse(text: string, count: () => void): unknown {
    if (text.length < LONG) return parseJson(text);
    if (!this.#read.has(text)) {
      count();
      const value = parseJson(text);
      if (this.#read.size >= MOST_READ) this.#read.clear();
      this.#read.set(text, value);
    }
    return this.#read.get(text);
  }

  /** Outputs by agent's name and, of other nodes, by label: what conditions see as `node_outputs`. */
  outputs(frame: Frame): Record<string, string> {
    const outputs = dictionary<string>();
    const { labels, aliases } = this.#named();
    const keep = (name: string, nodes: readonly GraphNode[] | undefined) => {
      const row = nodes?.map((node) => frame.lookup(node.id)).find((candidate) => candidate && ENDED.has(candidate.status));
      if (row) outputs[name] = outputOf(row);
    };
    for (const [name, nodes] of labels) keep(name, nodes);
    for (const [name, nodes] of aliases) if (!Object.hasOwn(outputs, name)) keep(name, latest(nodes, frame));
    return outputs;
  }
}

/** The latest to complete first; one that was skipped has completed nothing. */
function latest(nodes: readonly GraphNode[] | undefined, frame: Frame): readonly GraphNode[] | undefined {
  if (!nodes || nodes.length < 2) return nodes;
  const time = (node: GraphNode) => {
    const row = frame.lookup(node.id);
    return row?.status === "skipped" ? 0 : (row?.completed_at?.getTime() ?? 0);
  };
  return [...nodes].sort((a, b) => time(b) - time(a));
}

/** What is asked about nodes to tell what comes to one of them. */
type Passing = Pick<CompiledGraph, "continues" | "passesContent">;

/** Texts that live edges bring to a node, by the node that made them, in edge order. */
function collect(frame: Frame, id: string, graph: Passing, isLiteral: boolean, texts: Map<string, string>): void {
  for (const edge of frame.scope.incoming.get(id) ?? []) {
    const { source } = edge;
    if (edge.isGate || texts.has(source)) continue;
    const iteration = frame.iterationOf(source);
    const row = iteration ? undefined : frame.lookup(source);
    if (!iteration && !(row && isLive(edge, progressOf(row, graph.continues(source))))) continue;
    const isDecision = row !== undefined && !isLiteral && graph.passesContent(source, row.handle);
    texts.set(source, isDecision ? "" : iteration ? asText(iteration.item) : row ? outputOf(row) : "");
    if (isDecision) collect(frame, source, graph, isLiteral, texts);
  }
}

/**
 * What came to a node: outputs that live edges bring, in edge order, joined by a blank line; of a failed node that continues,
 * its error; at the start of a loop's body, the item; of a node that only decides, what came to it. What one node made counts
 * once, by however many ways it comes.
 * @param isLiteral whether the decision itself is meant instead, as conditions read it
 */
export function upstreamOutput(frame: Frame, id: string, graph: Passing, isLiteral = false): string {
  const made = new Map<string, string>();
  collect(frame, id, graph, isLiteral, made);
  const texts = [...made.values()].filter((text) => text !== "");
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > MAX_OUTPUT) throw new ExpressionError(tooLong(length));
  return texts.join("\n\n");
}
