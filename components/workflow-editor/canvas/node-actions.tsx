"use client";

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
  Copy,
  Files,
  PenLine,
  Power,
  PowerOff,
  Spline,
  Trash2,
} from "lucide-react";
import type { ReactNode } from "react";
import { MOD } from "#components/workflow-editor/canvas/control-bar.tsx";
import { toClipboard } from "#components/workflow-editor/canvas/document/clipboard.ts";
import { selectedGraph } from "#components/workflow-editor/canvas/document/edits.ts";
import { ARRANGEMENTS, type Arrangement, arranged } from "#components/workflow-editor/canvas/layout/arrange.ts";
import type { CanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import type { EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { definitionOf } from "#server/workflow/graph.ts";

/** Something that can be done to one node, or to all that are selected. */
export interface NodeAction {
  id: string;
  label: string;
  icon: ReactNode;
  shortcut?: string[];
  tone?: "normal" | "danger";
  /** In the toolbar above a card too, not only in the menu. */
  isInToolbar?: boolean;
  /** Actions with the same number stand together in the menu; lower ones first. */
  group: number;
  /** Why it cannot be done now, as a sentence; the menu shows it dimmed. */
  refusal?: string;
  run(): void;
}

/** Makes the actions that fit these nodes (one, or everything selected) at this moment. */
export type NodeActionSource = (nodeIds: readonly string[]) => NodeAction[];

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
    ...(Object.keys(ARRANGEMENTS) as Arrangement[]).map(
      (how) =>
        nodes.length >= ARRANGEMENTS[how].least && {
          ...{ id: how, label: ARRANGEMENTS[how].label, icon: ARRANGE_ICONS[how], group: 40 },
          run: () => {
            const places = arranged(state, ids, how);
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
