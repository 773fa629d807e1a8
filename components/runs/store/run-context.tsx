"use client";

import { createContext, type ReactNode, useContext } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { RunState, RunStore } from "#components/runs/store/run-store.ts";

const RunContext = createContext<RunStore | null>(null);

export function RunProvider({ store, children }: { store: RunStore; children: ReactNode }) {
  return <RunContext value={store}>{children}</RunContext>;
}

/** The store itself, for handlers. */
export function useRunStore(): RunStore {
  const store = useContext(RunContext);
  if (!store) throw new Error("This part needs a RunProvider around it.");
  return store;
}

/** A part of the run on the screen; the component renders when that part changes. */
export const useRun = <Part,>(select: (state: RunState) => Part): Part => useStore(useRunStore(), select);

export const useRunShallow = <Part,>(select: (state: RunState) => Part): Part => useStore(useRunStore(), useShallow(select));
