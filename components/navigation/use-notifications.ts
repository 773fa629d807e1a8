"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { REVIEWS_LIVE_MS } from "#components/approvals/use-waiting-count.ts";
import { useTRPC } from "#components/trpc.tsx";

const LATEST = 20;

/** The latest that the signed-in person is told of, read again and again while the page is looked at; asked once for all who show it. */
export function useNotifications() {
  const trpc = useTRPC();
  return useQuery(
    trpc.notifications.list.queryOptions({ per_page: LATEST }, { refetchInterval: REVIEWS_LIVE_MS, placeholderData: keepPreviousData }),
  );
}
