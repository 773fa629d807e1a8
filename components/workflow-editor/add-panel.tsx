"use client";

import { Kbd } from "#components/ui/kbd.tsx";
import { looseEnd, NEXT_NODE_DISTANCE, placeAfter } from "#components/workflow-editor/canvas/document/edits.ts";
import { NODE_DRAG_TYPE, NOTE_DRAG_TYPE, type NodeChoice, nodeChoices } from "#components/workflow-editor/canvas/document/node-choices.ts";
import { whereDrawn } from "#components/workflow-editor/canvas/geometry/loop-frames.ts";
import { useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { definitionOf } from "#server/workflow/graph.ts";

const groups = [...Map.groupBy(nodeChoices, (choice) => choice.group)];

/** Every node type, to be dragged onto the canvas or added by a click. */
export function AddPanel() {
  const isReadOnly = useEditor((state) => state.isReadOnly);
  if (isReadOnly)
    return <p className="p-3 text-13 text-ink-soft">You may look, not change. Ask an admin of the project for the editor role.</p>;
  return (
    <div className="flex flex-col gap-4 p-3">
      {groups.map(([group, choices]) => (
        <section key={group} aria-label={group} className="flex flex-col gap-1">
          <h3 className="px-1 text-11 text-ink-faint">{group}</h3>
          {choices.map((choice) => (
            <AddRow key={choice.type} choice={choice} />
          ))}
        </section>
      ))}
      <p className="px-1 text-12 text-ink-faint">
        Drag one onto the canvas, or press <Kbd>N</Kbd> there.
      </p>
    </div>
  );
}

function AddRow({ choice }: { choice: NodeChoice }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const add = () => {
    const state = editor.getState();
    const selected = state.nodes.filter((node) => node.selected);
    const before = selected.length === 1 ? selected[0] : looseEnd(state);
    const right = Math.max(0, ...state.nodes.map((node) => node.position.x + NEXT_NODE_DISTANCE));
    const id = state.add(choice.type, before ? placeAfter(whereDrawn(state, before), state.edges) : { position: { x: right, y: 0 } });
    ui.getState().goTo(id, null);
    if (choice.type === "noteNode") ui.setState({ writing: id });
  };
  return (
    <button
      type="button"
      draggable
      className="flex cursor-grab items-center gap-2.5 rounded-md border border-line bg-raised p-2 text-left hover:border-line-control active:cursor-grabbing"
      onDragStart={(event) => {
        event.dataTransfer.setData(NODE_DRAG_TYPE, choice.type);
        if (definitionOf(choice.type)?.isInert) event.dataTransfer.setData(NOTE_DRAG_TYPE, choice.type);
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={add}
    >
      <NodeIcon type={choice.type} className="size-7" />
      <span className="flex min-w-0 flex-col">
        <span className="font-medium text-13">{choice.title}</span>
        <span className="text-12 text-ink-faint">{choice.summary}</span>
      </span>
    </button>
  );
}
