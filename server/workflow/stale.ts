import { makePlan } from "#server/workflow/compile.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import { isDisabled } from "#server/workflow/disabled.ts";
import { definitionOf, labelOf, passesContent } from "#server/workflow/graph.ts";
import { pinnedText, pinOf } from "#server/workflow/pins.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** Why what a node left behind in an earlier run is not what it would leave behind now. */
export type StaleReason =
  /** It was not in that run's graph. */
  | { kind: "new" }
  | { kind: "edited" }
  /** Its agent was changed after it ran. */
  | { kind: "agent" }
  /** Other nodes lead to it. */
  | { kind: "rewired" }
  /** An output was pinned, changed or unpinned since. */
  | { kind: "pinned" }
  /** A node before it changed, or one in its body. */
  | { kind: "before" | "body"; node_id: string };

/** Changes of a node's data that no run notices. */
const isAside = (node: GraphNode, field: string): boolean =>
  field === "label" ||
  field === "pinned" ||
  field === "collapsed" ||
  (definitionOf(node.type)?.group === "trigger" && field === "default_input");

/** The graph as it would read had its nodes always been called as they are now: renaming a node changes no result. */
function withNamesOf(before: Graph, now: Graph): Graph {
  const labels = new Map(now.nodes.map((node) => [node.id, labelOf(node)]));
  const active = before.nodes.filter((node) => !definitionOf(node.type)?.isInert);
  if (active.every((node) => (labels.get(node.id) ?? labelOf(node)) === labelOf(node))) return before;
  const then = namesFrom(active.map((node) => [node.id, labelOf(node)]));
  const today = namesFrom(active.map((node) => [node.id, labels.get(node.id) ?? labelOf(node)]));
  return { ...before, nodes: before.nodes.map((node) => ({ ...node, data: withNames(node.type, node.data, then, today) })) };
}

/**
 * Nodes whose result in an earlier run no longer holds for the graph as it is now: changed themselves, or after something
 * that changed. Pure and browser-safe.
 * @param before the graph that ran
 * @param outputOf what a node left behind in that run
 * @param honoured whether pins counted in it
 * @param isAgentChanged whether a node's agent has been changed since the node ran
 */
export function staleNodes(
  before: Graph,
  now: Graph,
  outputOf: (node_id: string) => string | null,
  honoured: boolean,
  isAgentChanged: (node: GraphNode) => boolean = () => false,
): Map<string, StaleReason> {
  const stale = new Map<string, StaleReason>();
  const diff = diffGraphs(withNamesOf(before, now), now);
  const pins = new Map(now.nodes.flatMap((node) => [[node.id, pinOf(node)] as const]));
  // In a loop there is no one output: there it counts that the same was pinned then.
  const then = new Map(before.nodes.flatMap((node) => (honoured ? [[node.id, pinOf(node)?.output] as const] : [])));
  /** With the output that it had then pinned to it, nothing before it matters. */
  const isFirm = (id: string) => {
    const pin = pins.get(id);
    return pin ? pin.output === outputOf(id) || pin.output === then.get(id) : false;
  };
  const plan = makePlan(now);
  const planThen = makePlan(before);
  const nodeThen = new Map(before.nodes.map((node) => [node.id, node]));
  const nodeNow = new Map(now.nodes.map((node) => [node.id, node]));
  /** Switched off then and now, as the same kind of node in the same loop: it lets things through, whatever its settings say. */
  const isOff = (id: string) =>
    isDisabled(nodeThen.get(id)) &&
    isDisabled(nodeNow.get(id)) &&
    nodeThen.get(id)?.type === nodeNow.get(id)?.type &&
    planThen.ownerOf(id) === plan.ownerOf(id);
  /** Nothing happens at it, so that no other settings change a result. */
  const isIdle = (id: string) => isOff(id) || plan.loopsAround(id).some(isOff);
  const open: string[] = [];
  /** Nodes whose decision is pinned, and the node before them whose change they let through: they pass on what came to them. */
  const through = new Map<string, string>();
  const mark = (id: string, reason: StaleReason) => {
    if (stale.has(id) || !pins.has(id)) return;
    if (isFirm(id)) {
      const node = nodeNow.get(id);
      if (!node || !passesContent(node, definitionOf(node.type), pins.get(id)?.handle ?? null) || through.has(id)) return;
      if (reason.kind !== "before" && reason.kind !== "rewired") return;
      through.set(id, reason.kind === "before" ? reason.node_id : id);
      open.push(id);
      return;
    }
    stale.set(id, reason);
    open.push(id);
    const owner = plan.ownerOf(id);
    if (owner !== null) mark(owner, { kind: "body", node_id: id });
  };
  for (const node of now.nodes) if (pins.get(node.id) && !isFirm(node.id)) mark(node.id, { kind: "pinned" });
  if (honoured) for (const node of before.nodes) if (pinnedText(node) !== null && !pins.get(node.id)) mark(node.id, { kind: "pinned" });
  for (const { id, kind, node, fields } of diff.nodes) {
    if (kind === "added") mark(id, { kind: "new" });
    // What is switched off still bears the name of its agent, by which others read what it lets through.
    else if (kind === "changed" && fields.some(({ field }) => !isAside(node, field) && (!isIdle(id) || field === "agent_id")))
      mark(id, { kind: "edited" });
  }
  for (const node of now.nodes) if (!isIdle(node.id) && isAgentChanged(node)) mark(node.id, { kind: "agent" });
  const former = new Map(before.edges.map((edge) => [edge.id, edge.target]));
  for (const { edge, kind } of diff.edges) {
    mark(edge.target, { kind: "rewired" });
    if (kind === "changed") mark(former.get(edge.id) ?? edge.target, { kind: "rewired" });
  }
  const next = Map.groupBy(now.edges, (edge) => edge.source);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const isOnlyBody = stale.get(id)?.kind === "body";
    for (const { target } of next.get(id) ?? []) {
      // What changed in a body changes its loop's result, and nothing for the nodes in the body before it.
      if (isOnlyBody && plan.loopsAround(target).includes(id)) continue;
      mark(target, { kind: "before", node_id: through.get(id) ?? id });
    }
  }
  return stale;
}
