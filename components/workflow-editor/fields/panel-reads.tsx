"use client";

import { useQueries, useQuery } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import type { z } from "zod";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { useRun, useRunStore } from "#components/runs/store/run-context.tsx";
import { createRunStore, type RunStore } from "#components/runs/store/run-store.ts";
import { useTRPC } from "#components/trpc.tsx";
import { createStrictContext } from "#components/ui/strict-context.ts";
import { useEditor, useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type ExpressionOption, expressionOptions } from "#components/workflow-editor/fields/expression-options.ts";
import { type LastRun, lastRunOf, type ReadableScope, readableAt } from "#components/workflow-editor/fields/last-values.ts";
import { useAgentNames, useCredentialNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import type { ExecutionLogs, ExecutionSummary } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf } from "#server/workflow/graph.ts";

export interface PanelReads {
  readable: ReadableScope;
  run: LastRun | null;
  /** Everything that an expression can read here; worked out at the first call. */
  options(): readonly ExpressionOption[];
  /** Takes a value in Python for a field that is no text, such as the rows of a condition, while such a one was in hand last. */
  taker: RefObject<RefObject<(code: string) => void> | null>;
}

const [ReadsContext, usePanelReads] = createStrictContext<PanelReads>("PanelReadsProvider");

export { usePanelReads };

/** Works out once, for all fields of a node, what can be read there; typing in a field of the node itself changes nothing of it. */
export function PanelReadsProvider({ nodeId, children }: { nodeId: string; children: ReactNode }) {
  const editor = useEditorStore();
  const { agents, agentName } = useAgentNames();
  const credentialNames = useCredentialNames();
  const edges = useEditor((state) => state.edges);
  const others = useEditorShallow((state) => Object.keys(state.data).flatMap((id) => (id === nodeId ? [] : [id, state.data[id]])));
  const lastRun = useDeferredValue(useLastRun());
  const taker = useRef<RefObject<(code: string) => void> | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: edges and the other nodes' data are what is read of the graph
  const readable = useMemo(() => {
    const schemas = new Map(agents.map((agent) => [agent.id, agent.output_schema]));
    return readableAt(editor.getState().graph(), nodeId, {
      agentName: (id) => agentName(id) ?? undefined,
      credentialNames,
      outputSchema: (id) => schemas.get(id) ?? null,
    });
  }, [editor, nodeId, edges, others, agents, agentName, credentialNames]);
  const details = useAnswers(readable, lastRun);
  const run = useMemo(() => lastRun && { ...lastRun, details }, [lastRun, details]);
  const reads = useMemo<PanelReads>(() => {
    let known: ExpressionOption[] | undefined;
    return {
      ...{ readable, run, taker },
      options: () => {
        known ??= expressionOptions(readable, run);
        return known;
      },
    };
  }, [readable, run]);
  return <ReadsContext value={reads}>{children}</ReadsContext>;
}

const responseIn = ({ items }: z.infer<typeof ExecutionLogs>) => items.findLast(({ response }) => response !== undefined)?.response;

/** What servers answered in a run to the nodes that can be read, besides the bodies: it stands in their logs, once they are over. */
function useAnswers({ nodes }: ReadableScope, run: LastRun | null): LastRun["details"] {
  const trpc = useTRPC();
  const isOver = (id: string) => ["complete", "failed"].includes(run?.snapshot.nodes[id]?.status ?? "");
  const callers = nodes.filter(({ id, type }) => definitionOf(type)?.fields?.headers && isOver(id));
  return useQueries({
    queries: callers.map(({ id }) =>
      trpc.executions.logs.queryOptions(
        { execution_id: run?.executionId ?? "", node_id: id, iteration: run?.snapshot.nodes[id]?.iteration ?? "" },
        { select: responseIn, staleTime: Number.POSITIVE_INFINITY, retry: false },
      ),
    ),
    combine: (answers) => Object.fromEntries(answers.flatMap(({ data }, index) => (data ? [[callers[index]?.id ?? "", data]] : []))),
  });
}

/** The hook gives the store of the last run: the one on the screen when there is one. */
const [LastRunContext, useLastRunStore] = createStrictContext<RunStore>("LastRunProvider");

export { useLastRunStore };

/** Among the latest runs, those that have ended are looked for. */
const LOOK_AT = 10;
const FRESH_MS = 3000;

const latestEnded = (runs: ExecutionSummary[]): string | null => runs.find(({ status }) => isFinal(status))?.id ?? null;

/** Knows the workflow's last run for everything below: the one on the screen, else the latest that has ended, read when first needed. */
export function LastRunProvider({ children }: { children: ReactNode }) {
  const { workflowId } = useSession();
  const trpc = useTRPC();
  const screen = useRunStore();
  const isOnScreen = useRun((state) => state.snapshot !== null);
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

/** The last run's values; null while there is none. */
export function useLastRun(): LastRun | null {
  const parts = useStore(
    useLastRunStore(),
    useShallow(({ executionId, snapshot, view }) => ({ executionId, snapshot, view })),
  );
  return useMemo(() => lastRunOf(parts), [parts]);
}
