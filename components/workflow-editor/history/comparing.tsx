"use client";

import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect, useMemo } from "react";
import { useTRPC } from "#components/trpc.tsx";
import { canvasDiff, comparisonGraph, comparisonId, type DiffLabels } from "#components/workflow-editor/canvas/document/comparison.ts";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { createCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import {
  type ComparisonTarget,
  type Side,
  useHistoryStore,
  type VersionComparison,
} from "#components/workflow-editor/history/history-context.tsx";
import { formatDiffCounts, formatMerge } from "#components/workflow-editor/history/version-format.ts";
import { type Conflict, useConflict } from "#components/workflow-editor/session/conflict.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import type { Proposal } from "#server/features/assistant/schema.ts";
import { dictionary } from "#server/shared/json-text.ts";
import { countDiff, diffGraphs, type GraphDiff } from "#server/workflow/diff.ts";
import { mergeGraphs } from "#server/workflow/merge.ts";
import type { Graph } from "#server/workflow/schema.ts";

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
function useVersionComparison(compared: ComparisonTarget): VersionComparison | null {
  const trpc = useTRPC();
  const { workflowId } = useSession();
  const editor = useEditorStore();
  const revision = useEditor((state) => state.revision);
  const conflict = useConflict(compared.kind === "conflict" ? compared.over : null);
  const version = compared.kind === "version" ? compared.version : 0;
  const older = compared.kind === "version" && compared.against === "previous" ? version - 1 : 0;
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

/** Keeps up what the history shows of two graphs. Renders nothing. */
export function Comparing({ compared }: { compared: ComparisonTarget }): null {
  const history = useHistoryStore();
  const comparison = useVersionComparison(compared);
  useLayoutEffect(() => history.setState({ made: { of: compared, comparison } }), [history, compared, comparison]);
  return null;
}
