"use client";

import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { FloatingSurface } from "#components/canvas/floating-surface.tsx";
import { nodeChoices } from "#components/canvas/node-choices.ts";
import { PickList } from "#components/canvas/pick-list.tsx";
import { NodeIcon } from "#components/nodes/node-icon.tsx";
import type { NodeType } from "#server/engine/nodes/registry.gen.ts";

const items = nodeChoices.map(({ type, title, summary, group }) => ({
  id: type,
  label: title,
  hint: summary,
  group,
  icon: <NodeIcon type={type} />,
}));

/** The list of node types to add; `onClose` gives the focus back to the canvas. */
export function Palette({ onClose }: { onClose: () => void }) {
  const palette = useCanvasUi((state) => state.palette);
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  if (!palette) return null;
  const close = (added: string | null) => {
    ui.setState({ palette: null });
    if (palette.onDone) palette.onDone(added);
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
