"use client";

import { Check, Undo2 } from "lucide-react";
import { useEffect, useRef } from "react";
import { comparedId, comparisonId } from "#components/workflow-editor/canvas/document/comparison.ts";
import type { NodeActionSource } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import type { Comparison } from "#components/workflow-editor/history/history-context.tsx";
import { useProposal } from "#components/workflow-editor/proposals/proposal-context.tsx";
import type { Proposal } from "#server/features/assistant/schema.ts";
import { withoutNodes } from "#server/workflow/choose-changes.ts";
import { diffGraphs } from "#server/workflow/diff.ts";

export const LEFT_OUT = "Left out";

/** Nodes of a proposal are left out on their cards and in their menus, and show it. */
export function useLeavingOut({ ui, marks }: Comparison, { base, graph }: Proposal): void {
  const { leftOut, toggle } = useProposal();
  const latest = useRef(toggle);
  latest.current = toggle;
  useEffect(() => {
    const gone = [...leftOut].map(comparisonId).filter((id) => marks.nodes[id]);
    const taken = leftOut.size > 0 ? diffGraphs(base, withoutNodes(base, graph, leftOut)).edges : null;
    const edges = Object.entries(marks.edges).filter(([id]) => taken === null || taken.some((edge) => comparisonId(edge.id) === id));
    const as = <Value,>(value: Value) => Object.fromEntries(gone.map((id) => [id, value]));
    const moreActions: NodeActionSource = ([id, ...others]) => {
      const kind = id !== undefined && others.length === 0 ? marks.nodes[id] : undefined;
      if (id === undefined || !kind || kind === "moved") return [];
      const isOut = leftOut.has(comparedId(id));
      const look = isOut ? { label: "Take it after all", icon: <Check /> } : { label: "Leave this change out", icon: <Undo2 /> };
      return [{ id: "leave-out", ...look, group: 10, isInToolbar: true, run: () => latest.current(comparedId(id)) }];
    };
    ui.setState({
      diff: {
        ...marks,
        nodes: { ...marks.nodes, ...as("moved" as const) },
        edges: Object.fromEntries(edges),
        said: { ...marks.said, ...as(LEFT_OUT) },
      },
      moreActions,
      // Its corner is taken.
      isMinimapShown: false,
    });
  }, [ui, marks, base, graph, leftOut]);
}
