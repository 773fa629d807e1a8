"use client";

import { Plus } from "lucide-react";
import { useMemo } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { useCanvasUiStore, useEditor, useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { type IsName, isNameOf, matchName, referencesOf } from "#server/workflow/expressions.ts";
import { definitionOf, handleTitle, labelOf } from "#server/workflow/graph.ts";
import { fieldOf, textsOf } from "#server/workflow/node-texts.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

/** What stands around a node: what leads to it, what follows, and who reads it. A click goes there. */
export function NodeRelations({ nodeId, onNext }: { nodeId: string; onNext: ((handle?: string) => void) | null }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const edges = useEditor((state) => state.edges);
  const data = useEditorShallow((state) => Object.values(state.data));
  // biome-ignore lint/correctness/useExhaustiveDependencies: edges and data are what is read of the graph
  const groups = useMemo(() => relationsOf(editor.getState().graph(), nodeId), [editor, nodeId, edges, data]);
  const go = (id: string) => {
    editor.getState().selectOnly(id);
    ui.getState().goTo(id, null);
  };
  return (
    <div className="flex flex-col gap-4">
      {groups.map(({ title, otherwise, relations, isAfter }) => (
        <section key={title} className="flex flex-col gap-1.5">
          <h3 className="flex min-h-6 items-center justify-between font-semibold text-12 text-ink">
            {title}
            {isAfter && onNext && <IconButton label="Add what follows" size="sm" icon={<Plus />} onClick={() => onNext()} />}
          </h3>
          {relations.length === 0 ? (
            <p className="text-12 text-ink-faint">{otherwise}</p>
          ) : (
            <ul aria-label={title} className="flex flex-col divide-y divide-line rounded-md border">
              {relations.map(({ key, id, type, label, note }) => (
                <li key={key}>
                  <button
                    type="button"
                    className="flex min-h-9 w-full items-center gap-2 px-2 py-1 text-left text-14 hover:bg-hover"
                    onClick={() => go(id)}
                  >
                    <NodeIcon type={type} className="size-5" />
                    <span className="min-w-0 flex-1 truncate">{label}</span>
                    {note !== "" && <Badge>{note}</Badge>}
                  </button>
                </li>
              ))}
            </ul>
          )}
        </section>
      ))}
    </div>
  );
}

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
  const reading = textsOf(definition, reader.data, "template").flatMap(({ path, text }) =>
    referencesOf(text, isName).some(({ head }) => matchName([{ name: label }], head)) ? [fieldOf(path)] : [],
  );
  return [...new Set(reading)].map((field) => definition.config.shape[field]?.meta()?.title ?? field);
}

/** What leads to a node, what follows it, and what reads it by its label. */
export function relationsOf({ nodes, edges }: Graph, nodeId: string): RelationGroup[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const own = byId.get(nodeId);
  const relation = (key: string, id: string, note: string): Relation[] => {
    const node = byId.get(id);
    return node ? [{ key, id, type: node.type, label: labelOf(node), note }] : [];
  };
  const wayOf = ({ source, sourceHandle }: GraphEdge) => {
    const node = byId.get(source);
    return node && sourceHandle ? handleTitle(node, sourceHandle) : "";
  };
  const isTrigger = own !== undefined && definitionOf(own.type)?.group === "trigger";
  const isName = isNameOf(nodes.map(labelOf));
  const name = own && (isTrigger ? "trigger" : labelOf(own));
  const groups: RelationGroup[] = [
    {
      title: "Before",
      otherwise: "Nothing leads here.",
      relations: edges.flatMap((edge) => (edge.target === nodeId ? relation(edge.id, edge.source, wayOf(edge)) : [])),
      isAfter: false,
    },
    {
      title: "After",
      otherwise: "Nothing follows.",
      relations: edges.flatMap((edge) => (edge.source === nodeId ? relation(edge.id, edge.target, wayOf(edge)) : [])),
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
