import { definitionOf } from "#server/workflow/graph.ts";
import type { NodeGroup } from "#server/workflow/nodes/definition.ts";
import { type NodeType, nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";

const GROUPS: Record<NodeGroup, string> = {
  trigger: "Triggers",
  agent: "Agents",
  logic: "Logic",
  data: "Data",
  human: "People",
  output: "Output",
  note: "Notes",
};
const ORDER = Object.keys(GROUPS);

export interface NodeChoice {
  type: NodeType;
  title: string;
  summary: string;
  group: string;
}

/** Every type that can be added, by group; the trigger is there from the start and stays the only one. */
export const nodeChoices: readonly NodeChoice[] = (Object.keys(nodeDefinitions) as NodeType[])
  .flatMap((type) => {
    const definition = definitionOf(type);
    return definition && definition.group !== "trigger" ? [{ type, definition }] : [];
  })
  .sort((a, b) => ORDER.indexOf(a.definition.group) - ORDER.indexOf(b.definition.group))
  .map(({ type, definition }) => ({ type, title: definition.title, summary: definition.summary, group: GROUPS[definition.group] }));

/** Type of what is dragged from the palette onto the canvas. */
export const NODE_DRAG_TYPE = "application/x-treadle-node";
/** Is there too when it is a note: what is dragged can be told from the types alone, and no loop takes a note. */
export const NOTE_DRAG_TYPE = "application/x-treadle-note";
