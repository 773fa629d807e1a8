"use client";

import { Pin, PinOff } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { plural } from "#components/format.ts";
import { useRunStore } from "#components/runs/store/run-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUiStore, useEditor, useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { nodeUiOf } from "#components/workflow-editor/nodes/node-registry.ts";
import { pinnedIn, pinnedNodes, pinOutput, unpin } from "#components/workflow-editor/test-runs/pinning.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { pinFault } from "#server/workflow/pins.ts";
import { MAX_PINNED } from "#server/workflow/schema.ts";

/** The text as indented JSON, or null when it is no object or list. */
function indented(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

/** In the settings of a node: the output that test runs take instead of running it. */
export function PinnedOutput({ id, type, isReadOnly }: { id: string; type: string; isReadOnly: boolean }) {
  const editor = useEditorStore();
  const run = useRunStore();
  const text = useEditor((state) => pinnedIn(state.data[id]));
  if (!definitionOf(type)?.pin) return null;
  if (text === null) {
    if (isReadOnly) return null;
    const begin = () => {
      const node = run.getState().picture?.nodes[id];
      const output = node?.status === "complete" && node.whole_length === null ? node.output : null;
      const first = output !== null && !pinFault(type, output) && output.length <= MAX_PINNED ? output : (nodeUiOf(type)?.firstPin ?? "");
      const refusal = pinOutput(editor, id, first);
      if (refusal) toast.error(refusal);
    };
    return (
      <Button size="sm" variant="ghost" icon={<Pin />} className="self-start" onClick={begin}>
        Pin an output
      </Button>
    );
  }
  const fault = pinFault(type, text);
  const tidy = indented(text);
  return (
    <section aria-label="Pinned output" className="flex flex-col gap-2 rounded-md border border-role-human/40 bg-role-human-soft/40 p-2.5">
      <Field
        label="Pinned output"
        hint="Runs from this editor take this text instead of running the node. Saved versions run it."
        {...(fault && { error: fault })}
      >
        <Textarea
          rows={5}
          value={text}
          readOnly={isReadOnly}
          maxLength={MAX_PINNED}
          spellCheck={false}
          className="font-mono text-12"
          onChange={(event) => editor.getState().setField(id, "pinned", { output: event.target.value })}
        />
      </Field>
      {!isReadOnly && (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" icon={<PinOff />} onClick={() => unpin(editor, [id])}>
            Unpin
          </Button>
          {tidy !== null && tidy !== text && tidy.length <= MAX_PINNED && (
            <Button size="sm" variant="ghost" onClick={() => editor.getState().setField(id, "pinned", { output: tidy })}>
              Indent JSON
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

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
          className="ml-0.5 inline-flex h-7 items-center gap-1 rounded-md px-1.5 font-medium text-12 text-role-human tabular hover:bg-hover"
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
                className="h-6 min-w-0 flex-1 truncate text-left font-medium text-12 hover:underline"
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
