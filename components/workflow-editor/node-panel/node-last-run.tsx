"use client";

import { ArrowUpRight } from "lucide-react";
import { useStore } from "zustand";
import { NodeValues } from "#components/runs/node-values.tsx";
import { RunProvider } from "#components/runs/store/run-context.tsx";
import { Link } from "#components/ui/link.tsx";
import { Time } from "#components/ui/time.tsx";
import { useLastRunStore } from "#components/workflow-editor/fields/panel-reads.tsx";

/** What the node was given and left behind in the run on the screen, else in the latest that has ended. */
export function NodeLastRun({ nodeId }: { nodeId: string }) {
  const store = useLastRunStore();
  const executionId = useStore(store, (state) => state.executionId);
  const createdAt = useStore(store, (state) => state.snapshot?.created_at);
  if (!executionId || !createdAt)
    return <p className="text-14 text-ink-soft">It has not run yet. Press Run, and see here what comes out.</p>;
  return (
    <div className="flex flex-col gap-2">
      <p className="flex items-center justify-between gap-2 text-12 text-ink-soft">
        <span>
          Run <Time value={createdAt} />
        </span>
        <Link href={`/runs/${executionId}`} className="inline-flex min-h-6 items-center gap-1 text-thread-text hover:underline">
          Open run
          <ArrowUpRight aria-hidden className="size-3" />
        </Link>
      </p>
      <div className="h-96 max-h-[60dvh] min-h-48 resize-y overflow-hidden rounded-md border">
        <RunProvider value={store}>
          <NodeValues key={executionId} nodeId={nodeId} />
        </RunProvider>
      </div>
    </div>
  );
}
