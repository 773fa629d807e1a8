import { planOf, type RunSnapshot } from "#components/runs/store/run-snapshot.ts";
import type { RunState } from "#components/runs/store/run-store.ts";
import type { ExecutionView } from "#server/runs/schema.ts";
import { dictionary, own } from "#server/shared/json-text.ts";
import { isDisabled } from "#server/workflow/disabled.ts";
import { CREDENTIALS, type IsName, isNameOf, matchName, parseTemplate, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, fieldsOf, labelOf, type NamedNode, namesOf, passesContent, upstreamOf } from "#server/workflow/graph.ts";
import type { NodeDetails, NodeScope } from "#server/workflow/nodes/definition.ts";
import { handleLeftBy, pinOf } from "#server/workflow/pins.ts";
import {
  asText,
  ExpressionError,
  resolveReference,
  resolveValue,
  type Scope,
  type ScopeEntry,
} from "#server/workflow/resolve-expressions.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";
import { triggerFieldNames, triggerFields } from "#server/workflow/trigger-fields.ts";

/** The run whose values the panel shows: the one on the screen, else the latest that has ended. */
export interface LastRun {
  executionId: string;
  snapshot: RunSnapshot;
  /** What the trigger was given. */
  input: string;
  /** Headers and payload of a webhook's delivery; null for another kind of trigger. */
  webhook: ExecutionView["webhook"];
  /** How reviews were decided, by node id. */
  decisions: Readonly<Record<string, string>>;
  /** What nodes left behind besides their outputs, by node id, as far as it has been read. */
  details: Readonly<Record<string, NodeDetails>>;
}

export function lastRunOf({ executionId, snapshot, view }: Pick<RunState, "executionId" | "snapshot" | "view">): LastRun | null {
  if (!executionId || !snapshot || !view) return null;
  const decisions = Object.fromEntries(view.execution.reviews.flatMap(({ node_id, decision }) => (decision ? [[node_id, decision]] : [])));
  return { executionId, snapshot, input: view.execution.input, webhook: view.webhook, decisions, details: {} };
}

/** A secret's value is not known here, and would not be shown. */
const MASK = "••••";
/** What the output of an HTTP trigger holds (specification, Trigger output expressions). */
export const REQUEST_PARTS = ["body", "method", "headers", "query"];

const pinnedIn = (node: GraphNode | undefined): string | undefined => pinOf(node)?.output;

/** What a node left behind in the run, or undefined when it did not end; of a pinned node, what is pinned. */
export function lastOutput(node: GraphNode, { snapshot }: LastRun): string | undefined {
  const pinned = pinnedIn(node);
  if (pinned !== undefined) return pinned;
  const result = snapshot.nodes[node.id];
  // What the last item that came to it left there is not at hand.
  if (!result || result.isPast) return undefined;
  if (result.status === "failed") return result.error ?? "";
  if (result.status === "skipped") return "";
  return result.status === "complete" ? (result.output ?? "") : undefined;
}

/** True when only the beginning of a node's output is at hand. */
export const isTruncated = (node: GraphNode, { snapshot }: LastRun): boolean =>
  pinnedIn(node) === undefined && (snapshot.nodes[node.id]?.whole_length ?? null) !== null;

/** The parameters of a form as the run was given them. */
function paramsOf(readable: ReadableScope, run: LastRun): Record<string, unknown> {
  const names = parameterNames(readable);
  if (names.length === 0) return {};
  try {
    const values: unknown = JSON.parse(run.input);
    if (values === null || typeof values !== "object") return {};
    return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(values, name) ? [[name, Reflect.get(values, name)]] : [])));
  } catch {
    return {}; // it was started by another kind of trigger
  }
}

/** Values of the trigger that expressions read. */
function triggerScope(readable: ReadableScope, run: LastRun): Record<string, unknown> {
  const { webhook, input } = run;
  if (readable.trigger?.data.kind === "webhook" && webhook) return triggerFields(readable.trigger, { input, params: webhook });
  if (readable.trigger?.data.kind === "http") return triggerFields(readable.trigger, { input, params: {} });
  return { ...paramsOf(readable, run), output: input };
}

/** What expressions at a node would read if it ran again on the values of a run. */
export function lastScope(readable: ReadableScope, run: LastRun): Scope {
  const { nodes, names, around, scope, nodeId, isName } = readable;
  const underWay = new Set<string>();
  const fixed: Record<string, ScopeEntry> = {
    trigger: { name: "trigger", fields: triggerScope(readable, run) },
    execution: { name: "execution", fields: { id: run.executionId } },
    [CREDENTIALS]: {
      name: CREDENTIALS,
      fields: Object.fromEntries((scope.credentialNames ?? []).map((name) => [name, MASK])),
      isFlat: true,
    },
  };
  /** The item that this node had, or would have had first. */
  const itemOf = (loop: GraphNode): Record<string, unknown> | undefined => {
    if (underWay.has(loop.id)) return undefined;
    underWay.add(loop.id);
    try {
      const given = resolveValue(String(loop.data.items_expression ?? ""), found);
      const items: unknown = typeof given === "string" ? JSON.parse(given) : given;
      const index = Number(run.snapshot.nodes[nodeId]?.iteration.split(".")[around.indexOf(loop.id)] ?? 0) || 0;
      return Array.isArray(items) && index < items.length ? { current_item: items[index], index } : undefined;
    } catch {
      return undefined;
    } finally {
      underWay.delete(loop.id);
    }
  };
  const valuesOf = (node: GraphNode): Record<string, unknown> | undefined => {
    if (around.includes(node.id)) return itemOf(node);
    const output = lastOutput(node, run);
    const definition = definitionOf(node.type);
    const left = {
      output: output ?? "",
      handle: own(run.decisions, node.id) ?? null,
      details: (pinnedIn(node) === undefined && own(run.details, node.id)) || {},
      data: node.data,
      callbackUrl: () => run.snapshot.nodes[node.id]?.resume_url ?? "",
    };
    const further = Object.entries(definition?.fields ?? {}).flatMap(([name, read]) => {
      const value = read(left);
      // What is only there while it waits, or was not kept, is not known; a text that is empty is.
      const isKnown = definition?.earlyFields?.includes(name) ? value !== "" : output !== undefined;
      return isKnown ? [[name, value] as const] : [];
    });
    if (output === undefined && further.length === 0) return undefined;
    return { ...(output !== undefined && { output }), ...Object.fromEntries(further) };
  };
  const found: Scope = {
    isName,
    find(name) {
      if (Object.hasOwn(fixed, name)) return fixed[name];
      const slug = slugOf(name);
      const exact = names.filter((entry) => entry.name === name);
      const near = slug === "" ? [] : names.filter((entry) => slugOf(entry.name) === slug);
      for (const { node } of [...exact, ...near]) {
        const fields = valuesOf(node);
        if (fields) return { name, fields };
      }
      return Object.hasOwn(fixed, slug) ? fixed[slug] : undefined;
    },
    names: () => [...Object.keys(fixed), ...nodes.flatMap((node) => names.find((entry) => entry.node === node)?.name ?? [])],
  };
  return found;
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
export function lastUpstream(readable: ReadableScope, run: LastRun, isLiteral = false): string {
  const { graph, around, names, nodeId } = readable;
  const scope = lastScope(readable, run);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const texts = new Map<string, string>();
  /** By which way a node left in the run; null when that is not known. */
  const wayOut = (node: GraphNode) => own(run.decisions, node.id) ?? handleLeftBy(node, lastOutput(node, run) ?? null);
  const collect = (id: string) => {
    const edges = graph.edges.filter((edge) => edge.target === id);
    const live = edges.filter(({ source, sourceHandle }) => {
      const node = byId.get(source);
      const way = node && !around.includes(source) ? wayOut(node) : null;
      return way === null || (sourceHandle ?? way) === way;
    });
    // Where no way led here in the run, what would have come is shown.
    for (const { source } of live.length ? live : edges) {
      const node = byId.get(source);
      if (!node || texts.has(source)) continue;
      const definition = definitionOf(node.type);
      const isDecision = !isLiteral && !isDisabled(node) && passesContent(node, definition, wayOut(node));
      const entry = around.includes(source) ? scope.find(names.find((name) => name.node.id === source)?.name ?? "") : undefined;
      const made = entry ? asText(entry.fields.current_item) : definition?.group === "trigger" ? run.input : (lastOutput(node, run) ?? "");
      texts.set(source, isDecision ? "" : made);
      if (isDecision) collect(source);
    }
  };
  collect(nodeId);
  return [...texts.values()].filter((text) => text !== "").join("\n\n");
}

/** What the server needs to try a condition: which nodes are meant; the values are the run's own. */
export function conditionTrialInput(readable: ReadableScope, run: LastRun) {
  const before = predecessorsOf(readable);
  const isFirst = before.some((id) => readable.around.includes(id));
  const outputs = dictionary<string[]>();
  for (const { name, node, isAlias } of readable.names) {
    const known = outputs[name];
    if (!known) outputs[name] = [node.id];
    else if (isAlias) known.push(node.id);
  }
  const { trigger } = readable;
  if (trigger) outputs[labelOf(trigger)] ??= [trigger.id];
  const pinned = readable.graph.nodes.flatMap((node) => {
    const output = readable.nodes.includes(node) ? pinnedIn(node) : undefined;
    return output === undefined ? [] : [[node.id, output] as const];
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
  /** Tells the workflow's names with dots in them; left out where there is none. */
  isName: IsName | undefined;
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
  const isName = isNameOf(all.map(({ name }) => name));
  return { graph, nodeId, scope, around, trigger, nodes, early, names, isName };
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

/** Names of the values that a form asks for. */
const parameterNames = ({ trigger }: Pick<ReadableScope, "trigger">): string[] =>
  trigger?.data.kind === "params" && Array.isArray(trigger.data.parameters)
    ? trigger.data.parameters.map((parameter) => String(parameter?.name))
    : [];

/** Names of what can be read of the trigger besides its output. */
export const triggerNames = ({ trigger }: Pick<ReadableScope, "trigger">): string[] =>
  trigger?.data.kind === "webhook" || trigger?.data.kind === "http" ? triggerFieldNames(trigger) : parameterNames({ trigger });

/** Nodes that lead straight to this one, in the order of the edges. */
export function predecessorsOf({ graph, nodeId }: Pick<ReadableScope, "graph" | "nodeId">): string[] {
  return [...new Set(graph.edges.filter((edge) => edge.target === nodeId).map((edge) => edge.source))];
}

/** True when the run came to what stands straight before the node, so that there is something to show. */
export const hasPredecessorValues = (readable: ReadableScope, run: LastRun): boolean =>
  predecessorsOf(readable).some((id) => {
    const { status, isPast } = run.snapshot.nodes[id] ?? {};
    const isPinned = pinOf(readable.graph.nodes.find((node) => node.id === id)) !== null;
    return isPinned || readable.around.includes(id) || (!isPast && (status === "complete" || status === "failed"));
  });
