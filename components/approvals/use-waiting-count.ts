"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "#components/trpc.tsx";

/** How often what waits for people is read again while the page is looked at. */
export const REVIEWS_LIVE_MS = 15_000;

/** How many reviews of the project wait; 0 until it is known. */
export function useWaitingCount(): number {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.reviews.waiting.queryOptions({}, { refetchInterval: REVIEWS_LIVE_MS }));
  return data?.count ?? 0;
}
