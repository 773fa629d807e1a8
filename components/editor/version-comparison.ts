"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useEditor, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { type CanvasUiStore, createCanvasUiStore } from "#components/canvas/canvas-ui-store.ts";
import { createEditorStore, type EditorStore } from "#components/canvas/editor-store.ts";
import { canvasDiff, comparisonGraph, type DiffWords } from "#components/canvas/graph-diff-view.ts";
import type { Compared } from "#components/editor/history-context.tsx";
import { useSession, useSessionState } from "#components/editor/session-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { diffGraphs, type GraphDiff } from "#server/engine/graph-diff.ts";
import type { Graph } from "#server/schemas/graph.ts";

interface Side {
  /** What the reader calls it, e.g. "Version 3" or "Theirs". */
  title: string;
  graph: Graph;
}

/** Two graphs, how they differ, and a canvas of its own for them. */
export interface Comparison {
  /** Another one for each comparison, so that each has a canvas of its own. */
  id: number;
  before: Side;
  after: Side;
  diff: GraphDiff;
  words: DiffWords;
  editor: EditorStore;
  ui: CanvasUiStore;
}

export type VersionComparison =
  | { kind: "loading" }
  | { kind: "failed"; error: unknown; retry: () => void }
  | ({ kind: "shown" } & Comparison);

const LATER: DiffWords = { added: "New", changed: "Changed", removed: "Removed", moved: "Moved" };
const SIDES: DiffWords = { added: "Only in yours", changed: "Differs", removed: "Only in theirs", moved: "Moved" };

const NOTHING: Graph = { nodes: [], edges: [] };

let count = 0;

function compare(before: Side, after: Side, words: DiffWords): VersionComparison {
  const diff = diffGraphs(before.graph, after.graph);
  const editor = createEditorStore(comparisonGraph(after.graph, diff), { isReadOnly: true });
  const ui = createCanvasUiStore();
  const marks = canvasDiff(diff, words);
  ui.setState({ diff: marks });
  editor.setState(({ edges }) => ({
    edges: edges.map((edge) => {
      const kind = marks.edges[edge.id];
      return kind ? { ...edge, ariaLabel: `${edge.ariaLabel}, ${words[kind].toLowerCase()}` } : edge;
    }),
  }));
  count += 1;
  return { kind: "shown", id: count, before, after, diff, words, editor, ui };
}

/** What is compared, with the versions that it needs read from the server. The draft is the one on the canvas. */
export function useVersionComparison(compared: Compared | null): VersionComparison | null {
  const trpc = useTRPC();
  const { workflowId } = useSession();
  const editor = useEditorStore();
  const revision = useEditor((state) => (compared ? state.revision : -1));
  const theirs = useSessionState((state): Graph | null => {
    if (compared?.kind !== "conflict") return null;
    if (compared.over === "draft") return state.draftConflict?.draft ?? null;
    return state.save.kind === "conflict" ? state.save.theirs.workflow : null;
  });
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
    if (compared.kind === "conflict") return theirs && compare({ title: "Theirs", graph: theirs }, { title: "Yours", graph: draft }, SIDES);
    for (const { isError, error, refetch } of [own, ...(older > 0 ? [previous] : [])])
      if (isError) return { kind: "failed", error, retry: () => void refetch() };
    if (!own.data || (older > 0 && !previous.data)) return { kind: "loading" };
    const saved = { title: `Version ${version}`, graph: own.data };
    if (compared.against === "draft") return compare(saved, { title: "Draft", graph: draft }, LATER);
    const before = older > 0 && previous.data ? { title: `Version ${older}`, graph: previous.data } : { title: "Nothing", graph: NOTHING };
    return compare(before, saved, LATER);
  }, [compared, editor, revision, theirs, own.data, own.error, previous.data, previous.error, version, older]);
}
