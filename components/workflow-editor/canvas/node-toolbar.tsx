"use client";

import { NodeToolbar, Position } from "@xyflow/react";
import { IconButton } from "#components/ui/icon-button.tsx";
import { canvasActions } from "#components/workflow-editor/canvas/node-actions.tsx";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** A finger does not hover. */
const isTouch = () => matchMedia("(pointer: coarse)").matches;

/** Above the card under the pointer (with a finger: the one that is selected): what is done to it most. The rest is in its menu. */
export function HoverToolbar() {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const hovered = useCanvasUi((state) => state.hoveredNode);
  const isBusy = useCanvasUi((state) => state.menu !== null || state.refusals !== null || state.palette !== null);
  const id = useEditor((state) => {
    if (hovered !== null || !isTouch()) return state.nodes.some((node) => node.id === hovered && !node.dragging) ? hovered : null;
    const selected = state.nodes.filter((node) => node.selected);
    return selected.length === 1 && selected[0] && !selected[0].dragging ? selected[0].id : null;
  });
  // Labels such as Enable follow what they change.
  useEditor((state) => (id === null ? null : state.data[id]));
  const more = useCanvasUi((state) => state.moreActions);
  if (id === null || isBusy) return null;
  const actions = [...(more?.([id]) ?? []), ...canvasActions(editor, ui, [id])].filter((action) => action.isInToolbar && !action.refusal);
  if (actions.length === 0) return null;
  return (
    <NodeToolbar nodeId={id} isVisible position={Position.Top} offset={0} className="pb-1.5">
      <div
        role="toolbar"
        aria-label="Node actions"
        className="flex gap-0.5 rounded-lg border border-line-strong bg-raised p-0.5 shadow-md"
        onPointerEnter={() => ui.getState().hoverNode(id)}
        onPointerLeave={() => ui.getState().hoverNode(null)}
      >
        {actions.map((action) => (
          <IconButton
            key={action.id}
            label={action.label}
            icon={action.icon}
            size="sm"
            className={action.tone === "danger" ? "hover:text-failed" : undefined}
            {...(action.shortcut && { shortcut: action.shortcut })}
            onClick={() => action.run()}
          />
        ))}
      </div>
    </NodeToolbar>
  );
}
