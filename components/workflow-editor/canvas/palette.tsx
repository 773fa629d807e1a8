"use client";

import { useState } from "react";
import { nodeChoices } from "#components/workflow-editor/canvas/document/node-choices.ts";
import { FloatingSurface } from "#components/workflow-editor/canvas/floating-surface.tsx";
import { PickList } from "#components/workflow-editor/canvas/pick-list.tsx";
import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { CanvasUiState } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

const items = nodeChoices.map(({ type, title, summary, group }) => ({
  id: type,
  label: title,
  hint: summary,
  group,
  icon: <NodeIcon type={type} />,
}));

/** The list of node types to add, while it is open; `onClose` gives the focus back to the canvas. */
export function Palette({ onClose }: { onClose: () => void }) {
  const palette = useCanvasUi((state) => state.palette);
  return palette && <OpenPalette palette={palette} onClose={onClose} />;
}

function OpenPalette({ palette, onClose }: { palette: NonNullable<CanvasUiState["palette"]>; onClose: () => void }) {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const [before] = useState(() => document.activeElement);
  const close = (added: string | null) => {
    const isNote = editor.getState().nodes.some((node) => node.id === added && node.type === "noteNode");
    ui.setState({ palette: null, ...(isNote && { writing: added }) });
    if (palette.onDone) return palette.onDone(added);
    // Without a new node one goes on where one was, e.g. on a connection.
    const isBack = added === null && before !== document.body && before?.isConnected === true;
    if (isBack && (before instanceof HTMLElement || before instanceof SVGElement)) before.focus({ preventScroll: true });
    else onClose();
  };
  return (
    <FloatingSurface label="Add node" at={palette.at} onClose={() => ui.setState({ palette: null })}>
      <PickList
        label="Search nodes"
        items={items}
        empty="There are no nodes to add."
        onClose={() => close(null)}
        onPick={(id) => close(editor.getState().add(id as NodeType, palette.placement))}
      />
    </FloatingSurface>
  );
}
