import type { RunPicture } from "#components/runs/run-picture.ts";
import type { NodeScope } from "#server/engine/define-node.ts";
import { CREDENTIALS, matchName } from "#server/engine/expressions.ts";
import { definitionOf, labelOf, namesOf, upstreamOf } from "#server/engine/graph.ts";
import { makePlan } from "#server/engine/plan.ts";
import type { Graph, GraphNode } from "#server/schemas/graph.ts";

/** Something that an expression can read at a node. */
export interface ExpressionOption {
  /** Text between the braces, e.g. `Research.output`. */
  expression: string;
  nodeType: string;
  /** What it was in the run on the screen. */
  lastValue: string | null;
}

/** What the output of an HTTP trigger holds (specification, Trigger output expressions). */
const REQUEST_PARTS = ["body", "method", "headers", "query"];

/** What can be read of a node: its output and parts of it; of a loop that one is inside of, the item. */
function readable(node: GraphNode, isInside: boolean): string[] {
  const definition = definitionOf(node.type);
  if (isInside) return [...(definition?.body?.fields ?? [])];
  return ["output", ...Object.keys(definition?.fields ?? {})];
}

/** Everything upstream of a node, the nearest first, then the trigger, the execution and the project's credentials. What runs once for each item of a loop is only there inside of it. */
export function expressionOptions(graph: Graph, nodeId: string, scope: NodeScope, picture: RunPicture | null): ExpressionOption[] {
  const upstream = upstreamOf(graph, nodeId);
  const names = namesOf(graph, scope);
  const { loopsAround } = makePlan(graph);
  const around = loopsAround(nodeId);
  const nodes = graph.nodes.filter((node) => upstream.has(node.id) && loopsAround(node.id).every((loop) => around.includes(loop)));
  // Counting what leads to a node tells how far along it stands.
  const depth = new Map(nodes.map((node) => [node.id, upstreamOf(graph, node.id).size]));
  const trigger = graph.nodes.find((node) => node.type === "triggerNode");
  const lastOf = (id: string) => picture?.nodes[id]?.output ?? null;

  const outputs = nodes
    .filter((node) => node.type !== "triggerNode")
    .sort((a, b) => (depth.get(b.id) ?? 0) - (depth.get(a.id) ?? 0))
    .flatMap((node) =>
      readable(node, around.includes(node.id)).map((field) => ({
        expression: `${labelOf(node)}.${field}`,
        nodeType: node.type,
        lastValue: field === "output" ? lastOf(node.id) : null,
      })),
    );
  // An agent's own name is offered where it is not taken by a label.
  const aliases = names
    .filter((entry) => entry.isAlias && nodes.includes(entry.node) && matchName(names, entry.name)?.node.id === entry.node.id)
    .filter((entry) => entry.name !== labelOf(entry.node))
    .map((entry) => ({ expression: `${entry.name}.output`, nodeType: entry.node.type, lastValue: lastOf(entry.node.id) }));

  const isForm = trigger?.data.kind === "params";
  const parameters = isForm && Array.isArray(trigger.data.parameters) ? trigger.data.parameters : [];
  const fromTrigger: ExpressionOption[] = isForm
    ? parameters.map((parameter) => ({ expression: `trigger.${String(parameter?.name)}`, nodeType: "triggerNode", lastValue: null }))
    : [];
  fromTrigger.push({ expression: "trigger.output", nodeType: "triggerNode", lastValue: trigger ? lastOf(trigger.id) : null });
  if (trigger?.data.kind === "http")
    fromTrigger.push(...REQUEST_PARTS.map((part) => ({ expression: `trigger.output.${part}`, nodeType: "triggerNode", lastValue: null })));
  const credentials = (scope.credentialNames ?? []).map((name) => ({
    expression: `${CREDENTIALS}.${name}`,
    nodeType: "",
    lastValue: null,
  }));
  return [...outputs, ...fromTrigger, ...aliases, { expression: "execution.id", nodeType: "", lastValue: null }, ...credentials];
}

/** The beginning of an expression before the caret: where it starts, and what has been typed of it. */
export function openExpression(text: string, caret: number): { start: number; query: string } | null {
  const before = text.slice(0, caret);
  const braces = /\{\{\s*([^{}]*)$/.exec(before);
  if (braces) return { start: braces.index, query: braces[1] ?? "" };
  const slash = /(?:^|\s)\/([\w. ]{0,40})$/.exec(before);
  if (!slash) return null;
  return { start: slash.index + (slash[0].startsWith("/") ? 0 : 1), query: slash[1] ?? "" };
}

/** The text with the expression put where its beginning stood (closing braces that are there already are used). */
export function insertExpression(text: string, start: number, caret: number, expression: string): { text: string; caret: number } {
  const inserted = `{{${expression}}}`;
  const rest = text.slice(caret).replace(/^\s*\}\}/, "");
  return { text: text.slice(0, start) + inserted + rest, caret: start + inserted.length };
}
