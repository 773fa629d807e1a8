"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ReviewCard } from "#components/approvals/review-card.tsx";
import { useKeptReviews } from "#components/approvals/use-reviews.ts";
import { REVIEWS_LIVE_MS, useWaitingCount } from "#components/approvals/use-waiting-count.ts";
import { Page } from "#components/shell/page.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useTRPC } from "#components/trpc.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager, TableSkeleton } from "#components/ui/table.tsx";
import { Tabs } from "#components/ui/tabs.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";

const PER_PAGE = 20;
type Tab = "waiting" | "decided";

/** What waits for somebody's decision in the project, and what was decided. Tab and page stand in the address. */
export function ApprovalsPage() {
  const { query, setQuery, page } = useUrlQuery();
  const count = useWaitingCount();
  const tab: Tab = query.get("tab") === "decided" ? "decided" : "waiting";
  const go = (next: Tab, page = 1) => setQuery({ tab: next === "decided" ? next : undefined, page: page > 1 ? String(page) : undefined });
  const panel = (status: Tab) => (
    <ReviewList
      key={`${status} ${page}`}
      status={status}
      page={status === tab ? page : 1}
      isShown={status === tab}
      onPageChange={(next) => go(status, next)}
    />
  );
  return (
    <Page width="narrow">
      <PageHeader title="Approvals" />
      <Tabs
        label="Approvals"
        value={tab}
        onValueChange={(next) => go(next)}
        className="-mt-3"
        panelClassName="pt-4"
        tabs={[
          {
            value: "waiting",
            label: (
              <>
                Waiting
                {count > 0 && <span className="ml-1.5 font-normal text-ink-faint tabular">{count}</span>}
              </>
            ),
            content: panel("waiting"),
          },
          { value: "decided", label: "Decided", content: panel("decided") },
        ]}
      />
    </Page>
  );
}

interface ReviewListProps {
  status: Tab;
  page: number;
  isShown: boolean;
  onPageChange(page: number): void;
}

function ReviewList({ status, page, isShown, onPageChange }: ReviewListProps) {
  const trpc = useTRPC();
  const reviews = useQuery(
    trpc.reviews.list.queryOptions(
      { status, page, per_page: PER_PAGE },
      { enabled: isShown, placeholderData: keepPreviousData, refetchInterval: REVIEWS_LIVE_MS },
    ),
  );
  // One that was decided here stays where it was, with its verdict, until the reader goes elsewhere.
  const [settled, setSettled] = useState<readonly ReviewSummary[]>([]);
  const { kept, keep } = useKeptReviews(reviews.data && [...reviews.data.items, ...settled]);
  const settle = (review: ReviewSummary, isShown: boolean) =>
    setSettled((before) => [...before.filter(({ id }) => id !== review.id), ...(isShown ? [review] : [])]);
  if (reviews.isError && !reviews.data) return <LoadFailure query={reviews} />;
  if (!reviews.data) return <TableSkeleton label="Loading reviews" rows={3} />;
  const fresh = reviews.data.items.filter(({ id }) => !settled.some((one) => one.id === id));
  // Ids grow with time.
  const shown = [...fresh, ...kept, ...settled].sort((a, b) => (a.id < b.id ? 1 : -1));
  if (shown.length === 0)
    return status === "waiting" ? <NothingWaits /> : <p className="py-6 text-13 text-ink-soft">No review has been decided yet.</p>;
  return (
    <div className="flex flex-col gap-4">
      <ul className="flex flex-col gap-4">
        {shown.map((review) => (
          <li key={review.id}>
            <ReviewCard
              review={review}
              onTyping={(isTyping) => keep(review, isTyping)}
              onDecided={(decided) => settle(decided, true)}
              onDismiss={() => settle(review, false)}
            />
          </li>
        ))}
      </ul>
      <Pager page={page} perPage={PER_PAGE} total={reviews.data.total} onPageChange={onPageChange} />
    </div>
  );
}

const NothingWaits = () => (
  <EmptyState
    title="Nothing waits for a decision"
    actions={
      <Link href="/docs/reviews" className="text-13 text-thread-text hover:underline">
        How reviews work
      </Link>
    }
  >
    A Review node stops its branch of a run until somebody approves or rejects. What it asks is listed here.
  </EmptyState>
);
