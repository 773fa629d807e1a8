"use client";

import { createContext, useContext } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { RunState, RunStore } from "#components/runs/store/run-store.ts";
import { createStrictContext } from "#components/ui/strict-context.ts";

/** The run on the screen, for everything below; the hook gives the store itself, for handlers. */
export const [RunProvider, useRunStore] = createStrictContext<RunStore>("RunProvider");

/** A part of the run on the screen; the component renders when that part changes. */
export const useRun = <Part,>(select: (state: RunState) => Part): Part => useStore(useRunStore(), select);

export const useRunShallow = <Part,>(select: (state: RunState) => Part): Part => useStore(useRunStore(), useShallow(select));

/** What the editor around a run can do with it. Elsewhere, on the page of a run, there is none. */
export interface EditorRun {
  isReadOnly: boolean;
  /** Runs this node and what depends on it on the canvas as it is now; what comes before is taken from the run named. */
  runFrom(nodeId: string, executionId: string): void;
  /** Runs this node alone: what it needs is taken from the run named as far as that holds, and only the rest is run. */
  tryNode(nodeId: string, executionId: string | null): void;
  /** A run is being started, or goes on: no other can be. */
  isBusy: boolean;
  /** Pins a text as a node's output; tells why when it cannot be. */
  pin(nodeId: string, output: string): void;
  unpin(nodeId: string): void;
  /** Pins what the run on the screen left behind. */
  pinAll(): void;
  /** Shows another run on the canvas. */
  open(executionId: string): void;
}

export const EditorRunContext = createContext<EditorRun | null>(null);

export const useEditorRun = (): EditorRun | null => useContext(EditorRunContext);
