"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";

const MOST = 100;
const none: readonly ReviewSummary[] = [];

/** The reviews of the run on the screen, newest first: those that wait, and the latest hundred that were decided. */
export function useRunReviews(): { waiting: readonly ReviewSummary[]; decided: readonly ReviewSummary[]; decidedCount: number } {
  const trpc = useTRPC();
  const executionId = useRun((state) => state.executionId) ?? "";
  const hasReviews = useRun((state) => state.view?.graph.nodes.some((node) => node.type === "humanLoopNode") ?? false);
  const places = useRun((state) => state.picture?.waiting);
  // Who waits is told by the stream; it says when to read again.
  const stage = useRun(({ picture }) => (picture ? `${picture.status} ${JSON.stringify(picture.waiting)}` : ""));
  const isWaiting = places !== undefined && Object.keys(places).length > 0;
  const common = { execution_id: executionId, per_page: MOST };
  const waiting = useQuery(trpc.reviews.list.queryOptions({ ...common, status: "waiting" }, { enabled: hasReviews && isWaiting }));
  const decided = useQuery(trpc.reviews.list.queryOptions({ ...common, status: "decided" }, { enabled: hasReviews }));
  const seen = useRef(stage);
  const { refetch: readWaiting } = waiting;
  const { refetch: readDecided } = decided;
  useEffect(() => {
    if (!hasReviews || seen.current === stage) return;
    seen.current = stage;
    if (isWaiting) void readWaiting();
    void readDecided();
  }, [stage, hasReviews, isWaiting, readWaiting, readDecided]);
  const open = waiting.data?.items.filter(({ node_id, iteration }) => places?.[node_id]?.includes(iteration));
  return { waiting: open ?? none, decided: decided.data?.items ?? none, decidedCount: decided.data?.total ?? 0 };
}
