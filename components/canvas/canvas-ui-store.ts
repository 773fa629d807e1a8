import { createStore } from "zustand/vanilla";
import type { Placement } from "#components/canvas/editor-store.ts";
import type { Problem } from "#server/schemas/graph.ts";

/** What is open on the canvas beside the workflow itself. */
export interface CanvasUiState {
  /** Where the palette would put a node; null while it is closed. `at` is its corner on the canvas, in pixels. */
  palette: { placement: Placement; at: { x: number; y: number } | null } | null;
  /** The node whose targets are listed for connecting by keyboard, and the handle that it leaves from. */
  connectFrom: { nodeId: string; handle: string | null } | null;
  /** While a connection is drawn: why each other node refuses it, by node id. */
  refusals: Record<string, string> | null;
  /** The reason under the pointer. */
  refusal: string | null;
  hoveredEdge: string | null;
  isMinimapShown: boolean;
  problems: readonly Problem[];
  problemCounts: Record<string, number>;
  /** Counts requests to open the selected node's panel, and the field to scroll to. */
  focusField: { nodeId: string; field: string | null; count: number } | null;

  setProblems(problems: readonly Problem[]): void;
  goTo(nodeId: string, field: string | null): void;
}

export type CanvasUiStore = ReturnType<typeof createCanvasUiStore>;

export const createCanvasUiStore = () =>
  createStore<CanvasUiState>()((set, get) => ({
    palette: null,
    connectFrom: null,
    refusals: null,
    refusal: null,
    hoveredEdge: null,
    isMinimapShown: true,
    problems: [],
    problemCounts: {},
    focusField: null,
    setProblems(problems) {
      if (JSON.stringify(problems) === JSON.stringify(get().problems)) return;
      const problemCounts: Record<string, number> = {};
      for (const { node_id } of problems) if (node_id) problemCounts[node_id] = (problemCounts[node_id] ?? 0) + 1;
      set({ problems, problemCounts });
    },
    goTo: (nodeId, field) => set((state) => ({ focusField: { nodeId, field, count: (state.focusField?.count ?? 0) + 1 } })),
  }));
