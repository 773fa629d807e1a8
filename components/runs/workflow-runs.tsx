"use client";

import { useQuery } from "@tanstack/react-query";
import { LIVE_MS } from "#components/runs/runs-page.tsx";
import { RunsTable } from "#components/runs/runs-table.tsx";
import { useEditorRun } from "#components/runs/store/run-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { TableLoading } from "#components/ui/table.tsx";

/** The latest runs of one workflow, kept fresh while they are looked at. */
export function WorkflowRuns({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC();
  const editorRun = useEditorRun();
  const runs = useQuery(trpc.workflows.executions.queryOptions({ workflow_id: workflowId, limit: 50 }, { refetchInterval: LIVE_MS }));
  return (
    <div className="mx-auto flex w-full max-w-280 flex-col gap-4 p-6 max-md:p-4">
      <TableLoading query={runs} label="Loading runs" />
      {runs.data?.length === 0 && (
        <EmptyState title="This workflow has not run yet" size="panel">
          Press Run. Every run is kept here with what went into each node and what came out.
        </EmptyState>
      )}
      {runs.data && runs.data.length > 0 && (
        <>
          <RunsTable runs={runs.data} hasWorkflow={false} {...(editorRun && { onShow: editorRun.open })} />
          <Link href={`/runs?workflow=${workflowId}`} className="self-end text-12 text-thread-text hover:underline">
            All runs of this workflow
          </Link>
        </>
      )}
    </div>
  );
}
