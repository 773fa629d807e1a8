"use client";

import { NodeToolbar, Position, useReactFlow } from "@xyflow/react";
import {
  AlignCenterHorizontal,
  AlignCenterVertical,
  AlignEndHorizontal,
  AlignEndVertical,
  AlignHorizontalDistributeCenter,
  AlignStartHorizontal,
  AlignStartVertical,
  AlignVerticalDistributeCenter,
  ChevronsDownUp,
  ChevronsUpDown,
  ClipboardPaste,
  Copy,
  Files,
  Grid3x3,
  Maximize,
  PackageOpen,
  PackagePlus,
  PenLine,
  Plus,
  Power,
  PowerOff,
  Spline,
  SquareDashedMousePointer,
  Trash2,
  Workflow,
} from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { fromClipboard, toClipboard } from "#components/workflow-editor/canvas/document/clipboard.ts";
import { selectedGraph } from "#components/workflow-editor/canvas/document/edits.ts";
import { ARRANGEMENTS, type Arrangement, arrangeNodes } from "#components/workflow-editor/canvas/layout/arrange.ts";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { CanvasUiStore, NodeAction } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import type { EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { FIT } from "#components/workflow-editor/canvas/use-view.ts";
import { definitionOf } from "#server/workflow/graph.ts";

const ARRANGE_ICONS: Record<Arrangement, ReactNode> = {
  left: <AlignStartVertical />,
  center: <AlignCenterVertical />,
  right: <AlignEndVertical />,
  top: <AlignStartHorizontal />,
  middle: <AlignCenterHorizontal />,
  bottom: <AlignEndHorizontal />,
  across: <AlignHorizontalDistributeCenter />,
  down: <AlignVerticalDistributeCenter />,
};

/** What the canvas itself can do to nodes; what has to do with runs comes from the editor around it. */
export function canvasActions(editor: EditorStore, ui: CanvasUiStore, nodeIds: readonly string[]): NodeAction[] {
  const state = editor.getState();
  const ids = new Set(nodeIds);
  const nodes = state.nodes.filter((node) => ids.has(node.id));
  const only = nodes.length === 1 ? nodes[0] : undefined;
  const working = nodes.filter((node) => {
    const definition = definitionOf(node.type ?? "");
    return definition && !definition.isInert && definition.group !== "trigger";
  });
  const isOff = working.length > 0 && working.every((node) => state.data[node.id]?.disabled === true);
  const isLoop = only && definitionOf(only.type ?? "")?.body !== undefined;
  const isCollapsed = only && state.data[only.id]?.collapsed === true;
  const isTrigger = only && definitionOf(only.type ?? "")?.group === "trigger";
  const hasWayOut = only && !definitionOf(only.type ?? "")?.isInert && definitionOf(only.type ?? "")?.handles?.length !== 0;
  const actions: (NodeAction | false | undefined)[] = [
    only && {
      id: "rename",
      label: "Rename",
      icon: <PenLine />,
      shortcut: ["F2"],
      group: 20,
      run: () => ui.getState().goTo(only.id, "label"),
    },
    hasWayOut && {
      ...{ id: "connect", label: "Connect to…", icon: <Spline />, shortcut: ["C"], group: 20 },
      run: () => ui.setState({ connectFrom: { nodeId: only.id, handle: null } }),
    },
    working.length > 0 && {
      ...{ id: "disable", label: isOff ? "Enable" : "Disable", icon: isOff ? <Power /> : <PowerOff />, shortcut: ["D"] },
      ...{ group: 20, isInToolbar: true },
      run: () => state.setDisabled(nodeIds, !isOff),
    },
    isLoop && {
      ...{
        id: "collapse",
        label: isCollapsed ? "Expand loop" : "Collapse loop",
        icon: isCollapsed ? <ChevronsUpDown /> : <ChevronsDownUp />,
      },
      ...{ group: 20, isInToolbar: true },
      run: () => state.toggleCollapsed(only.id),
    },
    !isTrigger && {
      ...{ id: "duplicate", label: "Duplicate", icon: <Files />, shortcut: [MOD, "D"], group: 30, isInToolbar: true },
      run: () => state.paste(selectedGraph({ ...state, nodes: state.nodes.map((node) => ({ ...node, selected: ids.has(node.id) })) })),
    },
    {
      ...{ id: "copy", label: "Copy as JSON", icon: <Copy />, shortcut: [MOD, "C"], group: 30 },
      run: () => {
        const graph = selectedGraph({ ...state, nodes: state.nodes.map((node) => ({ ...node, selected: ids.has(node.id) })) });
        void navigator.clipboard.writeText(toClipboard(graph)).then(
          () => state.say(graph.nodes.length === 1 ? "1 node copied" : `${graph.nodes.length} nodes copied`),
          () => state.say("The browser did not allow copying. Press Ctrl or Command and C instead."),
        );
      },
    },
    !isTrigger &&
      working.length > 0 && {
        ...{ id: "extract", label: "Extract into a workflow…", icon: <PackagePlus />, group: 35 },
        run: () => ui.setState({ composing: { kind: "extract", nodeIds } }),
      },
    only?.type === "workflowNode" && {
      ...{ id: "inline", label: "Inline the workflow…", icon: <PackageOpen />, group: 35 },
      run: () => ui.setState({ composing: { kind: "inline", nodeId: only.id } }),
    },
    ...(Object.keys(ARRANGEMENTS) as Arrangement[]).map(
      (how) =>
        nodes.length >= ARRANGEMENTS[how].least && {
          ...{ id: how, label: ARRANGEMENTS[how].label, icon: ARRANGE_ICONS[how], group: 40 },
          run: () => {
            const places = arrangeNodes(state, ids, how);
            if (places) state.place(ARRANGEMENTS[how].label.toLowerCase(), places);
          },
        },
    ),
    !isTrigger && {
      ...{ id: "delete", label: "Delete", icon: <Trash2 />, shortcut: ["Del"], tone: "danger" as const, group: 50, isInToolbar: true },
      run: () => state.remove(nodeIds),
    },
  ];
  const made = actions.filter((action): action is NodeAction => typeof action === "object");
  // Looking inside a loop changes nothing.
  return state.isReadOnly ? made.filter(({ id }) => id === "collapse") : made;
}

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

/** The context menu of the canvas: on a node, on all that are selected, or on the bare canvas. */
export function NodeMenu({
  onAdd,
  onPoint,
  onClose,
}: {
  onAdd: (at: { x: number; y: number }) => void;
  onPoint: () => { x: number; y: number };
  onClose: () => void;
}) {
  const menu = useCanvasUi((state) => state.menu);
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const paneActions = usePaneActions(() => menu && onAdd(menu), onPoint);
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
        // Prevented where what was chosen has opened something that took the focus.
        if (!event.defaultPrevented) onClose();
        event.preventDefault();
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
              {action.refusal && <span className="block whitespace-normal text-12">{action.refusal}</span>}
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
      run: () => void flow.fitView({ ...FIT, duration: motionMs(160) }),
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
