import { nearestName, shownName } from "#server/workflow/expressions.ts";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";

/** Fields of a node's data that every type may have and that people write. */
export const COMMON_FIELDS = ["label", "disabled", "pinned", "collapsed"] as const;

/** Fields that the service writes: what an import left to do, and a secret that is kept elsewhere. */
const OWN_FIELDS = ["to_do", "imported_agent", "webhook_secret"];

/** Names of the fields that a node of this type can have. */
export const fieldNames = ({ config }: Pick<NodeDefinition, "config">): string[] => [...COMMON_FIELDS, ...Object.keys(config.shape)];

/** Fields that no node of this type has. They are kept, and have no effect. */
export function unknownFields(definition: Pick<NodeDefinition, "config">, data: Readonly<Record<string, unknown>>): string[] {
  const known = new Set([...fieldNames(definition), ...OWN_FIELDS]);
  return Object.keys(data).filter((name) => !known.has(name));
}

/** Says which field was probably meant. */
export function unknownFieldText({ title, config }: Pick<NodeDefinition, "title" | "config">, name: string): string {
  const near = nearestName(fieldNames({ config }), name);
  const advice = near === undefined ? "Remove it, or check its spelling." : `Did you mean "${near}"?`;
  return `${title} nodes have no field "${shownName(name)}", so it has no effect. ${advice}`;
}
