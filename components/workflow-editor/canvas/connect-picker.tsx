"use client";

import { labelOf, typeTitle } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { FloatingSurface } from "#components/workflow-editor/canvas/floating-surface.tsx";
import { PickList } from "#components/workflow-editor/canvas/pick-list.tsx";
import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { checkConnection, definitionOf } from "#server/workflow/graph.ts";

/** Connecting without a pointer: what the selected node may lead to, as a list. */
export function ConnectPicker({ onClose }: { onClose: () => void }) {
  const from = useCanvasUi((state) => state.connectFrom);
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  if (!from) return null;
  const { nodes, data, connect, say, graph } = editor.getState();
  const source = nodes.find((node) => node.id === from.nodeId);
  const close = () => {
    ui.setState({ connectFrom: null });
    (from.onDone ?? onClose)();
  };
  // With several ways out each pair of way and target is a choice of its own.
  const handles = from.handle === null ? (definitionOf(source?.type ?? "")?.handles ?? [null]) : [from.handle];
  const whole = graph();
  const items = handles.flatMap((handle) =>
    nodes
      .filter((node) => node.id !== from.nodeId && definitionOf(node.type ?? "")?.hasInput)
      .map((node) => ({
        id: `${handle ?? ""} ${node.id}`,
        label: labelOf(data[node.id], node.type),
        hint: handle === null ? typeTitle(node.type) : `${typeTitle(node.type)}, from ${handle}`,
        ...(handle !== null && { group: `From ${handle}` }),
        icon: <NodeIcon type={node.type} />,
        refusal: checkConnection(whole, { source: from.nodeId, sourceHandle: handle, target: node.id }),
      })),
  );
  const name = labelOf(data[from.nodeId], source?.type);
  return (
    <FloatingSurface label={`Connect ${name} to`} at={null} onClose={() => ui.setState({ connectFrom: null })}>
      <PickList
        label={`Connect ${name} to…`}
        items={items.toSorted((a, b) => Number(Boolean(a.refusal)) - Number(Boolean(b.refusal)))}
        empty="There is no other node yet. Press N to add one."
        onClose={close}
        onRefused={say}
        onPick={(id) => {
          const at = id.indexOf(" ");
          connect({ source: from.nodeId, sourceHandle: id.slice(0, at) || null, target: id.slice(at + 1) });
          close();
        }}
      />
    </FloatingSurface>
  );
}
