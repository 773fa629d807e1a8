"use client";

import { NodeRunList } from "#components/runs/node-run-list.tsx";
import { NodeValues } from "#components/runs/node-values.tsx";
import { RunFinish } from "#components/runs/run-finish.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";

/** A run beneath the canvas: its nodes, how it ended, and what went into and came out of the one that is selected. */
export function RunPanelBody({ executionId, selected }: { executionId: string; selected: string | null }) {
  return (
    <div className="flex h-full min-h-0 max-md:flex-col">
      <div className="w-(--layout-run-list,300px) shrink-0 overflow-y-auto max-md:max-h-[40%] max-md:w-full max-md:border-b">
        <NodeRunList selected={selected} />
        <RunFinish />
      </div>
      <ResizableDivider
        name="run-list"
        label="Resize the list of nodes"
        orientation="vertical"
        area="before"
        defaultSize={300}
        min={200}
        max={600}
        className="max-md:hidden"
      />
      <div className="min-h-0 min-w-0 flex-1">{selected && <NodeValues key={`${executionId} ${selected}`} nodeId={selected} />}</div>
    </div>
  );
}
