"use client";

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { useTRPC } from "#components/trpc.tsx";
import { createStrictContext } from "#components/ui/strict-context.ts";
import {
  type CanvasDiff,
  canvasDiff,
  comparisonGraph,
  comparisonId,
  type DiffLabels,
} from "#components/workflow-editor/canvas/document/comparison.ts";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type CanvasUiStore, createCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { createEditorStore, type EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { formatDiffCounts, formatMerge } from "#components/workflow-editor/history/version-format.ts";
import { type Conflict, useConflict } from "#components/workflow-editor/session/conflict.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import type { Proposal } from "#server/features/assistant/schema.ts";
import { dictionary } from "#server/shared/json-text.ts";
import { countDiff, diffGraphs, type GraphDiff } from "#server/workflow/diff.ts";
import { mergeGraphs } from "#server/workflow/merge.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** What stands against what: a saved version, what somebody else wrote while one edited, or what the assistant proposes. */
export type ComparisonTarget =
  | { kind: "version"; version: number; against: "draft" | "previous" }
  | { kind: "conflict"; over: "draft" | "save" }
  | { kind: "proposal"; proposal: Proposal };

export interface HistoryState {
  isOpen: boolean;
  /** Counts what asked for the history to be seen, whichever view is shown. */
  asked: number;
  /** Null while the draft itself is on the canvas. */
  compared: ComparisonTarget | null;
  /** The dialog that asks for a version's name. */
  isNaming: boolean;
  open(): void;
  close(): void;
  compare(compared: ComparisonTarget | null): void;
}

/** On a phone, and beside the assistant, where the changes are told too, the canvas needs the room. */
const hasRoomForChanges = () => matchMedia("(width >= 48rem)").matches && document.documentElement.dataset.assistant !== "open";

const createHistoryStore = () =>
  createStore<HistoryState>()((set, get) => ({
    isOpen: false,
    asked: 0,
    compared: null,
    isNaming: false,
    open: () =>
      set(({ asked, compared }) => ({ isOpen: true, asked: asked + 1, compared: compared?.kind === "proposal" ? null : compared })),
    close: () => set({ isOpen: false, compared: null }),
    // The comparison with anything but a version brings the panel with it, and takes it away again; a proposal's where there is room.
    compare(compared) {
      const { isOpen, asked, compared: before } = get();
      if (compared) set({ compared, isOpen: compared.kind !== "proposal" || hasRoomForChanges(), asked: asked + 1 });
      else set({ compared, isOpen: isOpen && (before === null || before.kind === "version") });
    },
  }));

type HistoryStore = ReturnType<typeof createHistoryStore>;

/** The hook gives the store itself, for handlers. */
const [HistoryContext, useHistoryStore] = createStrictContext<HistoryStore>("HistoryProvider");

export { useHistoryStore };

const ComparisonContext = createContext<VersionComparison | null>(null);

/** What is open of a workflow's history, for the parts of the editor that show it. */
export function HistoryProvider({ children }: { children: ReactNode }) {
  const [store] = useState(createHistoryStore);
  return (
    <HistoryContext value={store}>
      <Comparing store={store}>{children}</Comparing>
    </HistoryContext>
  );
}

function Comparing({ store, children }: { store: HistoryStore; children: ReactNode }) {
  const comparison = useVersionComparison(useStore(store, (state) => state.compared));
  return <ComparisonContext value={comparison}>{children}</ComparisonContext>;
}

export const useHistory = <Part,>(select: (state: HistoryState) => Part): Part => useStore(useHistoryStore(), select);

/** The comparison that is open; null while the draft itself is on the canvas. */
export const useComparison = (): VersionComparison | null => useContext(ComparisonContext);

interface Side {
  /** What the reader calls it, e.g. "Version 3" or "Theirs". */
  title: string;
  graph: Graph;
}

/** What differs between two graphs, as one list. */
export interface Changes {
  /** Null where there is only one list. */
  title: string | null;
  before: Side;
  after: Side;
  diff: GraphDiff;
  words: DiffLabels;
}

/** Two graphs, how they differ, and a canvas of its own for them. */
export interface Comparison {
  /** Another one for each comparison, so that each has a canvas of its own. */
  id: number;
  before: Side;
  after: Side;
  diff: GraphDiff;
  /** Every difference: in one list, or by who made it. */
  changes: Changes[];
  /** How much differs. */
  summary: string;
  /** The conflict that is looked at; null for versions. */
  conflict: Conflict | null;
  editor: EditorStore;
  ui: CanvasUiStore;
  /** How what is on the canvas differs. */
  marks: CanvasDiff;
}

export type VersionComparison =
  | { kind: "loading" }
  | { kind: "failed"; error: unknown; retry: () => void }
  | ({ kind: "shown" } & Comparison);

const LATER: DiffLabels = { added: "New", changed: "Changed", removed: "Removed", moved: "Moved" };
const SIDES: DiffLabels = { added: "Only in yours", changed: "Differs", removed: "Only in theirs", moved: "Moved" };

const NOTHING: Graph = { nodes: [], edges: [] };

let count = 0;

/** A canvas that shows `after`, and as ghosts what it no longer has. */
function picture(after: Graph, diff: GraphDiff, words: DiffLabels, said: Record<string, string> = {}) {
  const editor = createEditorStore(comparisonGraph(after, diff), { isReadOnly: true });
  const ui = createCanvasUiStore();
  const marks = { ...canvasDiff(diff, words), said: dictionary(said) };
  ui.setState({ diff: marks });
  editor.setState(({ edges }) => ({
    edges: edges.map((edge) => {
      const kind = marks.edges[edge.id];
      const word = kind && (marks.said[edge.id] ?? words[kind]);
      return word ? { ...edge, ariaLabel: `${edge.ariaLabel}, ${word.toLowerCase()}` } : edge;
    }),
  }));
  count += 1;
  return { id: count, editor, ui, marks };
}

function compare(before: Side, after: Side, words: DiffLabels, conflict: Conflict | null = null): VersionComparison {
  const diff = diffGraphs(before.graph, after.graph);
  const changes = [{ title: null, before, after, diff, words }];
  const summary = formatDiffCounts(countDiff(diff)) ?? (diff.nodes.length ? "Only moved" : "No differences");
  return { kind: "shown", ...picture(after.graph, diff, words), before, after, diff, changes, summary, conflict };
}

/** Who did what: the words at a node, e.g. "Changed by them". */
const doneBy = (who: string): DiffLabels => ({
  added: `Added by ${who}`,
  changed: `Changed by ${who}`,
  removed: `Removed by ${who}`,
  moved: `Moved by ${who}`,
});

/** A conflict whose start is known: both in one picture, and in the lists who changed what. */
function compareThree(conflict: Conflict, { base, result }: NonNullable<Conflict["merge"]>): VersionComparison {
  const { theirs, mine, both } = result;
  const [before, after] = [
    { title: "Theirs", graph: conflict.theirs },
    { title: "Yours", graph: conflict.mine },
  ];
  const start = { title: "Before", graph: base };
  const said: Record<string, string> = {};
  const say = (diff: GraphDiff, words: DiffLabels) => {
    for (const { id, kind } of [...diff.nodes, ...diff.edges]) said[comparisonId(id)] = words[kind];
  };
  say(theirs, doneBy("them"));
  say(mine, doneBy("you"));
  for (const { id } of [...both.nodes, ...both.edges]) said[comparisonId(id)] = "Changed by both";
  const changes = [
    { title: "By both", before, after, diff: both, words: SIDES },
    { title: "By them", before: start, after: before, diff: theirs, words: LATER },
    { title: "By you", before: start, after, diff: mine, words: LATER },
  ].filter(({ diff }) => diff.nodes.length + diff.edges.length > 0);
  const shown = picture(result.graph, diffGraphs(base, result.graph), LATER, said);
  return { kind: "shown", ...shown, before, after, diff: conflict.diff, changes, summary: formatMerge(result), conflict };
}

const PROPOSED: DiffLabels = { added: "Added", changed: "Changed", removed: "Removed", moved: "Moved" };

/** What only makes room is not worth a word beside what is done. */
function withoutMoves(diff: GraphDiff): GraphDiff {
  const nodes = diff.nodes.filter(({ kind }) => kind !== "moved");
  return nodes.length + diff.edges.length > 0 ? { nodes, edges: diff.edges } : diff;
}

/** What the draft would become by a proposal, whatever has been done to it since. */
function compareProposal(proposal: Proposal, draft: Graph): VersionComparison {
  const { graph, both } = mergeGraphs(proposal.base, proposal.graph, draft);
  const [before, after] = [
    { title: "Now", graph: draft },
    { title: "Proposed", graph },
  ];
  const diff = withoutMoves(diffGraphs(draft, graph));
  const said = Object.fromEntries([...both.nodes, ...both.edges].map(({ id }) => [comparisonId(id), "Changed by you too"]));
  const changes = [{ title: null, before, after, diff, words: PROPOSED }];
  const shown = picture(graph, diff, PROPOSED, said);
  shown.ui
    .getState()
    .setProblems(proposal.problems.map((problem) => ({ ...problem, node_id: problem.node_id && comparisonId(problem.node_id) })));
  return { kind: "shown", ...shown, before, after, diff, changes, summary: proposal.summary, conflict: null };
}

/** What is compared, with the versions that it needs read from the server. The draft is the one on the canvas. */
export function useVersionComparison(compared: ComparisonTarget | null): VersionComparison | null {
  const trpc = useTRPC();
  const { workflowId } = useSession();
  const editor = useEditorStore();
  const revision = useEditor((state) => (compared ? state.revision : -1));
  const conflict = useConflict(compared?.kind === "conflict" ? compared.over : null);
  const version = compared?.kind === "version" ? compared.version : 0;
  const older = compared?.kind === "version" && compared.against === "previous" ? version - 1 : 0;
  // A saved version never changes.
  const read = (number: number) =>
    trpc.workflowVersions.get.queryOptions(
      { workflow_id: workflowId, version: Math.max(1, number) },
      { enabled: number > 0, staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false },
    );
  const own = useQuery(read(version));
  const previous = useQuery(read(older));

  // biome-ignore lint/correctness/useExhaustiveDependencies: the revision stands for the draft that is read from the store
  return useMemo((): VersionComparison | null => {
    if (!compared) return null;
    const draft = editor.getState().graph();
    if (compared.kind === "proposal") return compareProposal(compared.proposal, draft);
    if (compared.kind === "conflict") {
      if (!conflict) return null;
      if (conflict.merge) return compareThree(conflict, conflict.merge);
      return compare({ title: "Theirs", graph: conflict.theirs }, { title: "Yours", graph: conflict.mine }, SIDES, conflict);
    }
    for (const { isError, error, refetch } of [own, ...(older > 0 ? [previous] : [])])
      if (isError) return { kind: "failed", error, retry: () => void refetch() };
    if (!own.data || (older > 0 && !previous.data)) return { kind: "loading" };
    const saved = { title: `Version ${version}`, graph: own.data };
    if (compared.against === "draft") return compare(saved, { title: "Draft", graph: draft }, LATER);
    const before = older > 0 && previous.data ? { title: `Version ${older}`, graph: previous.data } : { title: "Nothing", graph: NOTHING };
    return compare(before, saved, LATER);
  }, [compared, editor, revision, conflict, own.data, own.error, previous.data, previous.error, version, older]);
}
