import type { Execution } from "#server/runs/schema.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import { definitionOf, handlesOf, labelOf } from "#server/workflow/graph.ts";
import type { Graph, GraphNode, Problem } from "#server/workflow/schema.ts";

/** What came of one request. */
export interface Outcome {
  /** The workflow as it was, and as it is when every proposal has been accepted. */
  before: Graph;
  graph: Graph;
  problems: Problem[];
  /** A run of it, or why none could be started. */
  run: Pick<Execution, "status" | "output" | "error"> | { refused: string };
  /** Everything that the assistant said. */
  answer: string;
  proposals: number;
  /** Names of the tools that it called, in order. */
  tools: string[];
}

/** Something that has to be true of an outcome. */
export interface Rule {
  name: string;
  /** @returns why it does not hold; undefined when it does */
  fault(outcome: Outcome): string | undefined;
}

const rule = (name: string, fault: Rule["fault"]): Rule => ({ name, fault });

const outgoing = (graph: Graph, { id }: Pick<GraphNode, "id">) => graph.edges.filter(({ source }) => source === id);

/** Ids of the nodes that are reached from these, themselves among them. */
function reached(graph: Graph, from: readonly GraphNode[]): Set<string> {
  const seen = new Set(from.map(({ id }) => id));
  for (const id of seen) for (const { target } of outgoing(graph, { id })) seen.add(target);
  return seen;
}

/** Nothing would stop a run. */
export const valid = rule(
  "valid",
  ({ problems }) =>
    problems
      .filter(({ severity }) => severity === "error")
      .map(({ message }) => message)
      .join(" ") || undefined,
);

/** A run of it ends as it should. */
export const runnable = rule("runnable", ({ run }) => {
  if ("refused" in run) return run.refused;
  return run.status === "completed" || run.status === "paused" ? undefined : `The run is ${run.status}: ${run.error ?? ""}`;
});

/** It has at least so many nodes of the type. */
export const has = (type: string, count = 1, data: Record<string, unknown> = {}): Rule => {
  const fits = (node: GraphNode) => Object.entries(data).every(([key, value]) => String(node.data[key]) === String(value));
  return rule(`has ${count} ${type}`, ({ graph }) => {
    const found = graph.nodes.filter((node) => node.type === type && fits(node)).length;
    return found >= count ? undefined : `It has ${found} ${type} ${JSON.stringify(data)}, and ${count} are needed.`;
  });
};

/** The trigger leads to every node, and to an Output that shows something which was worked out. */
export const reachesOutput = rule("data reaches the output", ({ graph }) => {
  const triggers = graph.nodes.filter(({ type }) => definitionOf(type)?.group === "trigger");
  const seen = reached(graph, triggers);
  const lost = graph.nodes.filter(({ id, type }) => !seen.has(id) && !definitionOf(type)?.isInert);
  if (lost.length) return `Nothing leads to ${lost.map(labelOf).join(", ")}.`;
  return graph.nodes.some(({ type }) => type === "outputNode") ? undefined : "There is no Output.";
});

/** Whatever a branch or a review may decide leads somewhere. */
export const everyWayLeads = rule("every way leads on", ({ graph }) => {
  const open = graph.nodes.flatMap((node) => {
    const rejects = definitionOf(node.type)?.rejects?.(node.data) ?? [];
    const led = new Set(outgoing(graph, node).map(({ sourceHandle }) => sourceHandle));
    return (handlesOf(node) ?? [])
      .filter((handle) => !rejects.includes(handle) && handle !== "body" && !led.has(handle))
      .map((way) => `${labelOf(node)} ${way}`);
  });
  return open.length ? `These ways lead nowhere: ${open.join(", ")}.` : undefined;
});

/** Failures of agents are passed on or retried, and do not simply end the run. */
export const failuresGoOn = rule("failures go on", ({ graph }) => {
  const bare = graph.nodes.filter(({ type, data }) => type === "agentNode" && data.on_error !== "continue");
  return bare.length ? `A failure of ${bare.map(labelOf).join(", ")} ends the run.` : undefined;
});

/** A field of some node of the type fits. */
export const fieldFits = (type: string, field: string, pattern: RegExp): Rule =>
  rule(`${type} ${field}`, ({ graph }) => {
    const values = graph.nodes.filter((node) => node.type === type).map(({ data }) => JSON.stringify(data[field] ?? null));
    return values.some((value) => pattern.test(value)) ? undefined : `${field} of ${type} is ${values.join(", ") || "nowhere"}.`;
  });

/** Nothing else than these nodes was changed or removed; what was added does not count. */
export const changesOnly = (...ids: string[]): Rule =>
  rule("leaves the rest alone", ({ before, graph }) => {
    const others = diffGraphs(before, graph).nodes.filter(({ id, kind }) => kind !== "added" && kind !== "moved" && !ids.includes(id));
    return others.length ? `It also ${others.map(({ kind, node }) => `${kind} ${labelOf(node)}`).join(", ")}.` : undefined;
  });

export const unchanged = rule("changes nothing", ({ before, graph, proposals }) => {
  const { nodes, edges } = diffGraphs(before, graph);
  return proposals + nodes.length + edges.length ? "It proposed a change." : undefined;
});

/** No node of the type is left. */
export const hasNo = (type: string): Rule =>
  rule(`has no ${type}`, ({ graph }) => (graph.nodes.some((node) => node.type === type) ? `It still has a ${type}.` : undefined));

export const says = (pattern: RegExp): Rule =>
  rule(`says ${pattern.source}`, ({ answer }) => (pattern.test(answer) ? undefined : `It said: ${answer.slice(0, 200)}`));

export const uses = (tool: string): Rule =>
  rule(`uses ${tool}`, ({ tools }) => (tools.includes(tool) ? undefined : `It called ${tools.join(", ") || "nothing"}.`));

/** No nodes lie on each other. Cards are about 240 by 90. */
export const readable = rule("nothing overlaps", ({ graph }) => {
  const placed = graph.nodes.filter(({ type }) => type !== "loopNode" && type !== "noteNode");
  const pair = placed.flatMap((one, at) =>
    placed
      .slice(at + 1)
      .filter(
        (two) =>
          one.parentId === two.parentId &&
          Math.abs(one.position.x - two.position.x) < 200 &&
          Math.abs(one.position.y - two.position.y) < 60,
      )
      .map((two) => `${labelOf(one)} and ${labelOf(two)}`),
  )[0];
  return pair && `${pair} lie on each other.`;
});
