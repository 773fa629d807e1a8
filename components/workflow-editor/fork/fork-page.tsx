"use client";

import { useQuery } from "@tanstack/react-query";
import { FullPageLoading } from "#components/shell/full-page-loading.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

// With the canvas and the fields of every node, which whoever only reads runs never needs.
const ForkEditor = loadedOnUse(() => import("#components/workflow-editor/fork/fork-editor.tsx").then((module) => module.ForkEditor));

/** A run that has ended, opened on a canvas to be changed and replayed. The workflow stays as it is. */
export function ForkPage({ executionId }: { executionId: string }) {
  const trpc = useTRPC();
  const once = { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false } as const;
  const view = useQuery(trpc.executions.view.queryOptions({ execution_id: executionId }, once));
  const workflow_id = view.data?.execution.workflow_id;
  const workflow = useQuery(
    trpc.workflows.editor.queryOptions({ workflow_id: workflow_id ?? "" }, { ...once, enabled: workflow_id !== undefined }),
  );
  if (!view.data || !workflow.data)
    return (
      <FullPageLoading
        query={view.error ? view : workflow}
        back={{ href: `/runs/${executionId}`, label: "The run" }}
        missing={{ what: "run", href: "/runs" }}
      >
        Opening the run…
      </FullPageLoading>
    );
  return <ForkEditor key={executionId} view={view.data} workflow={workflow.data} />;
}
