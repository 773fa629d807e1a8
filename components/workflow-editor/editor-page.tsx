"use client";

import { useQuery } from "@tanstack/react-query";
import { BackLink } from "#components/shell/back-link.tsx";
import { Page } from "#components/shell/page.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import { EditorView } from "#components/workflow-editor/editor-view.tsx";
import { AgentNamesProvider } from "#components/workflow-editor/nodes/agent-names.tsx";

/** The editor of one workflow, once it has been read. */
export function EditorPage({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC();
  // Read once: from here on the canvas is ahead of the server, and the session keeps the two together.
  const { data, error, refetch } = useQuery(
    trpc.workflows.editor.queryOptions(
      { workflow_id: workflowId },
      { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false, refetchOnMount: "always" },
    ),
  );
  if (error)
    return (
      <Page width="narrow">
        <BackLink href="/workflows">Workflows</BackLink>
        <LoadFailure error={error} onRetry={() => void refetch()} />
      </Page>
    );
  if (!data)
    return (
      <div role="status" className="flex h-full items-center justify-center gap-2 text-13 text-ink-soft">
        <Spinner /> Opening the workflow…
      </div>
    );
  return (
    <AgentNamesProvider>
      <EditorView key={workflowId} initial={data} />
    </AgentNamesProvider>
  );
}
