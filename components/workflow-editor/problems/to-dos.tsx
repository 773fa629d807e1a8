"use client";

import { Checkbox } from "#components/ui/checkbox.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type ToDo, toDosOf } from "#server/workflow/to-dos.ts";

interface RowProps {
  id: string;
  toDo: ToDo;
  /** Left out where the list is beside its node. */
  onGo?: (id: string, field: string | null) => void;
}

/** One thing that an import left to a person: ticked, it is done and gone; undo brings it back. */
function Row({ id, toDo, onGo }: RowProps) {
  const editor = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const node = editor.getState().nodes.find((candidate) => candidate.id === id);
  const tick = () => {
    const state = editor.getState();
    const { to_do: _, ...rest } = state.data[id] ?? {};
    const left = toDosOf(state.data[id]).filter(({ message }) => message !== toDo.message);
    const data = { ...state.data, [id]: { ...rest, ...(left.length > 0 && { to_do: left }) } };
    state.apply("tick off what the import left to do", { nodes: state.nodes, edges: state.edges, data });
  };
  const words = (
    <span className="break-words text-12">
      {onGo && node && <span className="font-semibold">{labelOf(editor.getState().data[id], node.type)}: </span>}
      <span className="text-ink-soft">{toDo.message}</span>
    </span>
  );
  return (
    <li className="flex items-start gap-2 rounded-md px-2 py-1.5">
      {isReadOnly ? (
        <p className="min-w-0 flex-1">{words}</p>
      ) : (
        <Checkbox className="min-w-0 flex-1" label={words} checked={false} onCheckedChange={tick} />
      )}
      {onGo && (
        <button
          type="button"
          className="h-6 shrink-0 rounded-sm px-1 text-12 text-thread-text hover:underline"
          onClick={() => onGo(id, toDo.field)}
        >
          Go to it
        </button>
      )}
    </li>
  );
}

/** Everything that an import left to do in this workflow, or at one of its nodes. */
export function ToDos({ nodeId, onGo }: { nodeId?: string; onGo?: RowProps["onGo"] }) {
  const data = useEditor((state) => state.data);
  const shown = nodeId === undefined ? Object.keys(data) : [nodeId];
  const rows = shown.flatMap((id) => toDosOf(data[id]).map((toDo) => ({ id, toDo })));
  if (rows.length === 0) return null;
  return (
    <section aria-label="Left to do by the import">
      <h3 className="px-2 pt-1.5 font-semibold text-12 text-ink-faint">Left to do by the import</h3>
      <ul className="flex flex-col">
        {rows.map(({ id, toDo }) => (
          <Row key={`${id} ${toDo.message}`} id={id} toDo={toDo} {...(onGo && { onGo })} />
        ))}
      </ul>
    </section>
  );
}
