import { compareIterations, planOf, type RunSnapshot } from "#components/runs/store/run-snapshot.ts";
import type { RunState } from "#components/runs/store/run-store.ts";
import type { ExecutionView } from "#server/runs/schema.ts";
import { dictionary, own } from "#server/shared/json-text.ts";
import type { Plan } from "#server/workflow/compile.ts";
import { handleOf, workOf } from "#server/workflow/disabled.ts";
import {
  type Flow,
  type FrameFacts,
  GraphNames,
  joinTexts,
  type ResultFacts,
  resultsByName,
  scopeOf,
  upstreamTexts,
} from "#server/workflow/expression-scope.ts";
import { matchName, parseTemplate } from "#server/workflow/expressions.ts";
import {
  definitionOf,
  fieldsOf,
  goesOnAfterFailure,
  labelOf,
  type NamedNode,
  namesOf,
  passesContent,
  upstreamOf,
} from "#server/workflow/graph.ts";
import { hasEnded } from "#server/workflow/node-progress.ts";
import type { NodeDetails, NodeScope } from "#server/workflow/nodes/definition.ts";
import { pinOf } from "#server/workflow/pins.ts";
import { asText, ExpressionError, resolveReference, resolveValue, type Scope } from "#server/workflow/resolve-expressions.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";
import { formValues, triggerFieldNames, triggerFields } from "#server/workflow/trigger-fields.ts";

/** The run whose values the panel shows: the one on the screen, else the latest that has ended. */
export interface LastRun {
  executionId: string;
  snapshot: RunSnapshot;
  /** What the trigger was given. */
  input: string;
  /** Values that the trigger keeps besides: headers and payload of a call. */
  params: ExecutionView["params"];
  /** What nodes left behind besides their outputs, by node id, as far as it has been read. */
  details: Readonly<Record<string, NodeDetails>>;
}

export function lastRunOf({ executionId, snapshot, view }: Pick<RunState, "executionId" | "snapshot" | "view">): LastRun | null {
  if (!executionId || !snapshot || !view) return null;
  return { executionId, snapshot, input: view.execution.input, params: view.params ?? {}, details: {} };
}

/** A secret's value is not known here, and would not be shown. */
const MASK = "••••";
/** What the output of an HTTP trigger holds (specification, Trigger output expressions). */
export const REQUEST_PARTS = ["body", "method", "headers", "query"];

/** Throws for a fact that no answer of the API has. */
function notAtHand(): never {
  throw new ExpressionError("This is not at hand here.");
}

/** A result of the run, or of a pinned node what is pinned. */
function resultOf(node: GraphNode, run: LastRun): ResultFacts | undefined {
  const { id } = node;
  if (definitionOf(node.type)?.group === "trigger")
    return { id, status: "complete", output: run.input, error: null, handle: null, completed_at: null };

  const result = run.snapshot.nodes[id];
  const pin = pinOf(node);
  // The output of a node whose latest items went another way is not at hand.
  if (!pin && (!result || result.isPast)) return undefined;
  const { status = "idle", output = null, error = null, started_at = null, duration_ms, whole_length } = result ?? {};
  const completed_at = started_at === null ? null : new Date(Date.parse(started_at) + (duration_ms ?? 0));
  // A pinned output that the run did not have is the latest.
  if (pin) return { id, ...pin, status: "complete", error: null, completed_at: completed_at ?? new Date() };
  const details = own(run.details, id);
  return {
    ...{ id, status, output, error, completed_at, isPartial: typeof whole_length === "number" },
    handle: handleOf(node, { status, output: output ?? "" }),
    get details() {
      return details ?? notAtHand();
    },
  };
}

/** Place of the node in the loops around it: that of its own last item, else of the latest item of a node beside it, else the first. */
function pathAt({ graph, nodeId, around, plan }: ReadableScope, { snapshot }: LastRun): string[] {
  const beside = graph.nodes.filter(({ id }) => plan.loopsAround(id).every((loop, depth) => loop === around[depth]));
  const latest = beside.map(({ id }) => snapshot.nodes[id]?.iteration ?? "").sort(compareIterations);
  const path = (snapshot.nodes[nodeId]?.iteration || latest.at(-1) || "").split(".");
  return around.map((_, depth) => path[depth] || "0");
}

/** Results of a run as a node would see them if it ran again: in a loop those of one item. */
export function lastFrame(readable: ReadableScope, run: LastRun): FrameFacts {
  const { byId, around, plan, early, visible } = readable;
  const path = pathAt(readable, run);
  const items = new Map<string, ReturnType<FrameFacts["iterationOf"]>>();
  const itemOf = (id: string): ReturnType<FrameFacts["iterationOf"]> => {
    const { type = "", data = {} } = byId.get(id) ?? {};
    const body = definitionOf(type)?.body;
    try {
      const list = body?.itemsOf(resolveValue(String(data[body.input] ?? ""), lastScope(readable, run, frame))) ?? [];
      const index = Number(path[around.indexOf(id)]);
      return index < list.length ? { item: list[index], index } : undefined;
    } catch {
      return undefined;
    }
  };
  const frame: FrameFacts = {
    lookup(id) {
      const node = byId.get(id);
      if (!node || !visible.has(node) || around.includes(id)) return undefined;
      const isOfItem = (run.snapshot.nodes[id]?.iteration ?? "") === path.slice(0, plan.loopsAround(id).length).join(".");
      const result = isOfItem || pinOf(node) ? resultOf(node, run) : undefined;
      // When this node runs, a wait beside it may not have ended.
      if (result && early.includes(node) && hasEnded(result)) result.status = "waiting";
      return result;
    },
    iterationOf(id) {
      if (!around.includes(id)) return undefined;
      // An item that reads itself has none.
      if (!items.has(id)) items.set(id, undefined).set(id, itemOf(id));
      return items.get(id);
    },
  };
  return frame;
}

/** Returns the scope of expressions at a node that would run again on the values of a run. */
export function lastScope(readable: ReadableScope, run: LastRun, frame: FrameFacts = lastFrame(readable, run)): Scope {
  const { named, trigger, scope } = readable;
  const { executionId: execution_id, input } = run;
  const params = trigger?.data.kind === "params" ? formValues(input) : run.params;
  const credentials = dictionary(Object.fromEntries((scope.credentialNames ?? []).map((name) => [name, MASK])));
  const callbackUrl = (id: string) => run.snapshot.nodes[id]?.resume_url ?? notAtHand();
  return scopeOf(named, { execution_id, trigger: triggerFields(trigger, { input, params }), credentials, callbackUrl }, frame);
}

/** A piece of a text with its expressions resolved; `missing` for what the run has no value of. */
export interface PreviewPart {
  kind: "text" | "value" | "missing";
  text: string;
  /** The expression it stands for; of plain text empty. */
  source: string;
}

/** A text with the values of a run in place of its expressions. Never throws. */
export function previewOf(template: string, scope: Scope): PreviewPart[] {
  return parseTemplate(template, scope.isName).map((part) => {
    if ("text" in part) return { kind: "text", text: part.text, source: "" };
    const { source } = part.reference;
    try {
      return { kind: "value", text: asText(resolveReference(part.reference, scope)), source };
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return { kind: "missing", text: source, source };
    }
  });
}

/**
 * What leads to a node brought it in the run: the outputs before it, joined by a blank line, or the item of a loop; of a node
 * that only decides, what came to that one.
 * @param isLiteral whether the decision itself is meant instead, as conditions read it
 */
export const lastUpstream = (readable: ReadableScope, run: LastRun, isLiteral = false): string =>
  joinTexts(upstreamTexts(lastFrame(readable, run), readable.nodeId, readable.flow, { isLiteral, isSupposed: true }));

/** What the server needs to try a condition: which nodes are meant; the values are the run's own. */
export function conditionTrialInput(readable: ReadableScope, run: LastRun) {
  const { nodeId, around, flow, named, nodes } = readable;
  const frame = lastFrame(readable, run);
  const sources = [...upstreamTexts(frame, nodeId, flow, { isLiteral: true, isSupposed: true }).keys()];
  const before = sources.filter((id) => around.includes(id) || frame.lookup(id));
  const isFirst = before.some((id) => around.includes(id));
  const outputs = dictionary<string[]>();
  for (const [name, [node]] of Object.entries(resultsByName(named, frame))) outputs[name] = [node.id];
  const pinned = nodes.flatMap((node) => {
    const pin = pinOf(node);
    return pin ? [[node.id, pin.output] as const] : [];
  });
  return {
    execution_id: run.executionId,
    before,
    ...(pinned.length > 0 && { pinned: Object.fromEntries(pinned) }),
    ...(isFirst && { item: lastUpstream(readable, run, true).slice(0, 100_000) }),
    outputs,
  };
}

/** What the panel knows of the project besides the graph. */
export interface PanelScope extends NodeScope {
  /** The JSON Schema that an agent's answers follow, if it has one. */
  outputSchema?(agentId: string): Readonly<Record<string, unknown>> | null;
}

/** What can be read at a node, whatever has run: worked out once for all of its fields. */
export interface ReadableScope {
  graph: Graph;
  nodeId: string;
  scope: PanelScope;
  /** Loops that the node is inside of, the outermost first. */
  around: readonly string[];
  trigger: GraphNode | undefined;
  /** Everything else upstream that can be read here, the nearest first. */
  nodes: readonly GraphNode[];
  /** Nodes beside this one that have begun when it does, of which something can be read then. */
  early: readonly GraphNode[];
  /** Names of those: labels first, then the names of agents that are not taken by a label. */
  names: readonly NamedNode[];
  /** Names of the whole graph. */
  named: GraphNames;
  plan: Plan;
  flow: Flow;
  byId: ReadonlyMap<string, GraphNode>;
  /** Nodes of which something can be read here, the trigger and loops around included. */
  visible: ReadonlySet<GraphNode>;
}

/** Everything upstream of a node. What runs once for each item of a loop is only there inside of it. */
export function readableAt(graph: Graph, nodeId: string, scope: PanelScope): ReadableScope {
  const upstream = upstreamOf(graph, nodeId);
  const plan = planOf(graph);
  const around = plan.loopsAround(nodeId);
  const visible = graph.nodes.filter((node) => upstream.has(node.id) && plan.loopsAround(node.id).every((loop) => around.includes(loop)));
  // Counting what leads to a node tells how far along it stands.
  const depth = new Map(visible.map((node) => [node.id, upstreamOf(graph, node.id).size]));
  const nodes = visible
    .filter((node) => definitionOf(node.type)?.group !== "trigger")
    .sort((a, b) => (depth.get(b.id) ?? 0) - (depth.get(a.id) ?? 0));
  // A wait for a call begins as soon as all that leads to it is over, which is the case where this node runs.
  const before = Map.groupBy(graph.edges, (edge) => edge.target);
  const early = graph.nodes.filter(
    (node) =>
      node.id !== nodeId &&
      !upstream.has(node.id) &&
      earlyFieldsOf(node).length > 0 &&
      plan.loopsAround(node.id).every((loop) => around.includes(loop)) &&
      (before.get(node.id) ?? []).every(({ source }) => upstream.has(source)),
  );
  const all = namesOf(graph, scope);
  const names = all.filter(
    (entry) =>
      (nodes.includes(entry.node) || early.includes(entry.node)) &&
      (!entry.isAlias || (matchName(all, entry.name)?.node.id === entry.node.id && entry.name !== labelOf(entry.node))),
  );
  const trigger = graph.nodes.find((node) => definitionOf(node.type)?.group === "trigger");
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const flow: Flow = {
    incoming: plan.incoming,
    continues: (id) => goesOnAfterFailure(byId.get(id)),
    passesContent(id, handle) {
      const node = byId.get(id);
      return node !== undefined && passesContent(node, workOf(node), handle);
    },
  };
  const named = new GraphNames(() => all);
  return { graph, nodeId, scope, around, trigger, nodes, early, names, named, plan, flow, byId, visible: new Set([...visible, ...early]) };
}

/** Which name a node has besides its label, in words, of the names that it has where it is read; null for none. */
export const secondName = (own: readonly NamedNode[]): string | null => {
  const alias = own.find((entry) => entry.isAlias)?.name;
  return alias === undefined ? null : `also ${alias}`;
};

/** What can be read of a node from when it begins to wait. */
const earlyFieldsOf = (node: GraphNode): string[] =>
  definitionOf(node.type)?.earlyFields ? fieldsOf(node).filter((field) => definitionOf(node.type)?.earlyFields?.includes(field)) : [];

/** What can be read of a node: its output and parts of it; of a loop that one is inside of, the item. */
export function fieldNames(node: GraphNode, { around, early }: Pick<ReadableScope, "around" | "early">): string[] {
  if (around.includes(node.id)) return [...(definitionOf(node.type)?.body?.fields ?? [])];
  return early.includes(node) ? earlyFieldsOf(node) : fieldsOf(node);
}

/** Names of what can be read of the trigger besides its output. */
export const triggerNames = ({ trigger }: Pick<ReadableScope, "trigger">): string[] =>
  ["webhook", "http", "params"].includes(String(trigger?.data.kind)) ? triggerFieldNames(trigger) : [];

/** True when the run came to what stands straight before the node, so that there is something to show. */
export function hasPredecessorValues(readable: ReadableScope, run: LastRun): boolean {
  const { nodeId, around, flow } = readable;
  const frame = lastFrame(readable, run);
  const edges = flow.incoming.get(nodeId) ?? [];
  return edges.some(
    ({ source, isGate }) => !isGate && (around.includes(source) || /complete|failed/.test(frame.lookup(source)?.status ?? "")),
  );
}
