"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { formatChanged } from "#components/changed-names.ts";
import { RunPanel } from "#components/runs/run-panel.tsx";
import { EditorRunContext, RunProvider, useRun } from "#components/runs/store/run-context.tsx";
import { createRunStore } from "#components/runs/store/run-store.ts";
import { AssistantContext, useAssistant, useAssistantState } from "#components/shell/assistant.tsx";
import { FullPageLoading } from "#components/shell/full-page-loading.tsx";
import { useTitle } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi, useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { isFocusLost } from "#components/ui/focus.ts";
import { Kbd } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { Canvas } from "#components/workflow-editor/canvas/canvas.tsx";
import { OutlineButton } from "#components/workflow-editor/canvas/control-bar.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { FollowRun } from "#components/workflow-editor/canvas/follow-run.tsx";
import { CanvasProvider, useCanvasUi, useEditor, useEditorShallow } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { createCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { EditorHeader, type EditorTab } from "#components/workflow-editor/editor-header.tsx";
import { HistoryProvider, useComparison, useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { PublishFailure } from "#components/workflow-editor/history/publish-controls.tsx";
import { usePublishKeys } from "#components/workflow-editor/history/use-publish.ts";
import { AgentNamesProvider } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { ProblemsPopover, useProblems } from "#components/workflow-editor/problems/problems.tsx";
import { ProposalProvider, useProposal } from "#components/workflow-editor/proposals/proposal-context.tsx";
import { createEditorSession } from "#components/workflow-editor/session/editor-session.ts";
import { SessionProvider, useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { SidePanel } from "#components/workflow-editor/side-panel.tsx";
import { PastRunBar } from "#components/workflow-editor/test-runs/past-run-bar.tsx";
import { PinsPopover } from "#components/workflow-editor/test-runs/pins.tsx";
import { useRunActions } from "#components/workflow-editor/test-runs/run-actions.tsx";
import { useStaleResults } from "#components/workflow-editor/test-runs/use-stale-results.ts";
import { useWorkflowRun } from "#components/workflow-editor/test-runs/use-workflow-run.ts";
import type { WorkflowEditorState } from "#server/features/workflows/schema.ts";

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
  if (error || !data)
    return (
      <FullPageLoading
        query={{ error, refetch }}
        back={{ href: "/workflows", label: "Workflows" }}
        missing={{ what: "workflow", href: "/workflows" }}
      >
        Opening the workflow…
      </FullPageLoading>
    );
  return (
    <AgentNamesProvider>
      <EditorView key={workflowId} initial={data} />
    </AgentNamesProvider>
  );
}

// Loaded when it is first looked at.
const WorkflowRuns = loadedOnUse(() => import("#components/runs/workflow-runs.tsx").then((module) => module.WorkflowRuns));

// Loaded when somebody else has written meanwhile.
const loadConflicts = () => import("#components/workflow-editor/history/conflict-notices.tsx");
const DraftConflict = loadedOnUse(() => loadConflicts().then((module) => module.DraftConflict));
const PublishConflictDialog = loadedOnUse(() => loadConflicts().then((module) => module.PublishConflictDialog));

/** The editor around one workflow: its stores live as long as it is open. */
export function EditorView({ initial }: { initial: WorkflowEditorState }) {
  const { canEdit } = useStudio();
  const { trpc, client, cache } = useApi();
  const workflowId = initial.workflow.id;
  const [stores] = useState(() => {
    const editor = createEditorStore(initial.draft, { isReadOnly: !canEdit });
    const session = createEditorSession({
      workflowId,
      initial,
      editor,
      isReadOnly: !canEdit,
      onRestored: () => toast.info("Changes that had not reached the server were brought back from this browser."),
      onCanvasesChanged: (canvases) => toast.info(`The new label was written into the canvas widgets of ${formatChanged(canvases)}.`),
      api: {
        editor: () => client.workflows.editor.query({ workflow_id: workflowId }),
        head: () => client.workflows.head.query({ workflow_id: workflowId }),
        saveDraft: (input) => client.workflows.saveDraft.mutate(input),
        update: (input) => client.workflows.update.mutate(input),
        errorOf: errorBodyOf,
      },
    });
    const run = createRunStore({
      onEnd: (executionId) => {
        void cache.invalidateQueries(trpc.executions.pathFilter());
        const { snapshot } = run.getState();
        editor.getState().say(`Run ${snapshot?.status ?? "ended"}`);
        // What the last event leaves out (all tokens, the whole output) is in the API's answer.
        void client.executions.view.query({ execution_id: executionId }).then(
          (view) => run.getState().executionId === executionId && run.getState().show(view),
          () => {},
        );
      },
    });
    return { editor, session, run, ui: createCanvasUiStore() };
  });
  useEffect(() => (canEdit ? stores.session.start() : undefined), [stores, canEdit]);
  useEffect(() => () => stores.run.getState().clear(), [stores]);
  return (
    <CanvasProvider editor={stores.editor} ui={stores.ui}>
      <RunProvider value={stores.run}>
        <SessionProvider value={stores.session}>
          <HistoryProvider>
            <ProposalProvider isReadOnly={!canEdit}>
              <EditorLayout workflowId={workflowId} isReadOnly={!canEdit} />
            </ProposalProvider>
          </HistoryProvider>
        </SessionProvider>
      </RunProvider>
    </CanvasProvider>
  );
}

function EditorLayout({ workflowId, isReadOnly }: { workflowId: string; isReadOnly: boolean }) {
  const [tab, setTab] = useState<EditorTab>("editor");
  const [isSheetOpen, setIsSheetOpen] = useState(false);
  const history = useHistoryStore();
  const hasProposal = useProposal().proposal !== null;
  const historyAsked = useHistory((state) => state.asked);
  useEffect(() => {
    if (historyAsked > 0) setTab("editor");
  }, [historyAsked]);
  const run = useWorkflowRun(workflowId);
  const editorRun = useRunActions(run, isReadOnly, () => setTab("editor"));
  usePublishKeys();
  useTitle(useSessionState((state) => state.name));
  const isDraftConflict = useSessionState((state) => state.autosave.kind === "conflict");
  const isPublishConflict = useSessionState((state) => state.publish.kind === "conflict");
  return (
    <EditorRunContext value={editorRun}>
      <TellAssistant />
      <KeepChecked />
      <Composing />
      <div className="flex h-full min-h-0 flex-col">
        <EditorHeader tab={tab} onTabChange={setTab} run={run} isReadOnly={isReadOnly} />
        <div
          role="tabpanel"
          id="panel-editor"
          aria-labelledby="view-editor"
          className={tab === "editor" ? "flex min-h-0 flex-1" : "hidden"}
        >
          <div className="flex min-h-0 min-w-0 flex-1 flex-col">
            <CanvasOrComparison isReadOnly={isReadOnly}>
              <Canvas
                firstView="beginning"
                controls={
                  <>
                    <OutlineButton />
                    <span className="max-sm:hidden">
                      <FollowRun />
                    </span>
                    <ProblemsPopover />
                    <PinsPopover />
                  </>
                }
                onNodeOpen={() => {
                  setIsSheetOpen(true);
                  history.getState().close();
                }}
              >
                <FirstSteps />
                <div className="pointer-events-none absolute inset-x-0 top-0 z-20 mx-auto max-w-160 *:pointer-events-auto">
                  {isDraftConflict && <DraftConflict />}
                  <PublishFailure />
                  {hasProposal && <HiddenProposal />}
                  <PastRunBar isPast={run.isPast} />
                </div>
              </Canvas>
            </CanvasOrComparison>
            <RunPanel />
          </div>
          <BesideCanvas isReadOnly={isReadOnly}>
            <SidePanel isSheetOpen={isSheetOpen} onSheetClose={() => setIsSheetOpen(false)} />
          </BesideCanvas>
        </div>
        {tab === "runs" && (
          <div role="tabpanel" id="panel-runs" aria-labelledby="view-runs" className="min-h-0 flex-1 overflow-y-auto">
            <WorkflowRuns workflowId={workflowId} />
          </div>
        )}
        {isPublishConflict && <PublishConflictDialog />}
      </div>
    </EditorRunContext>
  );
}

/** Looks for problems and for results that no longer hold; apart, so that nothing else is drawn again with what it learns. */
function KeepChecked() {
  useStaleResults();
  useProblems();
  return null;
}

/** What is open and selected here, so that one can ask about it without naming it. */
function TellAssistant() {
  const { workflowId } = useSession();
  const name = useSessionState((state) => state.name);
  const isBare = useEditor(({ nodes }) => nodes.length <= 1);
  const executionId = useRun((state) => state.executionId);
  const hasFailed = useRun(({ snapshot }) => snapshot?.status === "failed");
  const node = useEditorShallow(({ nodes, data }) => {
    const [only, ...others] = nodes.filter(({ selected }) => selected);
    return only && others.length === 0 ? { id: only.id, name: labelOf(data[only.id], only.type) } : null;
  });
  return (
    <AssistantContext
      value={{
        workflow: { id: workflowId, name, isBare },
        ...(executionId && { execution: { id: executionId, name, hasFailed } }),
        ...(node && { node }),
      }}
    />
  );
}

// Loaded when there is a proposal.
const loadBar = () => import("#components/workflow-editor/proposals/proposal-bar.tsx");
const ProposalBar = loadedOnUse(() => loadBar().then((module) => module.ProposalBar));
const HiddenProposal = loadedOnUse(() => loadBar().then((module) => module.HiddenProposal));

// Loaded when it is first asked for.
const ComposeDialog = loadedOnUse(() =>
  import("#components/workflow-editor/compose/compose-dialog.tsx").then((module) => module.ComposeDialog),
);

/** The dialogs that make a workflow of nodes, and nodes of a workflow. */
function Composing() {
  return useCanvasUi((state) => state.composing !== null) && <ComposeDialog />;
}

// Loaded for a workflow that is only its trigger.
const FirstRequest = loadedOnUse(() => import("#components/workflow-editor/first-request.tsx").then((module) => module.FirstRequest));

/** What to do with a workflow that is only its trigger: say what is wanted, where somebody can hear it, or begin by hand. */
function FirstSteps() {
  const isBare = useEditor((state) => state.nodes.length <= 1 && !state.isReadOnly);
  const isReady = useQuery(useTRPC().assistant.settings.queryOptions({}, { enabled: isBare })).data?.ready;
  const { isOpen, open } = useAssistant();
  const { canAdminister } = useStudio();
  const { subject } = useAssistantState();
  const { workflowId } = useSession();
  // An assistant that is open with this workflow asks by itself.
  if (!isBare || (isReady && isOpen && subject === workflowId)) return null;
  if (isReady) return <FirstRequest />;
  return (
    <p className="pointer-events-none absolute inset-x-0 top-[66%] z-10 px-4 text-center text-14 text-ink-soft">
      Press <Kbd>N</Kbd> to add a node, or drag from the dot at the trigger's right.
      {isReady === false && !isOpen && canAdminister && (
        <>
          {" "}
          <button
            type="button"
            className="pointer-events-auto min-h-6 text-thread-text underline underline-offset-2 pointer-coarse:min-h-11"
            onClick={() => open()}
          >
            Have the assistant build it
          </button>
        </>
      )}
    </p>
  );
}

// Loaded when it is first looked at.
const HistoryPanel = loadedOnUse(() =>
  import("#components/workflow-editor/history/history-panel.tsx").then((module) => module.HistoryPanel),
);
const ProposalPanel = loadedOnUse(() =>
  import("#components/workflow-editor/proposals/proposal-panel.tsx").then((module) => module.ProposalPanel),
);

/** What stands right of the canvas; while it is open the history of the workflow or what is proposed, and the rest is kept as it was. */
export function BesideCanvas({ isReadOnly, children }: { isReadOnly: boolean; children: ReactNode }) {
  const isOpen = useHistory((state) => state.isOpen);
  const isProposal = useHistory((state) => state.compared?.kind === "proposal");
  return (
    <>
      <div className={isOpen || isProposal ? "hidden" : "contents"}>{children}</div>
      {isOpen && (isProposal ? <ProposalPanel /> : <HistoryPanel isReadOnly={isReadOnly} />)}
    </>
  );
}

// Loaded for the first comparison.
const Comparing = loadedOnUse(() => import("#components/workflow-editor/history/comparing.tsx").then((module) => module.Comparing));
const VersionCompare = loadedOnUse(() =>
  import("#components/workflow-editor/history/version-compare.tsx").then((module) => module.VersionCompare),
);

/** Gives the focus to something when nothing has it. */
const focusIfLost = (target: HTMLElement | null | undefined) => {
  if (isFocusLost()) target?.focus({ preventScroll: true });
};

/** The live canvas, or while something is compared both sides drawn in its place. The draft is kept as it was. */
export function CanvasOrComparison({ isReadOnly, children }: { isReadOnly: boolean; children: ReactNode }) {
  const compared = useHistory((state) => state.compared);
  const comparison = useComparison();
  const { proposal } = useProposal();
  const area = useRef<HTMLDivElement>(null);
  const isProposed = useHistory((state) => state.compared?.kind === "proposal");
  // The focus goes on where the work does, when what had it went away with the proposal.
  useEffect(() => {
    if (isProposed) return () => focusIfLost(area.current?.querySelector<HTMLElement>("section"));
  }, [isProposed]);
  return (
    <div ref={area} className="relative min-h-0 flex-1">
      <div className={cn("size-full", comparison && "hidden")}>{children}</div>
      {compared && <Comparing compared={compared} />}
      {comparison && <VersionCompare comparison={comparison} isReadOnly={isReadOnly} />}
      {proposal && <ProposalBar />}
    </div>
  );
}
