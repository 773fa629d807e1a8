"use client";

import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { REVIEWS_LIVE_MS } from "#components/approvals/use-waiting-count.ts";
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
    return now ? toReviewSummary(now) : review;
  });
  const keep = (review: ReviewSummary, isTyping: boolean) =>
    setTypedAt((before) => [...before.filter(({ id }) => id !== review.id), ...(isTyping ? [review] : [])]);
  return { kept, keep };
}

/** What a list left out of a review, and how to get it. */
export interface MissingPart {
  isLoading: boolean;
  error: unknown;
  load(): void;
}

/** A review that was read by itself, as one of a list: nothing of it was left out. */
export const toReviewSummary = (review: Review): ReviewSummary => ({ ...review, truncated: false });

/**
 * A review of a list, with all that it asks once that was loaded; `missing` is null when nothing is left out.
 * @param isWanted loads it without being asked to
 */
export function useReviewContent(review: ReviewSummary, isWanted = false): { shown: ReviewSummary; missing: MissingPart | null } {
  const trpc = useTRPC();
  const [isAsked, setIsAsked] = useState(false);
  // Static: what is asked never changes, and it may be long.
  const options = { enabled: (isAsked || isWanted) && review.truncated, staleTime: "static" } as const;
  const { data, isFetching, error, refetch } = useQuery(trpc.reviews.get.queryOptions({ review_id: review.id }, options));
  if (!review.truncated) return { shown: review, missing: null };
  // The text may have been changed by somebody since it was loaded: then it is loaded anew.
  if (data && (data.text ?? "").startsWith(review.text ?? "")) {
    const { title, description, display_value, text } = data;
    return { shown: { ...review, title, description, display_value, text, truncated: false }, missing: null };
  }
  const load = () => (isAsked || isWanted ? void refetch() : setIsAsked(true));
  return { shown: review, missing: { isLoading: isFetching, error, load } };
}
