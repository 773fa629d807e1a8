"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "#components/trpc.tsx";
import type { Review, ReviewSummary } from "#server/features/reviews/schema.ts";

/** What a list left out of a review, and how to get it. */
export interface MissingPart {
  isLoading: boolean;
  error: unknown;
  load(): void;
}

/** A review that was read by itself, as one of a list: nothing of it was left out. */
export const wholeSummary = (review: Review): ReviewSummary => ({ ...review, truncated: false });

/** A review of a list, with all that it asks once that was loaded; `missing` is null when nothing is left out. */
export function useWholeReview(review: ReviewSummary): { shown: ReviewSummary; missing: MissingPart | null } {
  const trpc = useTRPC();
  const [isAsked, setIsAsked] = useState(false);
  // Static: what is asked never changes, and it may be long.
  const options = { enabled: isAsked && review.truncated, staleTime: "static" } as const;
  const { data, isFetching, error, refetch } = useQuery(trpc.reviews.get.queryOptions({ review_id: review.id }, options));
  if (!review.truncated) return { shown: review, missing: null };
  if (data) {
    const { title, description, display_value } = data;
    return { shown: { ...review, title, description, display_value }, missing: null };
  }
  const load = () => (isAsked ? void refetch() : setIsAsked(true));
  return { shown: review, missing: { isLoading: isFetching, error, load } };
}
