"use client";

import { GitFork, PencilLine } from "lucide-react";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useState } from "react";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { RunProvider, useRun } from "#components/runs/store/run-context.tsx";
import { planOf } from "#components/runs/store/run-snapshot.ts";
import { createRunStore } from "#components/runs/store/run-store.ts";
import { BackLink } from "#components/shell/back-link.tsx";
import { useTitle } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Canvas } from "#components/workflow-editor/canvas/canvas.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { CanvasProvider, useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { createCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import type { RunValues } from "#components/workflow-editor/fields/run-form.tsx";
import { inputToRepeat } from "#components/workflow-editor/fields/run-values.ts";
import { RefusalNotice, type Reuse } from "#components/workflow-editor/fork/refusal-notice.tsx";
import { AgentNamesProvider } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { createEditorSession } from "#components/workflow-editor/session/editor-session.ts";
import { SessionProvider } from "#components/workflow-editor/session/session-context.tsx";
import { SidePanel } from "#components/workflow-editor/side-panel.tsx";
import { useStaleResults } from "#components/workflow-editor/test-runs/use-stale-results.ts";
import type { WorkflowEditorState } from "#server/features/workflows/schema.ts";
import type { ExecutionView } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf } from "#server/workflow/graph.ts";

const RunInputDialog = loadedOnUse(() =>
  import("#components/workflow-editor/fork/run-input-dialog.tsx").then((module) => module.RunInputDialog),
);

interface ForkEditorProps {
  view: ExecutionView;
  workflow: WorkflowEditorState;
}

const never = () => Promise.reject(new Error("A fork changes no workflow."));

/** The canvas of a run that has ended: its graph with its results, to be changed. Nothing of it is written to the workflow. */
export function ForkEditor({ view, workflow }: ForkEditorProps) {
  const client = useTRPCClient();
  const { canEdit } = useStudio();
  const [stores] = useState(() => {
    const editor = createEditorStore(view.graph, { isReadOnly: !canEdit });
    const run = createRunStore({});
    // The node's panel asks it which workflow this is. It is never started, and so saves nothing.
    const session = createEditorSession({
      workflowId: view.execution.workflow_id,
      initial: workflow,
      editor,
      isReadOnly: true,
      api: { editor: never, head: never, saveDraft: never, update: never, errorOf: errorBodyOf },
    });
    return { editor, run, session, ui: createCanvasUiStore() };
  });
  useEffect(() => {
    stores.run.getState().show(view);
    return () => stores.run.getState().clear();
  }, [stores, view]);
  useTitle(`Fork of ${view.execution.workflow_name}`);
  const fork = (options: ForkOptions) => {
    const { nodes, edges } = stores.editor.getState().graph();
    return client.executions.fork.mutate({ execution_id: view.execution.id, nodes, edges, ...options });
  };
  return (
    <AgentNamesProvider>
      <CanvasProvider editor={stores.editor} ui={stores.ui}>
        <RunProvider value={stores.run}>
          <SessionProvider value={stores.session}>
            <ForkLayout view={view} fork={fork} canFork={canEdit && isFinal(view.execution.status)} />
          </SessionProvider>
        </RunProvider>
      </CanvasProvider>
    </AgentNamesProvider>
  );
}

interface ForkOptions extends RunValues {
  from_node_id?: string;
  reuse_stale?: boolean;
}

/** Fields that start at a node, as the caller has chosen after a refusal. */
const startingAt = (node_id: string | null, reuse: Reuse | undefined): ForkOptions => ({
  ...(node_id !== null && reuse !== "fresh" && { from_node_id: node_id }),
  ...(reuse === "stale" && { reuse_stale: true }),
});

interface ForkLayoutProps {
  view: ExecutionView;
  fork: (options: ForkOptions) => Promise<{ execution_id: string }>;
  canFork: boolean;
}

function ForkLayout({ view, fork, canFork }: ForkLayoutProps) {
  const router = useRouter();
  const editor = useEditorStore();
  const [isSheetOpen, setIsSheetOpen] = useState(false);
  // "Run again with another input" leads here: the dialog starts the run at once, from the node that the address names.
  const query = useSearchParams();
  const isOnlyInput = query.get("input") !== null;
  const [isAsking, setIsAsking] = useState(isOnlyInput);
  const [values, setValues] = useState<RunValues | null>(null);
  const [isStarting, setIsStarting] = useState(false);
  const [failure, setFailure] = useState<{ error: ReturnType<typeof errorBodyOf>; from: string | null } | null>(null);
  // Told apart by its parts: an object that is made anew each time is never the same.
  const { id, type } = useEditorShallow(({ nodes }) => {
    const first = nodes.find((node) => node.selected);
    return { id: first?.id, type: first?.type };
  });
  const selected = id === undefined ? undefined : { id, type: type ?? "" };
  const isChanged = useRun((state) => state.isOtherGraph);
  useStaleResults();
  const { execution, graph } = view;

  const replay = async (from: string | null, reuse?: Reuse) => {
    setIsStarting(true);
    if (!reuse) setFailure(null);
    try {
      const { execution_id } = await fork({ ...values, ...startingAt(from, reuse) });
      router.push(`/runs/${execution.id}/compare/${execution_id}`);
    } catch (error) {
      setFailure({ error: errorBodyOf(error), from });
      setIsStarting(false);
    }
  };
  // A loop's body runs with its loop.
  const fromOf = (id: string) => planOf(editor.getState().graph()).loopsAround(id)[0] ?? id;
  const label = selected && labelOf(editor.getState().data[selected.id] ?? {}, selected.type);
  const canBegin = selected !== undefined && definitionOf(selected.type)?.isInert !== true;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <UnsavedGuard isDirty={(isChanged || values !== null) && !isStarting} />
      <PageHeader
        className="shrink-0 border-b bg-surface px-8 pt-8 pb-2.5 max-md:px-4"
        back={<BackLink href={`/runs/${execution.id}`}>Run</BackLink>}
        title={
          <>
            <span className="sr-only">Fork of </span>
            {execution.workflow_name}
          </>
        }
        description="Changes apply to the new run only. Results before the first change are reused, and the workflow is not changed."
        actions={
          <>
            <Button icon={<PencilLine />} disabled={!canFork} onClick={() => setIsAsking(true)}>
              {values === null ? "Change input…" : "Input changed…"}
            </Button>
            {canBegin && (
              <Button disabled={!canFork} isPending={isStarting} onClick={() => void replay(fromOf(selected.id))}>
                <span className="max-w-56 truncate">Replay from “{label}”</span>
              </Button>
            )}
            <Button
              variant="primary"
              icon={<GitFork />}
              isPending={isStarting}
              disabled={!canFork || !(isChanged || values !== null)}
              onClick={() => void replay(null)}
            >
              Replay changes
            </Button>
          </>
        }
      />
      {!canFork && (
        <Notice className="m-3">
          {isFinal(execution.status)
            ? "Only editors can run it again with changes."
            : "This run has not ended. You can run it again with changes when it has."}
        </Notice>
      )}
      {failure && (
        <RefusalNotice
          className="m-3"
          error={failure.error}
          isPending={isStarting}
          onChoose={(reuse) => void replay(failure.from, reuse)}
        />
      )}
      <div className="flex min-h-0 flex-1">
        <div className="min-h-0 min-w-0 flex-1">
          <Canvas onNodeOpen={() => setIsSheetOpen(true)} />
        </div>
        <SidePanel isSheetOpen={isSheetOpen} onSheetClose={() => setIsSheetOpen(false)} />
      </div>
      {isAsking && (
        <RunInputDialog
          title={isOnlyInput ? "Run again with another input" : "Input of the replay"}
          graph={graph}
          input={values?.input ?? (values?.params ? JSON.stringify(values.params) : inputToRepeat(view))}
          submitLabel={isOnlyInput ? "Start run" : "Take this input"}
          submit={async (given, reuse) => {
            if (!isOnlyInput) {
              setValues(given);
              return setIsAsking(false);
            }
            const { execution_id } = await fork({ ...given, ...startingAt(query.get("from"), reuse) });
            router.push(`/runs/${execution_id}`);
          }}
          onClose={() => {
            setIsAsking(false);
            if (isOnlyInput) router.replace(`/runs/${execution.id}/fork`);
          }}
        />
      )}
    </div>
  );
}
