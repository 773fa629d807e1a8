"use client";

import { useEffect, useRef, useState } from "react";
import { ReviewFilters, readFilters } from "#components/approvals/review-filters.tsx";
import { ReviewTriage, WIDE } from "#components/approvals/review-triage.tsx";
import { useWaitingCount } from "#components/approvals/use-waiting-count.ts";
import { Page } from "#components/shell/page.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Tabs } from "#components/ui/tabs.tsx";

type Tab = "waiting" | "decided";

/** What waits for somebody's decision in the project, and what was decided. Tab, filters, page and the review that is read stand in the address. */
export function ApprovalsPage() {
  const { query, setQuery, page } = useUrlQuery();
  const count = useWaitingCount();
  // Until when "within a day" is; not moved while one looks on, or the list would be read again and again.
  const [now] = useState(() => Date.now());
  const tab: Tab = query.get("tab") === "decided" ? "decided" : "waiting";
  const told = query.get("review");
  const [review, setReview] = useState(told);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `location` may be ahead of the rendered query
  useEffect(() => {
    const read = () => setReview(new URLSearchParams(location.search).get("review"));
    read();
    // Back may come before the pushed address is rendered: the rendered query then never changes.
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, [told]);
  const filters = readFilters(query);
  const isStep = useRef(false);
  /** In a narrow window the review takes the place of the list, so that Back leads to the list. */
  const show = (id: string | null) => {
    if (id === null && review !== null && isStep.current) {
      isStep.current = false;
      return window.history.back();
    }
    // At once: the address is told later, and the next key is for the review that was chosen by this one.
    setReview(id);
    isStep.current = id !== null && (review === null ? !matchMedia(WIDE).matches : isStep.current);
    setQuery({ review: id ?? undefined }, isStep.current && review === null);
  };
  const filterFields = (className: string) => (
    <ReviewFilters
      filters={filters}
      isDecided={tab === "decided"}
      onChange={(changes) => setQuery({ ...changes, page: undefined })}
      className={className}
    />
  );
  const panel = (status: Tab) => (
    <>
      {/* Beside the tabs there is no room for them on a phone. */}
      {status === tab && review === null && filterFields("pb-3 md:hidden")}
      <ReviewTriage
        key={status}
        status={status}
        page={status === tab ? page : 1}
        filters={filters}
        now={now}
        isShown={status === tab}
        reviewId={status === tab ? review : null}
        onShow={show}
        onPageChange={(next) => setQuery({ page: next > 1 ? String(next) : undefined, review: undefined })}
        onClearFilters={() => setQuery({ workflow: undefined, for: undefined, due: undefined, page: undefined })}
      />
    </>
  );
  return (
    <Page width="wide" className="gap-4">
      <PageHeader title="Approvals" className={review ? "max-[1100px]:hidden" : ""} />
      <Tabs
        label="Approvals"
        value={tab}
        onValueChange={(next) => setQuery({ tab: next === "decided" ? next : undefined, page: undefined, review: undefined })}
        className="-mt-2"
        panelClassName="pt-3 focus:outline-none"
        actions={filterFields("max-md:hidden")}
        tabs={[
          {
            value: "waiting",
            label: (
              <>
                Waiting{" "}
                {count > 0 && (
                  <span className="ml-1.5 font-normal text-ink-faint tabular">
                    {count}
                    <span className="sr-only"> for you</span>
                  </span>
                )}
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
