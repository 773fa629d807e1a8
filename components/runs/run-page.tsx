"use client";

import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import { ExecutorBanner } from "#components/runs/executor-banner.tsx";
import { NodeValues } from "#components/runs/node-values.tsx";
import { RunContextHeader } from "#components/runs/run-header.tsx";
import { RunResult } from "#components/runs/run-result.tsx";
import { RunReviewList, WaitingBanner } from "#components/runs/run-reviews.tsx";
import { RunProvider, useRun } from "#components/runs/store/run-context.tsx";
import { isReview } from "#components/runs/store/run-snapshot.ts";
import { createRunStore, type RunStore } from "#components/runs/store/run-store.ts";
import { useSelectedNode } from "#components/runs/use-selected-node.ts";
import { AssistantContext, type AssistantPlace } from "#components/shell/assistant.tsx";
import { FullPageLoading } from "#components/shell/full-page-loading.tsx";
import { useTitle } from "#components/shell/page.tsx";
import { useSeenFailures } from "#components/shell/use-notifications.ts";
import { useApi } from "#components/trpc.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";
import { Tabs } from "#components/ui/tabs.tsx";
import { Canvas } from "#components/workflow-editor/canvas/canvas.tsx";
import { FollowRun } from "#components/workflow-editor/canvas/follow-run.tsx";
import { CanvasProvider } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { createCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { AgentNamesProvider } from "#components/workflow-editor/nodes/project-lookups.tsx";
import type { ExecutionView } from "#server/runs/schema.ts";
import { labelOf } from "#server/workflow/graph.ts";

// Loaded when their tab is first opened.
const RunTimeline = loadedOnUse(() => import("#components/runs/run-timeline.tsx").then((module) => module.RunTimeline));
const RunLog = loadedOnUse(() => import("#components/runs/run-log.tsx").then((module) => module.RunLog));

/** One execution: read once, then followed until it ends. */
export function RunPage({ executionId }: { executionId: string }) {
  const { trpc, client, cache } = useApi();
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

  if (error || !data)
    return (
      <FullPageLoading query={{ error, refetch }} back={{ href: "/runs", label: "Runs" }} missing={{ what: "run", href: "/runs" }}>
        Opening the run…
      </FullPageLoading>
    );
  return (
    <AgentNamesProvider>
      <RunView key={executionId} view={data} store={store} />
    </AgentNamesProvider>
  );
}

/** What is open and selected, so that one can ask about it without naming it. */
function placeOf({ execution, graph }: ExecutionView, selected: string | null, hasFailed: boolean): AssistantPlace {
  const node = graph.nodes.find(({ id }) => id === selected);
  return {
    workflow: { id: execution.workflow_id, name: execution.workflow_name },
    execution: { id: execution.id, name: execution.workflow_name, hasFailed },
    ...(node && { node: { id: node.id, name: labelOf(node) } }),
  };
}

type View = "graph" | "timeline" | "log" | "reviews";

/** One run in three views of the same data, with the values of the node that is picked beside them. */
export function RunView({ view, store }: { view: ExecutionView; store: RunStore }) {
  const [stores] = useState(() => ({ editor: createEditorStore(view.graph, { isReadOnly: true }), ui: createCanvasUiStore() }));
  useTitle(`Run of ${view.execution.workflow_name}`);
  return (
    <RunProvider value={store}>
      <CanvasProvider editor={stores.editor} ui={stores.ui}>
        <RunLayout initial={view} onOpen={(nodeId) => stores.editor.getState().selectOnly(nodeId)} />
      </CanvasProvider>
    </RunProvider>
  );
}

function RunLayout({ initial, onOpen }: { initial: ExecutionView; onOpen: (nodeId: string) => void }) {
  const [tab, setTab] = useState<View>("graph");
  const [opened, setOpened] = useState<ReadonlySet<View>>(new Set([tab]));
  const show = (view: View) => {
    setTab(view);
    setOpened((before) => new Set([...before, view]));
  };
  const hasReviews = initial.graph.nodes.some((node) => isReview(node.type));
  const selected = useSelectedNode();
  const failed = useRun(({ snapshot }) =>
    snapshot?.status === "failed" ? (snapshot.order.findLast((id) => snapshot.nodes[id]?.status === "failed") ?? null) : null,
  );

  const hasFailed = useRun(({ snapshot }) => snapshot?.status === "failed");
  useSeenFailures(hasFailed, `/runs/${initial.execution.id}`);

  // Once: the node that the address names, else what failed; after that the reader decides.
  const named = useSearchParams().get("node");
  const first = initial.graph.nodes.some(({ id }) => id === named) ? named : failed;
  const isOpened = useRef(false);
  useEffect(() => {
    if (isOpened.current || first === null) return;
    isOpened.current = true;
    onOpen(first);
  }, [first, onOpen]);

  return (
    // On a phone the whole page scrolls: in the height of one screen the graph would be a strip.
    <div className="flex h-full min-h-0 flex-col max-md:h-auto">
      <AssistantContext value={placeOf(initial, selected, failed !== null)} />
      <RunContextHeader initial={initial} />
      <WaitingBanner />
      <ExecutorBanner />
      <div className="flex min-h-0 flex-1 max-md:flex-col">
        <Tabs
          label="Views of this run"
          value={tab}
          onValueChange={show}
          className="min-h-0 min-w-0 flex-1 max-md:h-[50dvh] max-md:flex-none"
          panelClassName="overflow-y-auto"
          tabs={[
            { value: "graph", label: "Graph", content: <Canvas controls={<FollowRun />} /> },
            {
              value: "timeline",
              label: "Timeline",
              content: opened.has("timeline") && <RunTimeline selected={selected} isShown={tab === "timeline"} />,
            },
            {
              value: "log",
              label: "Log",
              content: opened.has("log") && <RunLog executionId={initial.execution.id} isShown={tab === "log"} />,
            },
            ...(hasReviews ? [{ value: "reviews" as const, label: "Reviews", content: <RunReviewList /> }] : []),
          ]}
        />
        <ResizableDivider
          name="run-values"
          label="Resize the values"
          orientation="vertical"
          area="after"
          defaultSize={420}
          min={280}
          max={0.6}
          className="max-md:hidden"
        />
        <aside
          aria-label="Values"
          className="flex min-h-0 w-[min(var(--layout-run-values,420px),60vw)] shrink-0 flex-col bg-surface max-md:h-[45dvh] max-md:w-full max-md:border-t"
        >
          <RunResult />
          <div className="min-h-0 flex-1">{selected && <NodeValues key={selected} nodeId={selected} />}</div>
        </aside>
      </div>
    </div>
  );
}
