"use client";

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { useRun, useRunStore } from "#components/runs/store/run-context.tsx";
import { createRunStore, type RunStore } from "#components/runs/store/run-store.ts";
import { useTRPC } from "#components/trpc.tsx";
import { type LastRun, lastRunOf } from "#components/workflow-editor/fields/last-values.ts";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { type ExecutionSummary, isFinal } from "#server/runs/schema.ts";

const LastRunContext = createContext<RunStore | null>(null);

/** Among the latest runs, those that have ended are looked for. */
const LOOK_AT = 10;
const FRESH_MS = 3000;

const latestEnded = (runs: ExecutionSummary[]): string | null => runs.find(({ status }) => isFinal(status))?.id ?? null;

/** Knows the workflow's last run for everything below: the one on the screen, else the latest that has ended, read when first needed. */
export function LastRunProvider({ children }: { children: ReactNode }) {
  const { workflowId } = useSession();
  const trpc = useTRPC();
  const screen = useRunStore();
  const isOnScreen = useRun((state) => state.picture !== null);
  const [kept] = useState(() => createRunStore({ follow: () => () => {} }));
  const { data: latest } = useQuery(
    trpc.workflows.executions.queryOptions(
      { workflow_id: workflowId, limit: LOOK_AT },
      { enabled: !isOnScreen, select: latestEnded, staleTime: FRESH_MS },
    ),
  );
  const view = useQuery(
    trpc.executions.view.queryOptions(
      { execution_id: latest ?? "" },
      { enabled: !isOnScreen && typeof latest === "string", staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  useEffect(() => {
    if (view.data) kept.getState().show(view.data);
  }, [view.data, kept]);
  return <LastRunContext value={isOnScreen ? screen : kept}>{children}</LastRunContext>;
}

/** The store of the last run: the one on the screen when there is one. */
export function useLastRunStore(): RunStore {
  const store = useContext(LastRunContext);
  if (!store) throw new Error("This part of the panel needs a LastRunProvider around it.");
  return store;
}

/** The last run's values; null while there is none. */
export function useLastRun(): LastRun | null {
  const parts = useStore(
    useLastRunStore(),
    useShallow(({ executionId, picture, view }) => ({ executionId, picture, view })),
  );
  return useMemo(() => lastRunOf(parts), [parts]);
}
