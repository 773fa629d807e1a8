import { type IsName, isNameOf, matchName, referencesOf } from "#server/workflow/expressions.ts";
import { definitionOf, labelOf, templateFields } from "#server/workflow/graph.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

export interface Relation {
  key: string;
  id: string;
  type: string;
  label: string;
  /** The way that leads there, or the field that reads. */
  note: string;
}

export interface RelationGroup {
  title: string;
  /** What is said when there is none. */
  otherwise: string;
  relations: Relation[];
  isAfter: boolean;
}

/** Titles of a node's fields that read another one by its label. */
function fieldsReading(reader: GraphNode, label: string, isName: IsName | undefined): string[] {
  const definition = definitionOf(reader.type);
  if (!definition) return [];
  return templateFields(definition).flatMap((field) => {
    const isReading = referencesOf(String(reader.data[field] ?? ""), isName).some(({ head }) => matchName([{ name: label }], head));
    return isReading ? [definition.config.shape[field]?.meta()?.title ?? field] : [];
  });
}

/** What leads to a node, what follows it, and what reads it by its label. */
export function relationsOf({ nodes, edges }: Graph, nodeId: string): RelationGroup[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const own = byId.get(nodeId);
  const relation = (key: string, id: string, note: string): Relation[] => {
    const node = byId.get(id);
    return node ? [{ key, id, type: node.type, label: labelOf(node), note }] : [];
  };
  const isTrigger = own !== undefined && definitionOf(own.type)?.group === "trigger";
  const isName = isNameOf(nodes.map(labelOf));
  const name = own && (isTrigger ? "trigger" : labelOf(own));
  const groups: RelationGroup[] = [
    {
      title: "Before",
      otherwise: "Nothing leads here.",
      relations: edges.flatMap((edge) => (edge.target === nodeId ? relation(edge.id, edge.source, edge.sourceHandle ?? "") : [])),
      isAfter: false,
    },
    {
      title: "After",
      otherwise: "Nothing follows.",
      relations: edges.flatMap((edge) => (edge.source === nodeId ? relation(edge.id, edge.target, edge.sourceHandle ?? "") : [])),
      isAfter: true,
    },
    {
      title: "Read by",
      otherwise: "No expression reads it by its label.",
      relations: nodes.flatMap((node) =>
        name === undefined || node.id === nodeId
          ? []
          : fieldsReading(node, name, isName).flatMap((field) => relation(`${node.id} ${field}`, node.id, field)),
      ),
      isAfter: false,
    },
  ];
  return isTrigger ? groups.slice(1) : groups;
}
