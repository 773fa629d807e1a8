"use client";

import { createContext, useContext } from "react";

/** What the editor around a run can do with it. Elsewhere, on the page of a run, there is none. */
export interface EditorRun {
  isReadOnly: boolean;
  /** Runs this node and what depends on it on the canvas as it is now; what comes before is taken from the run named. */
  runFrom(nodeId: string, executionId: string): void;
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
