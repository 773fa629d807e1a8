"use client";

import { cn } from "#components/ui/cn.ts";
import { useCanvasUi } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { CanvasUiState } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import type { EdgeDiffKind, NodeDiffKind } from "#server/workflow/diff.ts";

const RINGS: Record<NodeDiffKind, string> = {
  added: "border-thread shadow-[0_0_0_1.5px_var(--thread)]",
  changed: "border-waiting shadow-[0_0_0_1.5px_var(--waiting)]",
  removed: "border-dashed border-failed bg-failed-soft shadow-[0_0_0_1.5px_var(--failed)]",
  moved: "border-line-control border-dashed",
};

const TAGS: Record<NodeDiffKind, string> = {
  added: "bg-thread text-on-thread",
  changed: "bg-waiting text-paper",
  removed: "bg-failed text-paper",
  moved: "bg-sunken text-ink-soft",
};

const STROKES: Record<EdgeDiffKind, string> = {
  added: "stroke-thread",
  changed: "stroke-waiting",
  removed: "stroke-failed [stroke-dasharray:10_5]",
};

const wordOf = ({ diff }: CanvasUiState, id: string): string | null => {
  const kind = diff?.nodes[id];
  return kind && diff ? (diff.said?.[id] ?? diff.words[kind]) : null;
};

/** How a node differs on a canvas that compares two graphs: its ring, and the word that says it; null where nothing does. */
export function useNodeDiff(id: string): { ring: string; kind: NodeDiffKind; word: string } | null {
  const kind = useCanvasUi((state) => state.diff?.nodes[id]);
  const word = useCanvasUi((state) => wordOf(state, id));
  return kind && word !== null ? { ring: RINGS[kind], kind, word } : null;
}

/** The word on the upper edge of a card. */
export function NodeDiffTag({ kind, word }: { kind: NodeDiffKind; word: string }) {
  return (
    <span
      aria-hidden
      className={cn(
        "canvas-words -top-2.5 pointer-events-none absolute left-3 z-10 rounded-sm px-1.5 py-0.5 font-semibold text-14 leading-none",
        TAGS[kind],
      )}
    >
      {word}
    </span>
  );
}

/** The same for an edge: its stroke, null where nothing differs. */
export function useEdgeDiff(id: string): string | null {
  const kind = useCanvasUi((state) => state.diff?.edges[id]);
  return kind ? STROKES[kind] : null;
}
