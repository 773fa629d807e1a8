"use client";

import { type ReactNode, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { createStrictContext } from "#components/ui/strict-context.ts";
import type { CanvasDiff, DiffLabels } from "#components/workflow-editor/canvas/document/comparison.ts";
import type { CanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import type { EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import type { Conflict } from "#components/workflow-editor/session/conflict.tsx";
import type { Proposal } from "#server/features/assistant/schema.ts";
import type { GraphDiff } from "#server/workflow/diff.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** What stands against what: a saved version, what somebody else wrote while one edited, or what the assistant proposes. */
export type ComparisonTarget =
  | { kind: "version"; version: number; against: "draft" | "previous" }
  | { kind: "conflict"; over: "draft" | "publish" }
  | { kind: "proposal"; proposal: Proposal };

export interface Side {
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

export interface HistoryState {
  isOpen: boolean;
  /** Counts what asked for the history to be seen, whichever view is shown. */
  asked: number;
  /** Null while the draft itself is on the canvas. */
  compared: ComparisonTarget | null;
  /** What was made of it, or of what was compared before. */
  made: { of: ComparisonTarget; comparison: VersionComparison | null } | null;
  /** The panel beside Publish. */
  isPublishOpen: boolean;
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
    made: null,
    isPublishOpen: false,
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

/** What is open of a workflow's history, for the parts of the editor that show it. */
export function HistoryProvider({ children }: { children: ReactNode }) {
  const [store] = useState(createHistoryStore);
  return <HistoryContext value={store}>{children}</HistoryContext>;
}

export const useHistory = <Part,>(select: (state: HistoryState) => Part): Part => useStore(useHistoryStore(), select);

const LOADING: VersionComparison = { kind: "loading" };

/** The comparison that is open; null while the draft itself is on the canvas. */
export const useComparison = (): VersionComparison | null =>
  useHistory(({ compared, made }) => (compared === null ? null : made?.of === compared ? made.comparison : LOADING));
