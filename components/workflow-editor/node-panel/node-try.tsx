"use client";

import { Play } from "lucide-react";
import { useState } from "react";
import { useStore } from "zustand";
import { useEditorRun } from "#components/runs/store/run-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { useEditor } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useLastRunStore, usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { NodeLastRun } from "#components/workflow-editor/node-panel/node-last-run.tsx";
import { isFinal } from "#server/shared/execution-status.ts";

/** Runs one node alone, on what came before it in the last run and on pins, and shows what came of it. */
export function NodeTry({ nodeId }: { nodeId: string }) {
  const editorRun = useEditorRun();
  const lastRun = useStore(useLastRunStore(), ({ executionId, snapshot }) => (snapshot && isFinal(snapshot.status) ? executionId : null));
  const isPinned = useEditor((state) => (state.data[nodeId]?.pinned ?? null) !== null);
  const [isTried, setIsTried] = useState(false);
  const isInLoop = usePanelReads().readable.around.length > 0;
  if (!editorRun || editorRun.isReadOnly) return null;
  const begin = () => {
    // What is pinned would be taken in place of what is tried.
    if (isPinned) editorRun.unpin(nodeId);
    setIsTried(true);
    editorRun.tryNode(nodeId, lastRun);
  };
  return (
    <section aria-label="Try" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button size="sm" icon={<Play />} disabled={editorRun.isBusy} onClick={begin}>
          {isPinned ? "Unpin and try" : "Try"}
        </Button>
        <p className="min-w-0 flex-1 text-12 text-ink-faint">
          {isInLoop ? "Runs the whole loop around it" : lastRun === null ? "Runs it, after what it needs" : "Runs it alone"}
          {lastRun !== null && ", on what the last run and pins give it"}
        </p>
      </div>
      {isTried && <NodeLastRun nodeId={nodeId} />}
    </section>
  );
}
