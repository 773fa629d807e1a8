"use client";

import { ListTree } from "lucide-react";
import { useState } from "react";
import { NodeRunList } from "#components/runs/node-run-list.tsx";
import { NodeValues } from "#components/runs/node-values.tsx";
import { RunFinish } from "#components/runs/run-finish.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";

/** A run beneath the canvas: its nodes, how it ended, and what went into and came out of the one that is selected. */
export function RunPanelBody({ executionId, selected }: { executionId: string; selected: string | null }) {
  const isAsking = useRun(({ picture }) => selected !== null && picture?.waiting[selected] !== undefined);
  const [listedFor, setListedFor] = useState<string | null>(null);
  // On a phone a question takes the whole sheet, until somebody asks for the nodes.
  const isFolded = isAsking && listedFor !== selected;
  return (
    <div className="flex h-full min-h-0 max-md:flex-col">
      <div
        className={cn(
          "w-(--layout-run-list,300px) shrink-0 overflow-y-auto max-md:max-h-[40%] max-md:w-full max-md:border-b",
          isFolded && "max-md:hidden",
        )}
      >
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
      {isAsking && (
        <Button
          size="sm"
          variant="ghost"
          icon={<ListTree />}
          aria-expanded={!isFolded}
          className="h-9 w-full rounded-none border-t-line md:hidden"
          onClick={() => setListedFor(isFolded ? selected : null)}
        >
          {isFolded ? "Show all nodes of the run" : "Hide the nodes of the run"}
        </Button>
      )}
    </div>
  );
}
