import type { ReactNode } from "react";
import { createStore } from "zustand/vanilla";
import type { CanvasDiff } from "#components/workflow-editor/canvas/document/comparison.ts";
import type { Placement } from "#components/workflow-editor/canvas/document/edits.ts";
import { dictionary } from "#server/shared/json-text.ts";
import type { Frame } from "#server/workflow/layout/loop-frames.ts";
import type { Problem } from "#server/workflow/schema.ts";

/** Something that can be done to one node, or to all that are selected. */
export interface NodeAction {
  id: string;
  label: string;
  icon: ReactNode;
  shortcut?: string[];
  tone?: "normal" | "danger";
  /** In the toolbar above a card too, not only in the menu. */
  isInToolbar?: boolean;
  /** Actions with the same number stand together in the menu; lower ones first. */
  group: number;
  /** Why it cannot be done now, as a sentence; the menu shows it dimmed. */
  refusal?: string;
  run(): void;
}

/** Makes the actions that fit these nodes (one, or everything selected) at this moment. */
export type NodeActionSource = (nodeIds: readonly string[]) => NodeAction[];

/** What is open on the canvas beside the workflow itself. */
export interface CanvasUiState {
  /** Where the palette would put a node; null while it is closed. `at` is its corner on the canvas, in pixels. */
  palette: { placement: Placement; at: { x: number; y: number } | null; onDone?: (nodeId: string | null) => void } | null;
  /** The node whose targets are listed for connecting by keyboard, and the handle that it leaves from. */
  connectFrom: { nodeId: string; handle: string | null; onDone?: () => void } | null;
  /** Nodes of which a workflow is to be made, or the node in whose place its workflow is to be put. */
  composing: { kind: "extract"; nodeIds: readonly string[] } | { kind: "inline"; nodeId: string } | null;
  /** The note whose text is being written on the canvas. */
  writing: string | null;
  /** The search bar, and how often it was asked for. */
  search: { count: number } | null;
  isHelpOpen: boolean;
  /** Somebody wants to go to the outline; whoever shows it takes this back. */
  isOutlineAsked: boolean;
  /** While a connection is drawn: why each other node refuses it, by node id. */
  refusals: Record<string, string> | null;
  /** The reason under the pointer. */
  refusal: string | null;
  hoveredEdge: string | null;
  /** The node under the pointer, or under its toolbar. */
  hoveredNode: string | null;
  /** The open context menu: on these nodes, or on the bare canvas with none; in pixels of the window. */
  menu: { nodeIds: readonly string[]; x: number; y: number } | null;
  /** Frames that do not follow their bodies while something is dragged out of them. */
  heldFrames: ReadonlyMap<string, Frame>;
  /** The loop into which what is dragged would be put. */
  dropLoop: string | null;
  /** The loop that it would be taken out of. */
  leftLoop: string | null;
  /** Further actions on nodes, e.g. those that have to do with runs. */
  moreActions: NodeActionSource | null;
  /** What dragging on the bare canvas does: move the view, or select. */
  tool: "hand" | "pointer";
  /** Whether nodes that are moved keep to a grid of 10. */
  isSnapping: boolean;
  isMinimapShown: boolean;
  /** While two graphs are compared: how what is shown differs. */
  diff: CanvasDiff | null;
  /** Errors: they prevent a run. Found a moment after the last change. */
  problems: readonly Problem[];
  /** Warnings: they prevent neither a run nor publishing. */
  warnings: readonly Problem[];
  /** Number of both, of which at most 50 are listed. */
  problemsTotal: number;
  /** Looks at once, for who is about to act on `problems`: what was mended just now must not stand in the way. */
  checkNow(): Promise<void>;
  /** Errors by node. */
  problemCounts: Record<string, number>;
  /** Warnings by node. */
  warningCounts: Record<string, number>;
  /** Counts requests to open the selected node's panel, and the field to scroll to. */
  focusField: { nodeId: string; field: string | null; count: number } | null;

  setProblems(all: readonly Problem[], total?: number): void;
  goTo(nodeId: string, field: string | null): void;
  /** The node that was last asked to be seen, without its panel, and whether large enough to be read; null for the whole workflow. */
  revealed: { nodeId: string | null; isToRead: boolean; count: number } | null;
  reveal(nodeId: string | null, isToRead?: boolean): void;
  openSearch(): void;
  /** The pointer came to a node, or left it: then its toolbar stays for a moment, so that one can get there. */
  hoverNode(nodeId: string | null): void;
}

export type CanvasUiStore = ReturnType<typeof createCanvasUiStore>;

/** How long a toolbar stays when the pointer has left its node, in milliseconds. */
const HOVER_GRACE_MS = 250;

function countByNode(problems: readonly Problem[]): Record<string, number> {
  const counts = dictionary<number>();
  for (const { node_id } of problems) if (node_id) counts[node_id] = (counts[node_id] ?? 0) + 1;
  return counts;
}

export const createCanvasUiStore = () => {
  let leaving: ReturnType<typeof setTimeout> | undefined;
  return createStore<CanvasUiState>()((set, get) => ({
    palette: null,
    connectFrom: null,
    composing: null,
    writing: null,
    search: null,
    isHelpOpen: false,
    isOutlineAsked: false,
    revealed: null,
    refusals: null,
    refusal: null,
    hoveredEdge: null,
    hoveredNode: null,
    menu: null,
    heldFrames: new Map(),
    dropLoop: null,
    leftLoop: null,
    moreActions: null,
    tool: "hand",
    isSnapping: true,
    isMinimapShown: true,
    diff: null,
    problems: [],
    checkNow: async () => {},
    warnings: [],
    problemsTotal: 0,
    problemCounts: dictionary(),
    warningCounts: dictionary(),
    focusField: null,
    setProblems(all, total = all.length) {
      const problems = all.filter(({ severity }) => severity === "error");
      const warnings = all.filter(({ severity }) => severity === "warning");
      const before = get();
      if (JSON.stringify([problems, warnings, total]) === JSON.stringify([before.problems, before.warnings, before.problemsTotal])) return;
      set({
        problems,
        warnings,
        problemsTotal: total,
        problemCounts: countByNode(problems),
        warningCounts: countByNode(warnings),
      });
    },
    goTo: (nodeId, field) => set((state) => ({ focusField: { nodeId, field, count: (state.focusField?.count ?? 0) + 1 } })),
    reveal: (nodeId, isToRead = false) => set((state) => ({ revealed: { nodeId, isToRead, count: (state.revealed?.count ?? 0) + 1 } })),
    openSearch: () => set((state) => ({ search: { count: (state.search?.count ?? 0) + 1 } })),
    hoverNode(nodeId) {
      clearTimeout(leaving);
      if (nodeId !== null) set({ hoveredNode: nodeId });
      else leaving = setTimeout(() => set({ hoveredNode: null }), HOVER_GRACE_MS);
    },
  }));
};
