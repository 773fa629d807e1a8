"use client";

import { createContext, type ReactNode, useContext, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { useVersionComparison, type VersionComparison } from "#components/workflow-editor/history/version-comparison.ts";

/** What stands against what: a saved version, or what somebody else wrote while one edited. */
export type Compared = { kind: "version"; version: number; against: "draft" | "previous" } | { kind: "conflict"; over: "draft" | "save" };

export interface HistoryState {
  isOpen: boolean;
  /** Counts what asked for the history to be seen, whichever view is shown. */
  asked: number;
  /** Null while the draft itself is on the canvas. */
  compared: Compared | null;
  /** The dialog that asks for a version's name. */
  isNaming: boolean;
  open(): void;
  close(): void;
  compare(compared: Compared | null): void;
}

const createHistoryStore = () =>
  createStore<HistoryState>()((set, get) => ({
    isOpen: false,
    asked: 0,
    compared: null,
    isNaming: false,
    open: () => set({ isOpen: true, asked: get().asked + 1 }),
    close: () => set({ isOpen: false, compared: null }),
    // A conflict's comparison brings the panel with it, and takes it away again.
    compare(compared) {
      const { isOpen, asked, compared: before } = get();
      if (compared) set({ compared, isOpen: true, asked: asked + 1 });
      else set({ compared, isOpen: isOpen && before?.kind !== "conflict" });
    },
  }));

type HistoryStore = ReturnType<typeof createHistoryStore>;

const HistoryContext = createContext<HistoryStore | null>(null);
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

/** The store itself, for handlers. */
export function useHistoryStore(): HistoryStore {
  const store = useContext(HistoryContext);
  if (!store) throw new Error("This part of the editor needs a HistoryProvider around it.");
  return store;
}

export const useHistory = <Part,>(select: (state: HistoryState) => Part): Part => useStore(useHistoryStore(), select);

/** The comparison that is open; null while the draft itself is on the canvas. */
export const useComparison = (): VersionComparison | null => useContext(ComparisonContext);
