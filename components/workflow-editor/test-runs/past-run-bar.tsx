"use client";

import { X } from "lucide-react";
import { useState } from "react";
import { useEditorRun, useRun, useRunShallow } from "#components/runs/store/run-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** Over the canvas while it shows a run of another graph: what was run, and the ways to it. */
export function PastRunBar({ isPast }: { isPast: boolean }) {
  const editor = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const editorRun = useEditorRun();
  const { executionId, version, isOtherGraph } = useRunShallow((state) => ({
    executionId: state.executionId,
    version: state.view?.execution.version ?? null,
    isOtherGraph: state.isOtherGraph,
  }));
  const graph = useRun((state) => state.view?.graph);
  const [closed, setClosed] = useState<string | null>(null);
  if (!isPast || !isOtherGraph || !executionId || !graph || closed === executionId) return null;
  return (
    <section
      aria-label="This run and the canvas"
      className="mx-3 mt-3 flex flex-wrap items-center gap-x-2 gap-y-1.5 rounded-md border border-line-strong bg-raised py-1.5 pr-1.5 pl-3 text-14 shadow-md"
    >
      <p className="min-w-0 flex-1 basis-60">
        This run used {version === null ? "an earlier draft" : `version ${version}`}; the canvas has changed since.
      </p>
      <span className="flex flex-wrap items-center gap-1.5">
        <Button asChild size="sm">
          <Link href={`/runs/${executionId}`}>Open run</Link>
        </Button>
        {!isReadOnly && (
          <>
            <Button
              size="sm"
              onClick={() => {
                editor.getState().replace(graph, "load the graph of a run");
                editor.getState().say("The graph of the run is on the canvas. Undo brings the other back.");
              }}
            >
              Load its graph into the draft
            </Button>
            <Button size="sm" onClick={() => editorRun?.pinAll()}>
              Pin its outputs
            </Button>
          </>
        )}
        <IconButton label="Close this remark" size="sm" icon={<X />} onClick={() => setClosed(executionId)} />
      </span>
    </section>
  );
}
