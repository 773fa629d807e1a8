"use client";

import { Pin, PinOff } from "lucide-react";
import { useRunStore } from "#components/runs/store/run-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { nodeUiOf } from "#components/workflow-editor/nodes/node-registry.ts";
import { pinnedIn, pinOutput, unpin } from "#components/workflow-editor/test-runs/pinning.ts";
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
  const data = useEditor((state) => state.data[id]);
  const text = pinnedIn(data);
  if (!definitionOf(type)?.pin) return null;
  if (text === null) {
    if (isReadOnly) return null;
    const begin = () => {
      const node = run.getState().snapshot?.nodes[id];
      const output = node?.status === "complete" && node.whole_length === null ? node.output : null;
      const first =
        output !== null && !pinFault({ type, data }, output) && output.length <= MAX_PINNED ? output : (nodeUiOf(type)?.firstPin ?? "");
      const refusal = pinOutput(editor, id, first);
      if (refusal) toast.error(refusal);
    };
    return (
      <Button size="sm" variant="ghost" icon={<Pin />} className="self-start" onClick={begin}>
        Pin an output
      </Button>
    );
  }
  const fault = pinFault({ type, data }, text);
  const tidy = indented(text);
  return (
    <section aria-label="Pinned output" className="flex flex-col gap-2 rounded-md border border-role-human/40 bg-role-human-soft/40 p-2.5">
      <Field
        label="Pinned output"
        hint="Runs from this editor take this text instead of running the node. Published versions run it."
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
