import { referencesOf } from "#server/engine/expressions.ts";
import { definitionOf, templateFields } from "#server/engine/graph.ts";
import { triggerNode } from "#server/engine/nodes/trigger-node.ts";
import type { Graph } from "#server/schemas/graph.ts";

export type TriggerConfig = ReturnType<typeof triggerNode.config.parse>;

/** Config of the workflow's trigger; its defaults when there is none or it cannot be read. */
export function triggerOf(graph: Graph): TriggerConfig {
  const parsed = triggerNode.config.safeParse(graph.nodes.find((node) => node.type === triggerNode.type)?.data ?? {});
  return parsed.success ? parsed.data : triggerNode.config.parse({});
}

/**
 * Whether a run asks for something first: a form always does, a text only when something reads it: an expression, or a
 * node right behind the trigger that passes on what came before.
 */
export function needsInput(graph: Graph): boolean {
  const trigger = triggerOf(graph);
  if (trigger.kind === "params") return trigger.parameters.length > 0;
  if (trigger.kind === "manual" && trigger.input_label) return true;
  const triggerIds = new Set(graph.nodes.filter((node) => node.type === triggerNode.type).map((node) => node.id));
  const followers = new Set(graph.edges.filter((edge) => triggerIds.has(edge.source)).map((edge) => edge.target));
  return graph.nodes.some((node) => {
    const definition = definitionOf(node.type);
    if (!definition || definition.isInert) return false;
    const texts = templateFields(definition).map((field) => String(node.data[field] ?? ""));
    if (followers.has(node.id) && texts.some((text) => text.trim() === "")) return true;
    return texts.some((text) => referencesOf(text).some((reference) => reference.head === "trigger"));
  });
}
