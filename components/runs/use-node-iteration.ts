"use client";

import { planOf } from "#components/runs/store/iterations.ts";
import { useRunShallow } from "#components/runs/store/run-context.tsx";

/** The loops around a node, and where in them the reader looks. */
export interface NodeIteration {
  /** Ids of the loops, the outermost first. */
  loops: readonly string[];
  /** The place that was picked; null while the latest is shown, and outside loops. */
  path: string | null;
}

const outside: readonly string[] = [];

/** Items picked of some loops only hold for the others' latest: a place is whole or it is the latest. */
export function useNodeIteration(nodeId: string): NodeIteration {
  const { loops, path } = useRunShallow(({ view, picked, picture }) => {
    const around = view ? planOf(view.graph).loopsAround(nodeId) : outside;
    const node = picture?.nodes[nodeId];
    if (around.length === 0 || around.every((id) => picked[id] === undefined))
      // While somebody is waited for there, the questions are what is to be seen.
      return { loops: around, path: node?.isPast && !picture?.waiting[nodeId] ? node.iteration : null };
    const latest = node?.iteration.split(".") ?? [];
    return { loops: around, path: around.map((id, depth) => picked[id] ?? latest[depth] ?? 0).join(".") };
  });
  return { loops, path };
}
