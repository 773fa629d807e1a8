"use client";

import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { SeverityIcon } from "#components/workflow-editor/problems/severity.tsx";
import type { Problem } from "#server/workflow/schema.ts";

/** Problems as sentences, each with the way to its field. @param onGo called before one goes there */
export function ProblemRows({ rows, onGo }: { rows: readonly Problem[]; onGo: () => void }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const go = (id: string, field: string | null) => {
    onGo();
    editor.getState().settle();
    editor.getState().selectOnly(id);
    ui.getState().goTo(id, field);
  };
  return (
    <ul className="flex flex-col">
      {rows.map(({ node_id, field, message, severity }) => {
        const node = node_id === null ? undefined : editor.getState().nodes.find((candidate) => candidate.id === node_id);
        return (
          <li key={`${node_id} ${field} ${message}`} className="flex items-start gap-2 rounded-md px-2 py-1.5">
            <NodeIcon type={node?.type} className="mt-0.5 size-5" />
            <span className="min-w-0 flex-1 text-12">
              <SeverityIcon severity={severity} className="mr-1 inline size-3.5 align-text-bottom" />
              {severity === "warning" && <span className="sr-only">Warning: </span>}
              {node && <span className="font-semibold">{labelOf(editor.getState().data[node.id], node.type)}: </span>}
              <span className="text-ink-soft">{message}</span>
            </span>
            {node && (
              <button
                type="button"
                className="h-6 shrink-0 rounded-sm px-1 text-12 text-thread-text hover:underline pointer-coarse:h-11"
                onClick={() => go(node.id, field)}
              >
                Go to fix
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
