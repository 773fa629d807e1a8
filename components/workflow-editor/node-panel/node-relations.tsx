"use client";

import { Plus } from "lucide-react";
import { useMemo } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { useCanvasUiStore, useEditor, useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { relationsOf } from "#components/workflow-editor/node-panel/relations.ts";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";

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
          <h3 className="flex min-h-6 items-center justify-between font-medium text-12 text-ink">
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
                    className="flex min-h-9 w-full items-center gap-2 px-2 py-1 text-left text-13 hover:bg-hover"
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
