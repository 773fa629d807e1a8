"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ReviewCard } from "#components/approvals/review-card.tsx";
import { useKeptReviews } from "#components/approvals/use-reviews.ts";
import { Verdict } from "#components/approvals/verdict.tsx";
import { plural } from "#components/format.ts";
import { useRun } from "#components/runs/store/run-context.tsx";
import { isReview, mayAsk } from "#components/runs/store/run-snapshot.ts";
import { useSelectedNode } from "#components/runs/use-selected-node.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon } from "#components/ui/status.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";

/** Says that the run waits for somebody, and leads to the question. Nothing while it does not. */
export function WaitingBanner({ onShow, isPanel = false }: { onShow?: () => void; isPanel?: boolean }) {
  const editor = useEditorStore();
  const { waiting } = useRunReviews();
  const selected = useSelectedNode();
  const [review] = waiting;
  if (!review) return null;
  /** The question itself, right below, takes its place. */
  const isBelow = isPanel && selected === review.node_id && waiting.length === 1;
  const show = () => {
    editor.getState().selectOnly(review.node_id);
    onShow?.();
    // It may have to be drawn first.
    requestAnimationFrame(() => {
      const cards = document.querySelectorAll<HTMLElement>(`[data-review="${CSS.escape(review.id)}"]`);
      const card = [...cards].find((candidate) => candidate.offsetParent !== null);
      card?.focus({ preventScroll: true });
      card?.scrollIntoView({ block: "start" });
    });
  };
  return (
    <div
      role="status"
      className={cn(
        isBelow && "sr-only",
        "flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-waiting/40 border-b bg-waiting-soft px-3 py-1 text-14",
      )}
    >
      <StatusIcon status="waiting" isDecorative />
      <strong className="font-semibold text-waiting">Waiting for approval</strong>
      <span className="min-w-0 flex-1 truncate">
        {waiting.length === 1 ? review.title || review.label : plural(waiting.length, "review")}
      </span>
      {!isBelow && (
        <Button size="sm" variant="ghost" className="text-waiting hover:text-waiting" onClick={show}>
          Show
        </Button>
      )}
    </div>
  );
}

/** `useKeptReviews` for the run on the screen: what was typed at an earlier one is no longer of interest. */
function useKeptOfRun(waiting: readonly ReviewSummary[]): ReturnType<typeof useKeptReviews> {
  const executionId = useRun((state) => state.executionId);
  const { kept, keep } = useKeptReviews(waiting);
  return { kept: kept.filter(({ execution_id }) => execution_id === executionId), keep };
}

/** What a review node asks, for whoever may decide; once decided, by whom. */
export function NodeReviews({ nodeId, iteration }: { nodeId: string; iteration: string | null }) {
  const { waiting, decided } = useRunReviews();
  const isHere = (review: { node_id: string; iteration: string | null }) =>
    review.node_id === nodeId && (iteration === null || (review.iteration ?? "") === iteration);
  const { kept, keep } = useKeptOfRun(waiting);
  const hold = useRun((state) => state.hold);
  const onTyping = (review: ReviewSummary, isTyping: boolean) => {
    keep(review, isTyping);
    hold(review.id, isTyping ? nodeId : null);
  };
  const open = [...waiting, ...kept].filter(isHere);
  const latest = useRun((state) => state.snapshot?.nodes[nodeId]?.iteration ?? "");
  // While one waits, the verdict of another item beside it would mislead.
  const closed =
    open.length > 0 ? [] : decided.filter(({ node_id, iteration: place }) => node_id === nodeId && (place ?? "") === (iteration ?? latest));
  return (
    <>
      {open.map((review) => (
        <div key={review.id} className="mb-6 last:mb-0">
          <ReviewCard review={review} hasRun={false} isPlain={open.length === 1} onTyping={(isTyping) => onTyping(review, isTyping)} />
        </div>
      ))}
      {closed.map((review) => (
        <div key={review.id} className="mb-3">
          <Verdict review={review} />
        </div>
      ))}
    </>
  );
}

/** Every review of the run: what waits, and who decided what. */
export function RunReviewList() {
  const { waiting, decided, decidedCount } = useRunReviews();
  const { kept, keep } = useKeptOfRun(waiting);
  const reviews = [...waiting, ...kept, ...decided.filter(({ id }) => !kept.some((one) => one.id === id))];
  if (reviews.length === 0) return <p className="p-4 text-14 text-ink-soft">The run has not come to a review yet.</p>;
  return (
    <div className="flex flex-col gap-3 p-4">
      <ul className="flex flex-col gap-3">
        {reviews.map((review) => (
          <li key={review.id}>
            <ReviewCard review={review} hasRun={false} onTyping={(isTyping) => keep(review, isTyping)} />
          </li>
        ))}
      </ul>
      {decidedCount > decided.length && (
        <p className="text-12 text-ink-soft">
          The latest {decided.length} of {decidedCount} decisions are shown.
        </p>
      )}
    </div>
  );
}

const MAX_REVIEWS = 100;
const none: readonly ReviewSummary[] = [];

/** The reviews of the run on the screen, newest first: those that wait, and the latest hundred that were decided. */
export function useRunReviews(): { waiting: readonly ReviewSummary[]; decided: readonly ReviewSummary[]; decidedCount: number } {
  const trpc = useTRPC();
  const executionId = useRun((state) => state.executionId) ?? "";
  const places = useRun((state) => state.snapshot?.waiting);
  // Of a run without reviews nothing is asked before it waits for a budget.
  const hasReviews = useRun(
    (state) => state.view?.graph.nodes.some(({ id, type }) => isReview(type) || (mayAsk(type) && state.snapshot?.waiting[id])) ?? false,
  );
  // Who waits is told by the stream; it says when to read again.
  const stage = useRun(({ snapshot }) => (snapshot ? `${snapshot.status} ${JSON.stringify(snapshot.waiting)}` : ""));
  const isWaiting = places !== undefined && Object.keys(places).length > 0;
  const common = { execution_id: executionId, per_page: MAX_REVIEWS };
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
  const open = waiting.data?.items.filter(({ node_id, iteration }) => places?.[node_id]?.includes(iteration ?? ""));
  return { waiting: open ?? none, decided: decided.data?.items ?? none, decidedCount: decided.data?.total ?? 0 };
}
