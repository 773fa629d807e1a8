"use client";

import { useReactFlow } from "@xyflow/react";
import { ClipboardPaste, Grid3x3, Maximize, Plus, SquareDashedMousePointer, Workflow } from "lucide-react";
import { Fragment } from "react";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { MOD } from "#components/workflow-editor/canvas/control-bar.tsx";
import { fromClipboard } from "#components/workflow-editor/canvas/document/clipboard.ts";
import { FIT } from "#components/workflow-editor/canvas/fit.ts";
import { canvasActions, type NodeAction } from "#components/workflow-editor/canvas/node-actions.tsx";
import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** The context menu of the canvas: on a node, on all that are selected, or on the bare canvas. */
export function NodeMenu({ onAdd, onPoint, onClose }: { onAdd: () => void; onPoint: () => { x: number; y: number }; onClose: () => void }) {
  const menu = useCanvasUi((state) => state.menu);
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const paneActions = usePaneActions(onAdd, onPoint);
  if (!menu) return null;
  const more = ui.getState().moreActions;
  const actions = menu.nodeIds.length ? [...(more?.(menu.nodeIds) ?? []), ...canvasActions(editor, ui, menu.nodeIds)] : paneActions();
  if (actions.length === 0) return null;
  const groups = [...Map.groupBy(actions, (action) => action.group)].sort(([a], [b]) => a - b);
  return (
    <Menu
      key={`${menu.x} ${menu.y} ${menu.nodeIds.join(" ")}`}
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) ui.setState({ menu: null });
      }}
      onCloseAutoFocus={(event) => {
        event.preventDefault();
        // What was chosen may have opened something that took the focus already.
        if (document.activeElement === document.body || document.activeElement === null) onClose();
      }}
      align="start"
      label={menu.nodeIds.length ? "Node actions" : "Canvas actions"}
      trigger={<span aria-hidden className="pointer-events-none fixed size-0" style={{ left: menu.x, top: menu.y }} />}
    >
      {groups.map(([group, items], index) => (
        <Fragment key={group}>
          {index > 0 && <MenuSeparator />}
          {items.map((action) => (
            <MenuItem
              key={action.id}
              icon={action.icon}
              {...(action.shortcut && { shortcut: action.shortcut })}
              {...(action.tone && { tone: action.tone })}
              disabled={action.refusal !== undefined}
              onSelect={() => action.run()}
            >
              {action.label}
              {action.refusal && <span className="block whitespace-normal text-11">{action.refusal}</span>}
            </MenuItem>
          ))}
        </Fragment>
      ))}
    </Menu>
  );
}

/** What can be done where no node is. */
function usePaneActions(onAdd: () => void, onPoint: () => { x: number; y: number }): () => NodeAction[] {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const flow = useReactFlow();
  return () => {
    const state = editor.getState();
    const { isSnapping } = ui.getState();
    const fit: NodeAction = {
      ...{ id: "fit", label: "Fit to screen", icon: <Maximize />, shortcut: ["⇧", "1"], group: 30 },
      run: () => void flow.fitView({ ...FIT, duration: 160 }),
    };
    if (state.isReadOnly) return [fit];
    return [
      { id: "add", label: "Add node", icon: <Plus />, shortcut: ["N"], group: 10, run: onAdd },
      {
        ...{ id: "paste", label: "Paste", icon: <ClipboardPaste />, shortcut: [MOD, "V"], group: 10 },
        run: () => {
          const place = onPoint();
          const refuse = () => state.say("There are no copied nodes to paste.");
          navigator.clipboard.readText().then((text) => {
            const graph = fromClipboard(text);
            if (graph) editor.getState().paste(graph, place);
            else refuse();
          }, refuse);
        },
      },
      { id: "all", label: "Select all", icon: <SquareDashedMousePointer />, shortcut: [MOD, "A"], group: 20, run: state.selectAll },
      { id: "tidy", label: "Tidy up", icon: <Workflow />, shortcut: ["⇧", "T"], group: 20, run: () => void state.tidy() },
      {
        ...{ id: "snap", label: isSnapping ? "Stop snapping to the grid" : "Snap to the grid", icon: <Grid3x3 />, group: 20 },
        run: () => ui.setState({ isSnapping: !isSnapping }),
      },
      fit,
    ];
  };
}
