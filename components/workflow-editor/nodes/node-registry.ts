import { isNodeType, type NodeData } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { nodeUis } from "#components/workflow-editor/nodes/registry.gen.ts";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

/** How a type looks, for code that works with any; undefined for a type that this version does not know. */
export const nodeUiOf = (type: string | undefined): NodeUi | undefined =>
  isNodeType(type) ? (nodeUis[type] as unknown as NodeUi) : undefined;

/**
 * What is said of a node while it waits.
 * @param until when that is over at the latest, ISO 8601
 */
export function waitingText(type: string | undefined, data: NodeData, until: string | undefined): string {
  const waits = nodeUiOf(type)?.waits;
  return waits && isNodeType(type) ? waits(configOf(type, data) as never, until) : "Waiting";
}

const parsed = new WeakMap<NodeData, Record<string, unknown>>();

/** Config of a node with defaults in place of what is missing or cannot be read, so that a half-filled node can be drawn. */
export function configOf(type: NodeType, data: NodeData): Record<string, unknown> {
  const known = parsed.get(data);
  if (known) return known;
  const schema = definitionOf(type)?.config;
  if (!schema) return data;
  const whole = schema.safeParse(data);
  let config: Record<string, unknown>;
  if (whole.success) config = whole.data;
  else {
    const bad = new Set(whole.error.issues.map((issue) => issue.path[0]));
    const rest = schema.safeParse(Object.fromEntries(Object.entries(data).filter(([key]) => !bad.has(key))));
    config = rest.success ? rest.data : { ...schema.parse({}) };
  }
  parsed.set(data, config);
  return config;
}
