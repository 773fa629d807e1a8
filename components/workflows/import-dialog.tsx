"use client";

import { useState } from "react";
import { FormFailure } from "#components/forms/form.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { FileDrop } from "#components/ui/file-drop.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ImportReview } from "#components/workflows/import-review.tsx";
import { type CheckedFile, type InsertGraph, parseFile, useImport } from "#components/workflows/use-import.ts";

export interface ImportDialogProps {
  onClose: () => void;
  /** Takes the nodes into the workflow that is open; left out, the file becomes a workflow of its own. */
  insert?: InsertGraph;
}

/** Brings a workflow in from a file: first the file is checked, then what it needs is linked, then it is made. */
export function ImportDialog({ onClose, insert }: ImportDialogProps) {
  return (
    <Dialog onClose={onClose} title={insert ? "Import into this workflow" : "Import a workflow"} size="lg">
      <ImportSteps {...(insert && { insert })} onDone={onClose} />
    </Dialog>
  );
}

/** Once: a function that is the same at each drawing is called for a new element only. */
const takeFocus = (element: HTMLElement | null) => element?.focus();

function ImportSteps({ insert, onDone }: { insert?: InsertGraph; onDone: () => void }) {
  const importing = useImport(insert);
  const [text, setText] = useState("");
  const [checked, setChecked] = useState<CheckedFile | null>(null);
  const [fault, setFault] = useState<string | null>(null);

  const look = async (source: string) => {
    const parsed = parseFile(source);
    setFault("fault" in parsed ? parsed.fault : null);
    importing.clear();
    if ("file" in parsed) setChecked(await importing.check(parsed.file));
  };
  const take = async (file: File | undefined) => {
    if (file) await look(await file.text());
  };
  if (checked) {
    return (
      // What was focused is gone, and the button that closes the dialog is no place to be left at.
      <div ref={takeFocus} tabIndex={-1} className="focus:outline-none">
        <ImportReview
          checked={checked}
          importing={importing}
          action={insert ? "Add to the canvas" : "Import"}
          {...(insert && { onInserted: onDone })}
          back={
            <Button
              variant="ghost"
              disabled={importing.isPending}
              onClick={() => {
                importing.clear();
                setChecked(null);
              }}
            >
              Back
            </Button>
          }
        />
      </div>
    );
  }
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void look(text);
      }}
    >
      <FileDrop
        label="Workflow file"
        words="Drop a .treadle.json file here, or a workflow of n8n."
        accept=".json,application/json"
        inputLabel="File to import"
        button={{ label: "Choose a file" }}
        isPending={importing.isPending}
        hasFocus
        onFiles={([file]) => void take(file)}
      />
      <Field
        label="Or paste the JSON"
        hint="A file that was exported here, a workflow copied from n8n, or a React Flow graph: nodes and edges."
      >
        <Textarea
          value={text}
          rows={5}
          spellCheck={false}
          className="max-h-60 font-mono text-12"
          placeholder={'{ "format": "treadle-workflow", … }'}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      {fault !== null && (
        <Notice tone="failed" title="This cannot be imported">
          {fault}
        </Notice>
      )}
      <FormFailure failure={importing.failure} title="This cannot be imported" />
      <DialogFooter>
        <Button type="submit" variant="primary" disabled={text.trim() === ""} isPending={importing.isPending}>
          Check it
        </Button>
      </DialogFooter>
    </form>
  );
}
