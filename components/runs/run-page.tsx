"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { RunView } from "#components/runs/run-view.tsx";
import { createRunStore } from "#components/runs/store/run-store.ts";
import { BackLink } from "#components/shell/back-link.tsx";
import { Page } from "#components/shell/page.tsx";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import { AgentNamesProvider } from "#components/workflow-editor/nodes/agent-names.tsx";

/** One execution: read once, then followed until it ends. */
export function RunPage({ executionId }: { executionId: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const { data, error, refetch } = useQuery(
    trpc.executions.view.queryOptions(
      { execution_id: executionId },
      { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false },
    ),
  );
  const [store] = useState(() =>
    createRunStore({
      onEnd: (id) => {
        void cache.invalidateQueries(trpc.executions.logs.queryFilter({ execution_id: id }));
        void client.executions.view.query({ execution_id: id }).then(
          (view) => store.getState().executionId === id && store.getState().show(view),
          () => {},
        );
      },
    }),
  );
  const shown = useRef(data);
  useEffect(() => {
    if (data) store.getState().show(data);
    shown.current = data;
    return () => store.getState().clear();
  }, [data, store]);

  if (error)
    return (
      <Page width="narrow">
        <BackLink href="/runs">Runs</BackLink>
        <LoadFailure error={error} onRetry={() => void refetch()} />
      </Page>
    );
  if (!data)
    return (
      <div role="status" className="flex h-full items-center justify-center gap-2 text-13 text-ink-soft">
        <Spinner /> Opening the run…
      </div>
    );
  return (
    <AgentNamesProvider>
      <RunView key={executionId} view={data} store={store} />
    </AgentNamesProvider>
  );
}
