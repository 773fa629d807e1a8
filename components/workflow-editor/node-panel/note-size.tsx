"use client";

import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { NOTE_SIZE, sizeOf } from "#components/workflow-editor/canvas/geometry/node-size.ts";
import { useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NumberField } from "#components/workflow-editor/fields/number-field.tsx";

/** How large a note is, for those who do not drag its corner. */
export function NoteSize({ id, isReadOnly }: { id: string; isReadOnly: boolean }) {
  const editor = useEditorStore();
  const { width, height, isSet } = useEditorShallow((state) => {
    const node = state.nodes.find((candidate) => candidate.id === id);
    const drawn = node ? sizeOf(node) : { width: NOTE_SIZE.width, height: NOTE_SIZE.minHeight };
    return {
      width: Math.round(node?.width ?? drawn.width),
      height: Math.round(node?.height ?? drawn.height),
      isSet: node?.width !== undefined || node?.height !== undefined,
    };
  });
  const resize = (size: { width?: number | undefined; height?: number | undefined }) => editor.getState().resize(id, size);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="sr-only">Size</legend>
      <div className="grid grid-cols-2 gap-2">
        <Field label="Width">
          <NumberField
            {...{ value: width, min: NOTE_SIZE.minWidth, max: NOTE_SIZE.maxWidth, isInteger: true, isReadOnly }}
            onChange={(next) => resize({ width: next })}
          />
        </Field>
        <Field label="Height">
          <NumberField
            {...{ value: height, min: NOTE_SIZE.minHeight, max: NOTE_SIZE.maxHeight, isInteger: true, isReadOnly }}
            onChange={(next) => resize({ height: next })}
          />
        </Field>
      </div>
      {isSet && !isReadOnly && (
        <Button size="sm" variant="ghost" className="self-start" onClick={() => resize({ width: undefined, height: undefined })}>
          As large as its text
        </Button>
      )}
    </fieldset>
  );
}
