import type { NodeStatus } from "#server/runs/status-schema.ts";
import { dictionary } from "#server/shared/json-text.ts";
import type { PlanEdge } from "#server/workflow/compile.ts";
import { CREDENTIALS, type IsName, isNameOf, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, type NamedNode } from "#server/workflow/graph.ts";
import { hasEnded, isLive, progressOf } from "#server/workflow/node-progress.ts";
import type { NodeDetails } from "#server/workflow/nodes/definition.ts";
import { asText, ExpressionError, type Scope, type ScopeEntry } from "#server/workflow/resolve-expressions.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

// Decides what expressions, conditions and empty fields read in a run. Pure and browser-safe: the executor supplies facts of the run
// that it executes, the editor's preview those of the last run.

/** The newest result of a node. */
export interface ResultFacts {
  /** Id by which `callbackUrl` finds the address of its wait. */
  id: string;
  status: NodeStatus;
  output: string | null;
  error: string | null;
  handle: string | null;
  completed_at: Date | null;
  details?: NodeDetails | null | undefined;
  /** True where `output` is only the beginning of the text. */
  isPartial?: boolean | undefined;
}

/** Results as a node in one iteration sees them. */
export interface FrameFacts {
  /** Returns the newest result of a node in this iteration or outside of it. */
  lookup(node_id: string): ResultFacts | undefined;
  /** Returns the current item of a loop around the node. */
  iterationOf(loop_id: string): { item: unknown; index: number } | undefined;
}

/** Facts of a run besides its results. */
export interface RunFacts {
  execution_id: string;
  /** Fields of the trigger, see `triggerFields`. */
  trigger: Record<string, unknown>;
  credentials: Record<string, unknown>;
  /** Reason why no credential can be read. */
  credentialsFault?: string | undefined;
  /** @throws ExpressionError when the address is not known here; the fields that read it are then left out */
  callbackUrl(id: string): string;
}

/** Returns the text that a node left; of a failed one whose run goes on, its error. */
export const outputOf = ({ status, output, error }: Pick<ResultFacts, "status" | "output" | "error">): string =>
  (status === "failed" ? error : output) ?? "";

interface NameIndex {
  labels: Map<string, GraphNode[]>;
  aliases: Map<string, GraphNode[]>;
  slugs: Map<string, GraphNode[]>;
  isName: IsName | undefined;
}

/** Nodes by the names that expressions read them by. The index is built when the first name is looked up. */
export class GraphNames {
  readonly #names: () => readonly NamedNode[];
  #index: NameIndex | undefined;

  /** @param names labels first, then aliases, as `namesOf` returns them */
  constructor(names: () => readonly NamedNode[]) {
    this.#names = names;
  }

  /** Returns true for a name of the graph, where some name has a dot in it. */
  readonly isName: IsName = (text) => this.index.isName?.(text) ?? false;

  get index(): NameIndex {
    if (this.#index) return this.#index;
    const names = this.#names();
    const index: NameIndex = { labels: new Map(), aliases: new Map(), slugs: new Map(), isName: isNameOf(names.map(({ name }) => name)) };
    // Thousands of nodes may call the same agent, and its name is an alias of each.
    const add = (map: Map<string, GraphNode[]>, key: string, node: GraphNode) => {
      const nodes = map.get(key);
      if (nodes) nodes.push(node);
      else map.set(key, [node]);
    };
    for (const { name, node, isAlias } of names) {
      add(isAlias ? index.aliases : index.labels, name, node);
      add(index.slugs, slugOf(name), node);
    }
    this.#index = index;
    return index;
  }
}

/** Returns the nodes in the order of their completion, the latest first. A skipped node has completed nothing. */
function latestFirst(nodes: readonly GraphNode[], frame: FrameFacts): readonly GraphNode[] {
  if (nodes.length < 2) return nodes;
  const time = ({ id }: GraphNode) => {
    const result = frame.lookup(id);
    return result?.status === "skipped" ? 0 : (result?.completed_at?.getTime() ?? 0);
  };
  return [...nodes].sort((a, b) => time(b) - time(a));
}

/**
 * Returns what can be read of a node: the item of a loop around, early fields of one that waits, all fields of one that has ended.
 * Fields whose facts are not at hand are left out.
 */
function fieldsOf(node: GraphNode, frame: FrameFacts, { callbackUrl }: RunFacts): Record<string, unknown> | undefined {
  const iteration = frame.iterationOf(node.id);
  if (iteration) return { current_item: iteration.item, index: iteration.index };

  const result = frame.lookup(node.id);
  const definition = definitionOf(node.type);
  const isOver = result !== undefined && hasEnded(result);
  const early = result?.status === "waiting" ? definition?.earlyFields : undefined;
  if (!result || !(isOver || early)) return undefined;

  const output = outputOf(result);
  const left = {
    ...{ output, handle: result.handle, data: node.data, callbackUrl: () => callbackUrl(result.id) },
    get details() {
      return result.details ?? {};
    },
  };
  const fields: Record<string, unknown> = isOver ? { output } : {};
  for (const [name, read] of Object.entries(definition?.fields ?? {})) {
    if (!isOver && !early?.includes(name)) continue;
    try {
      fields[name] = read(left);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
    }
  }
  return fields;
}

/** Returns nodes that answer to a name: by label, by alias the latest to complete first, then by slug. */
function* bearersOf(name: string, { labels, aliases, slugs }: NameIndex, frame: FrameFacts): Generator<GraphNode> {
  yield* labels.get(name) ?? [];
  yield* latestFirst(aliases.get(name) ?? [], frame);
  yield* slugs.get(slugOf(name)) ?? [];
}

/**
 * Returns what expressions read at one moment: the trigger, the execution, credentials, items of loops around, and each node that has
 * ended. A skipped node reads as empty text.
 */
export function scopeOf(graph: GraphNames, facts: RunFacts, frame: FrameFacts): Scope {
  const { execution_id, trigger, credentials, credentialsFault } = facts;
  const fixed: Record<string, ScopeEntry> = {
    trigger: { name: "trigger", fields: trigger },
    execution: { name: "execution", fields: { id: execution_id } },
    [CREDENTIALS]: { name: CREDENTIALS, fields: credentials, isFlat: true },
  };
  return {
    isName: graph.isName,
    find(name) {
      if (credentialsFault && slugOf(name) === CREDENTIALS) throw new ExpressionError(credentialsFault);
      if (Object.hasOwn(fixed, name)) return fixed[name];
      for (const node of bearersOf(name, graph.index, frame)) {
        const fields = fieldsOf(node, frame, facts);
        if (!fields) continue;
        const { status, isPartial } = frame.lookup(node.id) ?? {};
        return { name, fields, isSkipped: status === "skipped", isPartial };
      }
      const slug = slugOf(name);
      return Object.hasOwn(fixed, slug) ? fixed[slug] : undefined;
    },
    names: () => [
      ...Object.keys(fixed),
      ...[...graph.index.labels, ...graph.index.aliases].flatMap(([name, nodes]) =>
        nodes.some((node) => fieldsOf(node, frame, facts)) ? [name] : [],
      ),
    ],
  };
}

/** Returns the results that conditions see as `node_outputs`: by label, and by alias the latest to complete. */
export function resultsByName({ index: { labels, aliases } }: GraphNames, frame: FrameFacts): Record<string, [GraphNode, ResultFacts]> {
  const results = dictionary<[GraphNode, ResultFacts]>();
  const add = (name: string, nodes: readonly GraphNode[]) => {
    for (const node of nodes) {
      const result = frame.lookup(node.id);
      if (!result || !hasEnded(result)) continue;
      results[name] = [node, result];
      return;
    }
  };
  for (const [name, nodes] of labels) add(name, nodes);
  for (const [name, nodes] of aliases) if (!Object.hasOwn(results, name)) add(name, latestFirst(nodes, frame));
  return results;
}

/** Rules by which texts reach a node. */
export interface Flow {
  /** Edges into each node as the plan has them. */
  incoming: ReadonlyMap<string, readonly PlanEdge[]>;
  continues(node_id: string): boolean;
  passesContent(node_id: string, handle: string | null): boolean;
}

interface UpstreamOptions {
  /** True for the decision of a node that only decides, as conditions read it, and not for what came to that node. */
  isLiteral?: boolean;
  /** True where a node without a result counts as one that leads on, and all edges into a node that none has reached. */
  isSupposed?: boolean;
}

/**
 * Returns the texts that live edges bring to a node, by the node that made them, in edge order: an output, the error of a failed
 * node that continues, at the start of a loop's body the item, of a node that only decides what came to it. What one node made
 * counts once, by however many edges it comes.
 */
export function upstreamTexts(
  frame: FrameFacts,
  node_id: string,
  flow: Flow,
  { isLiteral = false, isSupposed = false }: UpstreamOptions = {},
): Map<string, string> {
  const texts = new Map<string, string>();
  const isOpen = (edge: PlanEdge) => {
    if (frame.iterationOf(edge.source)) return true;
    const result = frame.lookup(edge.source);
    return result ? isLive(edge, progressOf(result, flow.continues(edge.source))) : isSupposed;
  };
  const collect = (id: string) => {
    const edges = (flow.incoming.get(id) ?? []).filter((edge) => !edge.isGate);
    const open = edges.filter(isOpen);
    for (const { source } of isSupposed && open.length === 0 ? edges : open) {
      if (texts.has(source)) continue;
      const iteration = frame.iterationOf(source);
      const result = iteration ? undefined : frame.lookup(source);
      const isDecision = !iteration && !isLiteral && flow.passesContent(source, result?.handle ?? null);
      texts.set(source, isDecision ? "" : iteration ? asText(iteration.item) : result ? outputOf(result) : "");
      if (isDecision) collect(source);
    }
  };
  collect(node_id);
  return texts;
}

/** Joins upstream texts by a blank line, without empty ones. */
export const joinTexts = (texts: ReadonlyMap<string, string>): string => [...texts.values()].filter((text) => text !== "").join("\n\n");
