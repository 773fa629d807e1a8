"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useApi, useTRPC } from "#components/trpc.tsx";

const LATEST = 20;
/** How often they are read again while a page is looked at, in milliseconds. */
const LIVE_MS = 15_000;

/** The latest that the signed-in person is told of, read again and again while the page is looked at; asked once for all who show it. */
export function useNotifications() {
  const trpc = useTRPC();
  return useQuery(
    trpc.notifications.list.queryOptions({ per_page: LATEST }, { refetchInterval: LIVE_MS, placeholderData: keepPreviousData }),
  );
}

/**
 * Once a page is shown, the failures that it shows are seen: their count in the navigation goes. When it cannot be told now, it stays.
 * @param link where the notification leads, of a page that shows one failure; left out, the page shows all of them
 */
export function useSeenFailures(isShown: boolean, link?: string): void {
  const { trpc, client, cache } = useApi();
  const { data } = useNotifications();
  const unread = data?.items.filter((item) => item.kind === "run_failed" && item.read_at === null) ?? [];
  const ids = unread.flatMap((item) => (item.link === link ? [item.id] : [])).join();
  const isUnseen = isShown && (link === undefined ? (data?.failures ?? 0) > 0 : ids !== "");
  useEffect(() => {
    if (!isUnseen) return;
    const told = client.notifications.markRead.mutate(link === undefined ? { kind: "run_failed" } : { ids: ids.split(",") });
    void told.then(() => cache.invalidateQueries(trpc.notifications.pathFilter())).catch(() => {});
  }, [isUnseen, link, ids, client, cache, trpc]);
}
