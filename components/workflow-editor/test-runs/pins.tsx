"use client";

import { useState } from "react";
import { plural } from "#components/format.ts";
import { Button } from "#components/ui/button.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUiStore, useEditor, useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { pinnedNodes, unpin } from "#components/workflow-editor/test-runs/pinning.ts";

/** On the canvas's bar while outputs are pinned: which, and the ways to take them away. */
export function PinsPopover() {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const [isOpen, setIsOpen] = useState(false);
  const ids = useEditorShallow(pinnedNodes);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  if (ids.length === 0) return null;
  const { nodes, data } = editor.getState();
  return (
    <Popover
      label="Pinned outputs"
      side="top"
      align="start"
      open={isOpen}
      onOpenChange={setIsOpen}
      className="max-h-80 w-80 overflow-y-auto p-1.5"
      trigger={
        <button
          type="button"
          aria-label={plural(ids.length, "pinned output")}
          className="ml-0.5 inline-flex h-7 pointer-coarse:h-11 items-center gap-1 rounded-md px-1.5 font-semibold text-12 text-role-human tabular hover:bg-hover"
        >
          <span aria-hidden className="size-2 rounded-full bg-role-human" />
          {ids.length}
        </button>
      }
    >
      <p className="px-2 py-1 text-12 text-ink-soft">Runs from this editor take these outputs instead of running the nodes.</p>
      <ul className="flex flex-col">
        {ids.map((id) => {
          const type = nodes.find((node) => node.id === id)?.type;
          const label = labelOf(data[id], type);
          return (
            <li key={id} className="flex items-center gap-2 rounded-md px-2 py-1">
              <NodeIcon type={type} className="size-5" />
              <button
                type="button"
                className="h-6 min-w-0 flex-1 truncate text-left font-semibold text-12 hover:underline"
                onClick={() => {
                  setIsOpen(false);
                  editor.getState().selectOnly(id);
                  ui.getState().goTo(id, null);
                }}
              >
                {label}
              </button>
              {!isReadOnly && (
                <button
                  type="button"
                  aria-label={`Unpin ${label}`}
                  className="h-6 shrink-0 rounded-sm px-1 text-12 text-thread-text hover:underline"
                  onClick={() => unpin(editor, [id])}
                >
                  Unpin
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {!isReadOnly && ids.length > 1 && (
        <Button size="sm" className="m-1.5" onClick={() => unpin(editor, ids)}>
          Unpin all
        </Button>
      )}
    </Popover>
  );
}
