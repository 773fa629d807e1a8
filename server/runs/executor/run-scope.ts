import type { Frame } from "#server/runs/executor/frame.ts";
import type { RunSecrets } from "#server/runs/executor/run-secrets.ts";
import type { RunState } from "#server/runs/ports.ts";
import { dictionary, parseJson } from "#server/shared/json-text.ts";
import type { CompiledGraph } from "#server/workflow/compiled-graph.ts";
import {
  GraphNames,
  joinTexts,
  outputOf,
  type RunFacts,
  resultsByName,
  scopeOf,
  upstreamTexts,
} from "#server/workflow/expression-scope.ts";
import type { IsName, Reference } from "#server/workflow/expressions.ts";
import { definitionOf, namesOf } from "#server/workflow/graph.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { MAX_OUTPUT, tooLong } from "#server/workflow/output-size.ts";
import { ExpressionError, type LongReads, longReadsOf, type ReadResult, type Scope } from "#server/workflow/resolve-expressions.ts";
import { triggerFields } from "#server/workflow/trigger-fields.ts";

/** Texts of this length are worth remembering as what they say, a few at a time. */
const LONG = 2000;
const MOST_READ = 8;
/** Results of long reads that are remembered, and the length below which one is. */
const MAX_AHEAD = 100;
const LONG_RESULT = 256 * 1024;

/** Scopes of expressions in a run, for one segment. The names of the graph are indexed on first use. */
export class RunNames {
  readonly #names: GraphNames;
  readonly #facts: RunFacts;
  readonly #read = new Map<string, unknown>();
  /** Results of long reads by source, with the text that each read. */
  readonly #ahead = new Map<string, { text: string; result: ReadResult }>();

  constructor(run: RunState, scope: NodeScope, { values, fault }: RunSecrets, callbackUrl: (wait_id: string) => string) {
    const trigger = run.graph.nodes.find(({ type }) => definitionOf(type)?.group === "trigger");
    this.#names = new GraphNames(() => namesOf(run.graph, scope));
    this.#facts = { execution_id: run.id, trigger: triggerFields(trigger, run), credentials: values, credentialsFault: fault, callbackUrl };
  }

  /** Returns true for a name of the graph, where some name has a dot in it. */
  get isName(): IsName {
    return this.#names.isName;
  }

  /** Returns what expressions can read in a frame at this moment. */
  in(frame: Frame, readAhead?: ReadonlyMap<string, ReadResult>): Scope {
    return { ...scopeOf(this.#names, this.#facts, frame), parse: (text, count) => this.#parse(text, count), readAhead };
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

  /** Returns what conditions see as `node_outputs`: outputs by agent's name and, of other nodes, by label. */
  outputs(frame: Frame): Record<string, string> {
    const outputs = dictionary<string>();
    for (const [name, [, result]] of Object.entries(resultsByName(this.#names, frame))) outputs[name] = outputOf(result);
    return outputs;
  }
}

/**
 * Returns what came to a node, joined by a blank line.
 * @param isLiteral see `upstreamTexts`
 * @throws ExpressionError when it is longer than a node may work with
 */
export function upstreamOutput(frame: Frame, id: string, graph: CompiledGraph, isLiteral = false): string {
  const texts = upstreamTexts(frame, id, graph, { isLiteral });
  const length = [...texts.values()].reduce((sum, text) => sum + text.length, 0);
  if (length > MAX_OUTPUT) throw new ExpressionError(tooLong(length));
  return joinTexts(texts);
}
