"use client";

import { useRunShallow } from "#components/runs/store/run-context.tsx";
import { useEditor } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/**
 * The node whose values are shown: the one selected on the canvas when it was part of the run; else the one at whose review
 * the reader types, the first that failed, the one that waits for somebody, the one that is running, or the last that started.
 */
export function useSelectedNode(): string | null {
  const selected = useEditor((state) => {
    const ids = state.nodes.filter((node) => node.selected).map((node) => node.id);
    return ids.length === 1 ? (ids[0] ?? null) : null;
  });
  return useRunShallow(({ snapshot, typedAt }) => {
    if (!snapshot) return null;
    if (selected && snapshot.nodes[selected]) return selected;
    const held = [...typedAt.values()].at(-1);
    if (held && snapshot.nodes[held]) return held;
    const failed = snapshot.order.findLast((id) => snapshot.nodes[id]?.status === "failed");
    if (failed && snapshot.status === "failed") return failed;
    const waiting = Object.keys(snapshot.waiting).at(-1);
    if (waiting) return waiting;
    return snapshot.order.findLast((id) => snapshot.nodes[id]?.status === "running") ?? snapshot.order.at(-1) ?? null;
  });
}
