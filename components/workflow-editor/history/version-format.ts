import { formatSpan, plural, SPAN_UNITS } from "#components/format.ts";
import { describeField } from "#components/forms/describe-field.ts";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { nodeUiOf } from "#components/workflow-editor/nodes/node-registry.ts";
import type { NodeLookups } from "#components/workflow-editor/nodes/types.ts";
import { own } from "#server/shared/json-text.ts";
import { countDiff, type DiffCounts, type EdgeDiff, type GraphDiff } from "#server/workflow/diff.ts";
import { definitionOf, handleTitle } from "#server/workflow/graph.ts";
import type { GraphMerge } from "#server/workflow/merge.ts";
import { type Graph, Pinned } from "#server/workflow/schema.ts";

/** "1 added, 2 changed, 1 connection"; null when a save changed nothing on the canvas. */
export function formatDiffCounts({ nodes_added, nodes_changed, nodes_removed, edges_changed }: DiffCounts): string | null {
  const parts = [
    nodes_added && `${nodes_added} added`,
    nodes_changed && `${nodes_changed} changed`,
    nodes_removed && `${nodes_removed} removed`,
    edges_changed && plural(edges_changed, "connection"),
  ].filter(Boolean);
  return parts.length ? parts.join(", ") : null;
}

/** The same of a diff, where what is only moved counts too. */
export const formatDiff = (diff: GraphDiff): string =>
  formatDiffCounts(countDiff(diff)) ?? (diff.nodes.length ? "only moved" : "nothing changed");

/** "By you: 1 changed · by them: 1 added · by both: nothing": who did what to a workflow that two changed. */
export function formatMerge({ mine, theirs, both }: Pick<GraphMerge, "mine" | "theirs" | "both">): string {
  const words = (diff: GraphDiff) => (diff.nodes.length + diff.edges.length === 0 ? "nothing" : formatDiff(diff));
  // On either side of what both changed stands something else: the kind says nothing, the number does.
  const count = both.nodes.length + both.edges.length;
  return `By you: ${words(mine)} · by them: ${words(theirs)} · by both: ${count === 0 ? "nothing" : `${count} changed`}`;
}

const OWN_TITLES: Record<string, string> = {
  label: "Name",
  type: "Type",
  source: "From",
  sourceHandle: "Way out",
  target: "To",
  targetHandle: "Way in",
  parentId: "Inside of",
  pinned: "Pinned output",
  to_do: "Left to do by the import",
};

/** What the node's panel calls a field. */
export function fieldTitle(type: string, field: string): string {
  const schema = own(definitionOf(type)?.config.shape, field);
  const title = schema && describeField(schema).title;
  const words = field.replaceAll("_", " ");
  return title ?? own(OWN_TITLES, field) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** What the names are of what ids stand for, as far as they are known. */
interface Names {
  agent: NodeLookups["agentName"];
  workflow(id: string): string | undefined;
}

/** A value as people read it; of a field that is not set, what it is then. */
export function formatFieldValue(type: string, field: string, given: unknown, names: Names): string {
  if (field === "disabled") return given === true ? "on" : "off";
  if (field === "pinned") return Pinned.safeParse(given).data?.output ?? "(none)";
  const value = given ?? own(definitionOf(type)?.config.safeParse({}).data, field);
  if (value === null || value === undefined || value === "") return "(empty)";
  if (typeof value === "boolean") return value ? "on" : "off";
  const { widget, unit } = own(definitionOf(type)?.config.shape, field)?.meta() ?? {};
  if (widget === "agent" && typeof value === "string") return names.agent(value) ?? value;
  if (widget === "workflow" && typeof value === "string") return names.workflow(value) ?? value;
  if (widget === "duration" && typeof value === "number") return formatSpan(value * (unit === "hour" ? SPAN_UNITS.hour : 1));
  const choice = own(own(nodeUiOf(type)?.choices, field), String(value));
  if (choice) return choice.label;
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

/** "from Start to Research", with the way out where the node has several. */
export function formatEdge({ edge }: EdgeDiff, ...graphs: readonly Graph[]): string {
  const nodes = graphs.flatMap((graph) => graph.nodes);
  const name = (id: string) => {
    const node = nodes.find((candidate) => candidate.id === id);
    return node ? labelOf(node.data, node.type) : id;
  };
  const source = nodes.find(({ id }) => id === edge.source);
  const way = edge.sourceHandle ? ` (${source ? handleTitle(source, edge.sourceHandle) : edge.sourceHandle})` : "";
  return `from ${name(edge.source)}${way} to ${name(edge.target)}`;
}
