"use client";

import { Pin } from "lucide-react";
import { useEditorRun } from "#components/runs/store/editor-run.tsx";
import { useRun, useRunShallow } from "#components/runs/store/run-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { isFinal } from "#server/runs/schema.ts";

const MOST_CHARACTERS = 400;

/** How a run ended: its final output, or the error in full. */
export function RunFinish() {
  const editor = useEditorStore();
  const editorRun = useEditorRun();
  const failed = useRun(({ picture }) => picture?.order.findLast((id) => picture.nodes[id]?.status === "failed") ?? null);
  const { isOver, output, error } = useRunShallow(({ picture }) => ({
    isOver: picture ? isFinal(picture.status) : false,
    output: picture?.output ?? null,
    error: picture?.error ?? null,
  }));
  if (!isOver || (output === null && error === null)) return null;
  return (
    <div className="border-t p-3">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-semibold text-12">{error === null ? "Result" : "Why it failed"}</h3>
        {output !== null && error === null && <CopyButton value={output} what="result" className="size-6" />}
      </div>
      {error !== null ? (
        <p role="alert" className="whitespace-pre-wrap break-words text-12 text-failed">
          {error}
        </p>
      ) : (
        <p className="whitespace-pre-wrap break-words text-12 text-ink-soft">
          {output === "" ? "Empty" : (output ?? "").slice(0, MOST_CHARACTERS)}
          {(output ?? "").length > MOST_CHARACTERS && "…"}
        </p>
      )}
      {editorRun && !editorRun.isReadOnly && (
        <Button size="sm" variant="ghost" icon={<Pin />} className="-ml-2 mt-1" onClick={() => editorRun.pinAll()}>
          Pin all outputs
        </Button>
      )}
      {failed && error !== null && (
        <button
          type="button"
          className="mt-1 text-12 text-thread-text hover:underline"
          onClick={() => editor.getState().selectOnly(failed)}
        >
          Show the node that failed
        </button>
      )}
    </div>
  );
}
