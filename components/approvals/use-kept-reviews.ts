"use client";

import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { REVIEWS_LIVE_MS } from "#components/approvals/use-waiting-count.ts";
import { wholeSummary } from "#components/approvals/use-whole-review.ts";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import type { Review, ReviewSummary } from "#server/features/reviews/schema.ts";

/** It was decided, or is gone with its run. */
const isSettled = ({ data, error }: { data: Review | undefined; error: unknown }) =>
  data ? data.status !== "waiting" : error !== null && errorBodyOf(error).error_code === "NOT_FOUND";

/**
 * Keeps the reviews at which somebody types, however the list changes when it is read again.
 * @param listed what is shown without that; undefined until it is known
 * @returns `kept`: those that are no longer listed, as they stand now; `keep`: to be called when a comment is begun or given up
 */
export function useKeptReviews(listed: readonly ReviewSummary[] | undefined): {
  kept: readonly ReviewSummary[];
  keep(review: ReviewSummary, isTyping: boolean): void;
} {
  const trpc = useTRPC();
  const [typedAt, setTypedAt] = useState<readonly ReviewSummary[]>([]);
  const gone = listed ? typedAt.filter(({ id }) => !listed.some((one) => one.id === id)) : [];
  // One that only moved to another page still waits, so it is looked at again.
  const found = useQueries({
    queries: gone.map(({ id }) =>
      trpc.reviews.get.queryOptions(
        { review_id: id },
        { staleTime: 0, refetchInterval: ({ state }) => (isSettled(state) ? false : REVIEWS_LIVE_MS) },
      ),
    ),
  });
  const kept = gone.map((review, index) => {
    const now = found[index]?.data;
    return now ? wholeSummary(now) : review;
  });
  const keep = (review: ReviewSummary, isTyping: boolean) =>
    setTypedAt((before) => [...before.filter(({ id }) => id !== review.id), ...(isTyping ? [review] : [])]);
  return { kept, keep };
}
