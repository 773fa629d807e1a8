import { findFaults } from "#server/engine/graph.ts";
import { AppError } from "#server/errors.ts";
import type { Graph, GraphNode } from "#server/schemas/graph.ts";
import { triggerFaults } from "#server/services/workflows/trigger-faults.ts";

/** What React Flow adds while a canvas is open; it says nothing about the workflow. */
const VOLATILE = ["selected", "dragging", "resizing", "measured"];

const settled = <Item extends Graph["nodes"][number] | Graph["edges"][number]>(item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([key]) => !VOLATILE.includes(key))) as Item;

/** A graph without what only the open canvas needs. */
export const settledGraph = ({ nodes, edges }: Graph): Graph => ({ nodes: nodes.map(settled), edges: edges.map(settled) });

/**
 * The graph as it is saved.
 * @throws AppError VALIDATION_ERROR that lists every structural fault
 */
export function checkedGraph(graph: Graph): Graph {
  const faults = findFaults(graph);
  if (!faults.length) faults.push(...triggerFaults(graph));
  if (faults.length) {
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
    throw new AppError("VALIDATION_ERROR", `${faults[0]?.message}${more}`, {
      errors: faults.map(({ path, message }) => ({ path, message })),
    });
  }
  return settledGraph(graph);
}

/** What a workflow starts with: one manual trigger. */
export const firstGraph = (): Graph => ({
  nodes: [{ id: "trigger", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual", default_input: "" } }],
  edges: [],
});

/** The one trigger of a saved graph. */
export const triggerOf = (graph: Graph): GraphNode | undefined => graph.nodes.find((node) => node.type === "triggerNode");

/** Kind of the trigger, for lists. */
export function triggerKind(graph: Graph): string {
  const kind = triggerOf(graph)?.data.kind;
  return typeof kind === "string" ? kind : "manual";
}
