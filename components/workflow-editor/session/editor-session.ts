import { z } from "zod";
import { createStore } from "zustand/vanilla";
import { type AutosaveClock, type AutosaveState, createAutosave } from "#components/autosave.ts";
import { unsavedCopies } from "#components/unsaved-copy.ts";
import { sameGraph } from "#components/workflow-editor/canvas/document/flow-document.ts";
import type { EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import type {
  SaveDraftInput,
  UpdatedWorkflow,
  UpdateWorkflowInput,
  WorkflowDraft,
  WorkflowEditorState,
  WorkflowHead,
} from "#server/features/workflows/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { Graph, type Problem } from "#server/workflow/schema.ts";

const copies = unsavedCopies(
  "treadle.unsaved.",
  z.object({
    graph: Graph,
    revision: z.number().int(),
    /** What the server had at that revision, so that both sides can be put together when it has moved on. */
    base: Graph.optional().catch(undefined),
    /** What was on its way when the page was left. */
    sent: Graph.optional().catch(undefined),
  }),
);

/** The server, as far as saving needs it. */
export interface SessionApi {
  editor(): Promise<WorkflowEditorState>;
  head(): Promise<WorkflowHead>;
  saveDraft(input: SaveDraftInput): Promise<WorkflowDraft>;
  update(input: UpdateWorkflowInput): Promise<UpdatedWorkflow>;
  errorOf(error: unknown): ErrorBody;
}

/** Why a graph may not take a draft's place, or null: a canvas that lost its nodes by a fault must not wipe the work. */
export function validateDraft(graph: Graph): string | null {
  if (graph.nodes.length === 0) return "The canvas is empty, so the draft on the server is unchanged.";
  if (!graph.nodes.some((node) => node.type === "triggerNode"))
    return "The trigger is missing, so the draft on the server is unchanged. Undo, or reload the page.";
  return null;
}

/** What became of the last attempt to publish. */
export type PublishState =
  | { kind: "idle" }
  | { kind: "publishing" }
  /** Refused or failed: what the server said, with every fault that it names. */
  | { kind: "failed"; error: ErrorBody }
  /** Somebody published in between; `theirs` is what they published. */
  | { kind: "conflict"; detail: string; theirs: WorkflowEditorState };

export interface SessionState {
  name: string;
  version: number;
  /** Whether its trigger starts runs by itself. */
  enabled: boolean;
  /** Kind of the published version's trigger; what is on the canvas may be of another. */
  savedTrigger: string;
  /** The published version is the trigger alone that every workflow begins with. */
  isBare: boolean;
  autosave: AutosaveState;
  /** The other draft, once it is known what stands against ours. */
  draftConflict: WorkflowEditorState | null;
  /** Somebody else has written the draft since this page last had it, while nothing was changed here. */
  elsewhere: { who: string | null } | null;
  publish: PublishState;
  /** What is written so far of what is new; kept with the version once it is published. */
  note: string;
  /** Whether the canvas says more than the current version. */
  isAhead: boolean;
  /** What the server found in the draft at the last autosave. */
  serverProblems: readonly Problem[];
  serverProblemsTotal: number;
}

export interface SessionOptions {
  workflowId: string;
  initial: WorkflowEditorState;
  editor: EditorStore;
  api: SessionApi;
  isReadOnly: boolean;
  clock?: AutosaveClock;
  /** Told when work that was never sent came back from the browser's copy. */
  onRestored?: () => void;
  /** Receives the canvases whose widgets follow a label that was published. */
  onCanvasesChanged?: (canvases: UpdatedWorkflow["canvases_changed"]) => void;
}

export type EditorSession = ReturnType<typeof createEditorSession>;

// Loaded when two sides are first put together.
const loadMerge = () => import("#server/workflow/merge.ts");

const graphOf = ({ nodes, edges }: Graph): Graph => ({ nodes, edges });

/** Name of the step by which undo takes back what a rename of an agent wrote. */
const RENAME = "rename an agent";

/** Keeps the canvas and the server together: autosave, Publish, and what to do when two people change the same workflow. */
export function createEditorSession(options: SessionOptions) {
  const { workflowId, initial, editor, api, isReadOnly, clock, onRestored, onCanvasesChanged } = options;
  const store = createStore<SessionState>()(() => ({
    name: initial.workflow.name,
    version: initial.workflow.version,
    enabled: initial.workflow.enabled,
    savedTrigger: initial.workflow.trigger,
    isBare: initial.workflow.nodes.length <= 1,
    autosave: { kind: "saved" },
    draftConflict: null,
    elsewhere: null,
    publish: { kind: "idle" },
    note: "",
    isAhead: initial.is_draft_ahead,
    serverProblems: initial.draft.problems,
    serverProblemsTotal: initial.draft.problems_total,
  }));
  const { setState: set, getState: get } = store;
  let saved: Graph = initial.workflow;
  let baseVersion = initial.draft.base_version;
  let isLoading = false;
  let isRestored = false;
  const copy = copies.read(workflowId);
  const restores = copy !== null && !isReadOnly && !sameGraph(copy.graph, initial.draft);

  /** The draft as the server and this page last had it in common; null when that is not known. */
  let agreed: Graph | null = graphOf(initial.draft);
  if (restores && copy.revision !== initial.draft.revision) agreed = copy.base ?? null;

  /** Graph of the latest autosave. */
  let sent: Graph | null = null;

  async function saveDraft(graph: Graph, revision: number, unanswered: readonly Graph[]): Promise<WorkflowDraft> {
    sent = graph;
    const save = (since: number) => api.saveDraft({ workflow_id: workflowId, ...graphOf(graph), revision: since });
    return save(revision).catch(async (failure) => {
      if (api.errorOf(failure).error_code !== "CONFLICT") throw failure;
      const { draft } = await api.editor();
      if (!unanswered.some((sent) => sameGraph(sent, draft))) throw failure;
      agreed = graphOf(draft);
      return save(draft.revision);
    });
  }

  const autosave = createAutosave<Graph, WorkflowDraft, number>({
    // A copy was made from its own revision: if the draft has moved on since, the server says so and a side is chosen.
    revision: restores ? copy.revision : initial.draft.revision,
    work: () => editor.getState().graph(),
    revisionOf: (draft) => draft.revision,
    holdBack: validateDraft,
    ...(restores && copy.sent && { unanswered: [copy.sent] }),
    send: saveDraft,
    errorOf: api.errorOf,
    onSaved(draft) {
      agreed = graphOf(draft);
      set({ serverProblems: draft.problems, serverProblemsTotal: draft.problems_total });
      if (sent && !sameGraph(sent, draft)) void followRename(sent, draft);
    },
    onState(state) {
      set({ autosave: state });
      if (state.kind === "saved") {
        copies.drop(workflowId);
        set({ isAhead: !sameGraph(editor.getState().graph(), saved) });
      } else if (state.kind === "retrying" || state.kind === "conflict" || state.kind === "refused") keepUnsaved();
      if (state.kind === "conflict")
        void api.editor().then(
          (theirs) => set({ draftConflict: theirs }),
          () => set({ draftConflict: null }),
        );
      if (state.kind === "changed") set({ isAhead: true });
    },
    ...(clock && { clock }),
  });
  const keepUnsaved = () => {
    const work = { graph: editor.getState().graph(), revision: autosave.revision };
    const withBase = { ...work, ...(agreed && { base: agreed }) };
    const sent = autosave.unanswered.at(-1);
    // Each of them takes as much room as the work.
    copies.keep(workflowId, { ...withBase, ...(sent && { sent: graphOf(sent) }) }, withBase, work);
  };

  /** Takes over what the server has, as a step that undo takes back. `graph`: their draft, what they published, or theirs and mine in one. */
  function take(theirs: WorkflowEditorState, { nodes, edges }: Graph, name: string) {
    isLoading = true;
    editor.getState().replace({ nodes, edges }, name);
    isLoading = false;
    know(theirs);
    autosave.rebase(theirs.draft.revision, !sameGraph({ nodes, edges }, theirs.draft));
  }
  function know({ workflow, draft }: WorkflowEditorState) {
    saved = workflow;
    agreed = graphOf(draft);
    baseVersion = draft.base_version;
    set({
      version: workflow.version,
      enabled: workflow.enabled,
      savedTrigger: workflow.trigger,
      isBare: workflow.nodes.length <= 1,
      name: workflow.name,
      serverProblems: draft.problems,
      serverProblemsTotal: draft.problems_total,
      draftConflict: null,
      elsewhere: null,
    });
  }

  /** Puts onto the canvas what the server wrote for `before` after a rename of an agent; changes made since stay. */
  async function followRename(before: Graph, draft: WorkflowDraft): Promise<void> {
    if (sameGraph(editor.getState().graph(), before)) {
      isLoading = true;
      editor.getState().replace(graphOf(draft), RENAME);
      isLoading = false;
    } else {
      const { mergeGraphs } = await loadMerge();
      editor.getState().replace(mergeGraphs(before, editor.getState().graph(), draft).graph, RENAME);
    }
    // The published version follows a rename as well.
    const now = await api.editor().catch(() => null);
    if (now?.draft.revision !== autosave.revision) return;
    know(now);
    set({ isAhead: !sameGraph(editor.getState().graph(), saved) });
  }

  /** Makes what is on the canvas the version after `from`; left out, the one after whatever there is. */
  async function update(graph: Graph, from: number | undefined): Promise<void> {
    const { note } = get();
    const workflow = await api.update({
      workflow_id: workflowId,
      ...graph,
      ...(from !== undefined && { version: from }),
      ...(note.trim() !== "" && { note }),
    });
    const now = await api.editor();
    know(now);
    set({ publish: { kind: "idle" }, version: workflow.version, note: "" });
    if (workflow.canvases_changed.total > 0) onCanvasesChanged?.(workflow.canvases_changed);
    autosave.rebase(now.draft.revision, !sameGraph(editor.getState().graph(), graph));
    if (!sameGraph(graph, workflow)) await followRename(graph, now.draft);
  }

  async function publish({ overwrites = false } = {}): Promise<boolean> {
    if (isReadOnly || get().publish.kind === "publishing") return false;
    if (get().elsewhere && !overwrites) {
      // What is known to be there would be lost: first it is compared.
      await look().catch((failure) => set({ publish: { kind: "failed", error: api.errorOf(failure) } }));
      return false;
    }
    // Of two presses of Publish the second may come here when the first is done.
    if (!overwrites && sameGraph(editor.getState().graph(), saved)) return false;
    set({ publish: { kind: "publishing" } });
    const isSent = await autosave.flush();
    if (!isSent && !overwrites) {
      const { state } = autosave;
      const detail =
        "detail" in state
          ? state.detail
          : "reason" in state
            ? state.reason
            : "The latest changes are not on the server yet. Try again in a moment.";
      // A conflict has its own banner with the choice.
      set({
        publish:
          state.kind === "conflict" ? { kind: "idle" } : { kind: "failed", error: { detail, error_code: "INTERNAL_ERROR", status: 0 } },
      });
      return false;
    }
    const graph = editor.getState().graph();
    autosave.pause();
    try {
      const before = saved;
      await update(graph, overwrites ? undefined : baseVersion).catch(async (failure) => {
        if (overwrites || api.errorOf(failure).error_code !== "CONFLICT") throw failure;
        // A new name, or the switch, has counted the version up and changed nothing that runs: there is nothing to choose.
        const { workflow } = await api.editor();
        if (workflow.version === baseVersion || !sameGraph(workflow, before)) throw failure;
        await update(graph, workflow.version);
      });
      return true;
    } catch (failure) {
      autosave.resume();
      const error = api.errorOf(failure);
      const theirs = error.error_code === "CONFLICT" ? await api.editor().catch(() => null) : null;
      set({ publish: theirs ? { kind: "conflict", detail: error.detail, theirs } : { kind: "failed", error } });
      return false;
    }
  }

  /** What is changed here, or on its way, finds out by itself. */
  const isStill = () => !isReadOnly && get().autosave.kind === "saved" && !autosave.isPending && get().publish.kind !== "publishing";

  /** Looks whether somebody else has changed the workflow. When that cannot be asked now, the next look will tell. */
  async function check(): Promise<void> {
    if (!isStill()) return;
    const head = await api.head().catch(() => null);
    if (!head || !isStill()) return;
    if (head.revision === autosave.revision && head.version === get().version) return;
    const now = await api.editor().catch(() => null);
    if (!now || !isStill()) return;
    const { renamed_since: since } = now.draft;
    if (since !== null && since <= autosave.revision) return take(now, now.draft, RENAME);
    if (!sameGraph(now.draft, editor.getState().graph())) return set({ elsewhere: { who: head.updated_by } });
    // Written without a change of the graph, such as a publication or a new name: nothing to choose.
    know(now);
    autosave.rebase(now.draft.revision, false);
  }

  /** Reads what somebody else changed, to be compared with the canvas. */
  async function look(): Promise<void> {
    set({ draftConflict: await api.editor() });
  }

  return {
    workflowId,
    store,
    publish,
    check,
    look,
    get isPending() {
      return autosave.isPending;
    },
    /** Sends at once what is not on the server yet; resolves with true when it has everything. */
    flush: () => autosave.flush(),
    closePublish: () => set({ publish: { kind: "idle" } }),
    /** Takes a note of what is new, for the version that is published next. */
    describe: (note: string) => set({ note }),
    /**
     * What is no part of the graph, changed at once and whether or not the draft is published.
     * @throws what the server said
     */
    async change(fields: Pick<UpdateWorkflowInput, "name" | "enabled" | "error_workflow_id">) {
      const workflow = await api.update({ workflow_id: workflowId, ...fields });
      baseVersion = workflow.version;
      set({ name: workflow.name, version: workflow.version, enabled: workflow.enabled });
    },
    async loadTheirs() {
      const isOverPublish = get().publish.kind === "conflict";
      const theirs = await api.editor();
      // Over a version, the draft on the server may be ours already: what stands against it is their version.
      take(theirs, isOverPublish ? theirs.workflow : theirs.draft, "load the other version");
      set({ publish: { kind: "idle" } });
    },
    /** What both sides of a conflict started from; null when it is not known. */
    baseOf: (over: "draft" | "publish"): Graph | null => (over === "publish" ? saved : agreed),
    /**
     * Puts what both did onto the canvas, as a step that undo takes back; Publish makes it a version.
     * @param isMineFirst where both changed the same, mine is kept
     * @returns false when both have changed the same by now and nobody has said whose is to be kept: then nothing happens
     */
    async keepBoth(isMineFirst: boolean): Promise<boolean> {
      const { publish: over } = get();
      const base = over.kind === "conflict" ? saved : agreed;
      const [theirs, { mergeGraphs }] = await Promise.all([api.editor(), loadMerge()]);
      if (!base) return false;
      const { graph, isClean } = mergeGraphs(base, editor.getState().graph(), over.kind === "conflict" ? theirs.workflow : theirs.draft);
      if (!isClean && !isMineFirst) {
        set(over.kind === "conflict" ? { publish: { ...over, theirs } } : { draftConflict: theirs });
        return false;
      }
      take(theirs, graph, "keep both versions");
      set({ publish: { kind: "idle" } });
      return true;
    },
    /** Puts the canvas over their draft. */
    async keepMine() {
      const theirs = await api.editor();
      know(theirs);
      autosave.rebase(theirs.draft.revision, true);
    },
    /**
     * Puts a change of the draft that the server makes, such as a proposal that is accepted, onto the canvas as one step of undo. What
     * is changed here while the server is asked is kept.
     * @param change asks the server, once it has everything; resolves with the draft as it is then
     * @returns false when the server does not have what is on the canvas: then nothing happens
     * @throws what the server said
     */
    async adopt(name: string, change: () => Promise<WorkflowDraft>): Promise<boolean> {
      if (isReadOnly || !(await autosave.flush())) return false;
      const { mergeGraphs } = await loadMerge();
      const sent = editor.getState().graph();
      autosave.pause();
      try {
        const draft = await change();
        const now = editor.getState().graph();
        const graph = sameGraph(sent, now) ? graphOf(draft) : mergeGraphs(sent, now, draft).graph;
        isLoading = true;
        editor.getState().replace(graph, name);
        isLoading = false;
        agreed = graphOf(draft);
        baseVersion = draft.base_version;
        set({ serverProblems: draft.problems, serverProblemsTotal: draft.problems_total, draftConflict: null, elsewhere: null });
        autosave.rebase(draft.revision, !sameGraph(graph, draft));
        return true;
      } catch (failure) {
        autosave.resume();
        throw failure;
      }
    },
    /** Begins to watch the canvas; the returned function sends the rest and stops. */
    start() {
      autosave.start();
      if (copy && !restores) copies.drop(workflowId);
      if (restores && !isRestored) {
        isRestored = true;
        editor.getState().replace(copy.graph, "restore unsaved changes");
        autosave.change();
        onRestored?.();
      }
      const unsubscribe = editor.subscribe((state, before) => {
        if (state.revision !== before.revision && !isLoading) autosave.change();
      });
      const onHide = () => {
        if (!autosave.isPending) return;
        keepUnsaved();
        void autosave.flush();
      };
      const onUnload = (event: BeforeUnloadEvent) => {
        if (autosave.isPending) event.preventDefault();
      };
      const onSeen = () => {
        if (document.visibilityState === "visible") void check();
      };
      document.addEventListener("visibilitychange", onHide);
      addEventListener("focus", onSeen);
      addEventListener("beforeunload", onUnload);
      return () => {
        unsubscribe();
        document.removeEventListener("visibilitychange", onHide);
        removeEventListener("focus", onSeen);
        removeEventListener("beforeunload", onUnload);
        onHide();
        autosave.stop();
      };
    },
  };
}
