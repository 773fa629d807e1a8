import { pythonTokens } from "#components/workflow-editor/fields/python-text.ts";
import type { NodeConfig } from "#components/workflow-editor/nodes/types.ts";
import { isDisabled, workOf } from "#server/workflow/disabled.ts";
import { referencesOf, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, labelOf, passesContent } from "#server/workflow/graph.ts";
import { type NodeText, textsOf } from "#server/workflow/node-texts.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** Config of the workflow's trigger; its defaults when there is none or it cannot be read. */
export function triggerOf(graph: Graph): NodeConfig<"triggerNode"> {
  const parsed = triggerNode.config.safeParse(graph.nodes.find((node) => node.type === triggerNode.type)?.data ?? {});
  return parsed.success ? parsed.data : triggerNode.config.parse({});
}

/**
 * Nodes to which the trigger's own text comes: those right behind it, and behind what is switched off or only decides there.
 * @param isLiteral leaves out those behind a decision: a condition there reads the decision
 */
function nodesBehind(graph: Graph, triggerId: string, isLiteral: boolean): ReadonlySet<string> {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const found = new Set<string>();
  const open = [triggerId];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const { source, target } of graph.edges) {
      if (source !== id || found.has(target)) continue;
      found.add(target);
      const node = byId.get(target);
      if (isDisabled(node) || (!isLiteral && node && passesContent(node, definitionOf(node.type), null))) open.push(target);
    }
  return found;
}

/** Whether a Python condition reads one of these names; inside an f-string too. */
function usesName(condition: string, names: readonly string[]): boolean {
  return pythonTokens(condition).some(({ kind, text }) =>
    kind === "string"
      ? /^[rR]?[fF]/.test(text) && (text.match(/\{[^{}]*\}/g) ?? []).some((part) => usesName(part.slice(1, -1), names))
      : kind === "known" && names.includes(text),
  );
}

/** Whether a node reads what the trigger left behind, by whichever of its names. */
function readerOf(graph: Graph, trigger: GraphNode): (node: GraphNode) => boolean {
  const behind = nodesBehind(graph, trigger.id, false);
  const rightBehind = nodesBehind(graph, trigger.id, true);
  const labels = graph.nodes.filter((node) => !definitionOf(node.type)?.isInert).map((node) => [node.id, labelOf(node)] as const);
  const names = namesFrom(labels);
  // What would have to be written anew if the trigger were called otherwise reads it by its label.
  const renamed = namesFrom(labels.map(([id, label]) => [id, id === trigger.id ? `${label} \u2060` : label]));
  return (node) => {
    const definition = workOf(node);
    if (!definition || definition.isInert || node.id === trigger.id || isDisabled(node)) return false;
    const config = definition.config.safeParse(node.data);
    const templates = textsOf(definition, config.success ? config.data : node.data, "template");
    const isBehind = behind.has(node.id);
    // A review asks with a title and shows only its content from before.
    const isOwn = (path: string) => (definition.input === undefined ? !path.includes(".") : path === definition.input);
    const takes = definition.takesUpstream
      ? config.success && definition.takesUpstream(config.data)
      : templates.some(({ path, text }) => isOwn(path) && text.trim() === "");
    if (isBehind && takes) return true;
    const isTrigger = (head: string) => head === "trigger" || (names.read(head) === undefined && slugOf(head) === "trigger");
    const isRead = ({ text }: NodeText) =>
      referencesOf(text, names.isName).some(({ head }) => isTrigger(head) || names.read(head) === trigger.id);
    if (templates.some(isRead)) return true;
    const conditions = textsOf(definition, node.data, "python").map(({ text }) => text);
    const atHand = rightBehind.has(node.id) ? ["output", "trigger_output"] : ["trigger_output"];
    if (conditions.some((text) => usesName(text, atHand) || /\bnode_outputs\s*\.\s*(?:values|items)\b/.test(text))) return true;
    return conditions.length > 0 && withNames(node.type, node.data, names, renamed) !== node.data;
  };
}

/**
 * Whether a run asks for something first: a form always does, a text only when something reads it: an expression or a
 * condition, under any of the trigger's names, or a node right behind the trigger that passes on what came before.
 */
export function needsInput(graph: Graph): boolean {
  const config = triggerOf(graph);
  if (config.kind === "params") return config.parameters.length > 0;
  if (config.kind === "manual" && config.input_label) return true;
  const trigger = graph.nodes.find((node) => node.type === triggerNode.type);
  return trigger !== undefined && graph.nodes.some(readerOf(graph, trigger));
}
