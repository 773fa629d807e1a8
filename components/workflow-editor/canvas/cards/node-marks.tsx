"use client";

import { ClockAlert } from "lucide-react";
import { useEditorRun } from "#components/runs/store/editor-run.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import { useEditor } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { canPin } from "#server/workflow/pins.ts";

/** Whether a pinned output stands in for the node: in the editor as the canvas has it, on a run's page as it was. */
function useIsPinned(id: string): boolean {
  const isEditor = useEditorRun() !== null;
  const onCanvas = useEditor(({ data, nodes }) => {
    const { pinned, disabled } = data[id] ?? {};
    if (pinned === undefined || pinned === null || disabled === true) return false;
    return canPin({ type: nodes.find((node) => node.id === id)?.type ?? "" });
  });
  const inRun = useRun((state) => state.picture?.nodes[id]?.pinned === true);
  return isEditor ? onCanvas : inRun;
}

/** At the right of a card's head: that its output is pinned, and that what the run left here no longer holds. */
export function NodeMarks({ id }: { id: string }) {
  const isPinned = useIsPinned(id);
  const stale = useRun((state) => state.stale[id]);
  return (
    <>
      {stale !== undefined && (
        <Tooltip content={`Out of date: ${stale}`}>
          <span className="nodrag inline-flex size-6 shrink-0 items-center justify-center text-waiting" data-stale>
            <ClockAlert aria-hidden className="size-3.5" />
          </span>
        </Tooltip>
      )}
      {isPinned && (
        <Tooltip content="Test runs take the pinned output instead of running this node. Saved versions run it.">
          <span className="inline-flex h-6 shrink-0 items-center gap-1 font-medium text-10 text-role-human" data-pinned>
            <span aria-hidden className="size-2 rounded-full bg-role-human" />
            Pinned
          </span>
        </Tooltip>
      )}
    </>
  );
}

/** The same for those who do not see it: a part of the node's description. */
export function NodeMarkWords({ id }: { id: string }) {
  const isPinned = useIsPinned(id);
  const stale = useRun((state) => state.stale[id]);
  return (
    <>
      {isPinned && "Pinned. "}
      {stale !== undefined && `Out of date: ${stale} `}
    </>
  );
}
